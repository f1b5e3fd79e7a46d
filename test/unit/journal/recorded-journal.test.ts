import { describe, expect, it } from "vitest";
import { type JournalRecord, recordedJournal } from "../../../src/doors.ts";
import { memoryJournal } from "../../../src/index.ts";

const answers = (value: string) => () => Promise.resolve(value);

describe("a journal over records", () => {
  it("tells of each record whether its step may happen twice", async () => {
    const kept: [string, boolean, boolean][] = [];
    const journal = recordedJournal([], ({ key, json }, mayNotRepeat) => {
      kept.push([key, json !== undefined, mayNotRepeat]);
    });
    await journal.step({ key: "look", run: answers("seen") });
    await journal.step({ key: "pay", run: answers("paid"), lost: answers("lost") });
    expect(kept).toEqual([
      ["look", true, false],
      ["pay", false, true],
      ["pay", true, true],
    ]);
  });

  it("runs a step again that had begun and may be repeated", async () => {
    const journal = recordedJournal([{ key: "look", fingerprint: "" }], () => undefined);
    expect(await journal.step({ key: "look", run: answers("seen") })).toBe("seen");
  });

  it("knows what it recorded itself", async () => {
    const journal = recordedJournal([], () => undefined);
    await journal.step({ key: "look", run: answers("first") });
    expect(await journal.step({ key: "look", run: answers("second") })).toBe("first");
  });

  it("gives what is recorded whether it was looked up before or not, and runs nothing for it", async () => {
    const json = JSON.stringify({ said: ["once"] });
    const journal = recordedJournal(
      [
        { key: "ask", fingerprint: "", json },
        { key: "none", fingerprint: "", json: "null" },
      ],
      () => undefined,
    );
    const fail = () => Promise.reject(new Error("it ran"));
    for (let round = 0; round < 2; round += 1) {
      expect(journal.find?.("ask")).toEqual({ said: ["once"] });
      expect(journal.find?.("ask")).toEqual({ said: ["once"] });
      expect(await journal.step({ key: "ask", run: fail })).toEqual({ said: ["once"] });
      expect(await journal.step({ key: "ask", run: fail })).toEqual({ said: ["once"] });
      expect(journal.find?.("none")).toBeNull();
      expect(await journal.step({ key: "none", run: fail })).toBeNull();
    }
    await expect(journal.step({ key: "ask", fingerprint: () => "other", run: fail })).rejects.toMatchObject({
      code: "journal-mismatch",
    });
  });

  it("gives the results of steps at once where each has one of its own request, and runs none", async () => {
    const records = ["a", "b"].map((key) => ({ key, fingerprint: `of ${key}`, json: `"${key}"` }));
    const journal = recordedJournal([...records, { key: "begun", fingerprint: "" }], () => undefined);
    const fail = () => Promise.reject(new Error("it ran"));
    const step = (key: string, asked = `of ${key}`) => ({ key, run: fail, fingerprint: () => asked });
    expect(journal.recorded?.([step("a"), step("b")])).toEqual(["a", "b"]);
    expect(journal.recorded?.([step("a"), step("c")])).toBeUndefined();
    expect(journal.recorded?.([step("begun", "")])).toBeUndefined();
    expect(() => journal.recorded?.([step("a"), step("b", "other")])).toThrow(
      expect.objectContaining({ code: "journal-mismatch" }),
    );
    expect(await journal.all([step("a"), step("b")])).toEqual(["a", "b"]);
  });

  it("gives no answer to another question", async () => {
    const answer: JournalRecord = { key: "ask", fingerprint: "pay kim", json: "true" };
    const kept: unknown[] = [];
    const journal = recordedJournal(
      [answer],
      () => undefined,
      (question) => void kept.push(question),
    );
    const ask = (fingerprint: string) =>
      journal.ask?.({ key: "ask", fingerprint: () => fingerprint, request: {} });
    expect(await ask("pay kim")).toEqual({ answer: true });
    await expect(ask("pay eve")).rejects.toMatchObject({ code: "journal-mismatch" });
    expect(kept).toEqual([]);
  });
});

describe("a journal in memory", () => {
  it("keeps a result without a walk through all that it keeps", async () => {
    let reads = 0;
    const before = Array.from({ length: 1000 }, (_, at): JournalRecord => ({
      get key() {
        reads += 1;
        return `before/${at}`;
      },
      fingerprint: "",
      json: "1",
    }));
    const journal = memoryJournal(before);
    for (let at = 0; at < 100; at += 1) await journal.step({ key: `now/${at}`, run: answers("seen") });
    expect(journal.records).toHaveLength(1100);
    expect(reads).toBeLessThan(5000);
  });

  it("has the result of a step in the place of its beginning", async () => {
    const journal = memoryJournal([{ key: "pay", fingerprint: "" }]);
    await journal.step({ key: "look", run: answers("seen") });
    await journal.step({ key: "pay", run: answers("paid"), lost: answers("found") });
    expect(journal.records.map(({ key, json }) => [key, json])).toEqual([
      ["pay", undefined],
      ["look", '"seen"'],
      ["pay", '"found"'],
    ]);
  });
});

it.each([
  [[{ key: 1, json: "1" }], {}, "`records[0].key` must be a string"],
  [[{ name: "start", value: "{}" }], {}, "`records[0].key` must be a string"],
  [[{ key: "start", json: "{}" }], {}, "`records[0].fingerprint` must be a string"],
  [[{ key: "start", fingerprint: "", json: {} }], {}, "`records[0].json` must be a string"],
  [[], { mode: "replays" }, '`options.mode` must be "replay"'],
  [[], { mod: "replay" }, "unknown field"],
])("records and options that nobody would find are refused: %j %j", (records, options, fault) => {
  expect(() => memoryJournal(records as never, options as never)).toThrow(fault);
});

import { describe, expect, it } from "vitest";
import { type JournalRecord, recordedJournal } from "../../../src/doors.ts";

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

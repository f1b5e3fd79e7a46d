import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { untrustedFrom } from "../../src/message/label.ts";
import type { Message } from "../../src/message/message.ts";
import { userMessage } from "../../src/message/message.ts";
import type { SessionContents, SessionRun, SessionStore } from "../../src/session/session-store.ts";
import { hostileNames } from "./memory-store.ts";

/** A run that called a tool and answered. */
export function storedRun(runId: string, text = runId): SessionRun {
  const messages: readonly Message[] = [
    userMessage(`ask ${text}`),
    { role: "assistant", parts: [{ type: "tool-call", id: "call_1", name: "look", arguments: { text } }] },
    { role: "tool", callId: "call_1", name: "look", status: "ok", text: "seen", value: { n: 1 } },
    { role: "assistant", parts: [{ type: "text", text: `answer ${text}` }] },
  ];
  const outcome = { type: "answered", content: `answer ${text}`, finishReason: "stop" } as const;
  return { runId, agent: "a", skill: "s", outcome, usage: { inputTokens: 1, outputTokens: 2 }, messages };
}

const unsettled: readonly Message[] = [
  userMessage("ask"),
  { role: "assistant", parts: [{ type: "tool-call", id: "call_1", name: "look", arguments: {} }] },
];

/** Registers the tests of the port in src/session/session-store.ts. `open` gives a store that is empty. */
export function sessionStoreContract(name: string, open: () => SessionStore): void {
  describe(`session store contract: ${name}`, () => {
    it("case 51: creates, reads, updates, adds and deletes, and says when there is no such session [H15, C42]", async () => {
      const store = open();
      const said = [userMessage("before")];
      const created = await store.create("s", { messages: said });
      expect(created).toEqual({ id: "s", version: 0, messages: said, runs: [] });
      expect(await store.read("s")).toEqual(created);

      expect(await store.append("s", storedRun("r1"), 0)).toBe(1);
      expect(await store.read("s")).toEqual({ ...created, version: 1, runs: [storedRun("r1")] });

      const contents = {
        messages: [],
        runs: [storedRun("r2")],
        summary: "r1 was asked",
        summaryLabel: untrustedFrom("tool/look"),
      };
      expect(await store.update("s", contents, 1)).toBe(2);
      expect(await store.read("s")).toEqual({ id: "s", version: 2, ...contents });

      expect(await store.list()).toEqual(["s"]);
      await store.delete("s");
      expect(await store.list()).toEqual([]);

      const notFound = expect.objectContaining({ code: "session-missing", data: { id: "s" } });
      await expect(store.read("s")).rejects.toEqual(notFound);
      await expect(store.append("s", storedRun("r"), 0)).rejects.toEqual(notFound);
      await expect(store.update("s", contents, 0)).rejects.toEqual(notFound);
      await expect(store.delete("s")).rejects.toEqual(notFound);
      expect(await store.create("s")).toEqual({ id: "s", version: 0, messages: [], runs: [] });
    });

    it("refuses to create a session twice, and leaves the first one alone", async () => {
      const store = open();
      await store.create("s", { runs: [storedRun("r")] });
      await expect(store.create("s")).rejects.toThrow('There is a session "s" already.');
      expect((await store.read("s")).runs).toEqual([storedRun("r")]);
    });

    it("copies a session with its version, so that changes made from that still fit", async () => {
      const store = open();
      await store.create("s", { runs: [storedRun("r")], summary: "before" });
      await store.append("s", storedRun("r2"), 0);
      const copied = { ...(await store.read("s")), id: "t" };
      expect(await store.create("t", copied)).toEqual(copied);
      expect(await store.read("t")).toEqual(copied);
      expect(await store.append("t", storedRun("r3"), 1)).toBe(2);
    });

    it("refuses a change that was made from another version, and leaves everything as it was [C42]", async () => {
      const store = open();
      await store.create("s");
      await store.append("s", storedRun("r1"), 0);
      const before = await store.read("s");
      for (const expected of [0, 2, -1, 0.5]) {
        const conflict = expect.objectContaining({
          code: "session-conflict",
          data: { id: "s", expected, found: 1 },
        });
        await expect(store.append("s", storedRun("r2"), expected)).rejects.toEqual(conflict);
        await expect(store.update("s", { messages: [], runs: [] }, expected)).rejects.toEqual(conflict);
      }
      expect(await store.read("s")).toEqual(before);
    });

    it("lets one of two changes from the same version win", async () => {
      const store = open();
      await store.create("s");
      const ends = await Promise.allSettled([
        store.append("s", storedRun("r1"), 0),
        store.append("s", storedRun("r2"), 0),
      ]);
      expect(ends.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      const { version, runs } = await store.read("s");
      expect([version, runs.length]).toEqual([1, 1]);
    });

    it("keeps a run once, behind all that are there, however often it comes", async () => {
      const store = open();
      await store.create("s");
      await store.append("s", storedRun("r1"), 0);
      await store.append("s", storedRun("r2", "suspended"), 1);
      expect(await store.append("s", storedRun("r2", "went on"), 2)).toBe(3);
      await store.append("s", storedRun("r1", "another time"), 3);
      const last = [storedRun("r2", "went on"), storedRun("r1", "another time")];
      expect((await store.read("s")).runs).toEqual(last);
      await store.append("s", storedRun("r3"), 4);
      expect((await store.read("s")).runs).toEqual([...last, storedRun("r3")]);
    });

    it("reads the last runs alone, or one, with the version", async () => {
      const store = open();
      const runs = ["r1", "r2", "r3"].map((runId) => storedRun(runId));
      const head = { messages: [userMessage("before")], summary: "long ago" };
      await store.create("s", { ...head, runs });
      await store.create("other", { runs: [storedRun("r4")] });
      await store.append("s", storedRun("r1", "again"), 0);
      const rest = { id: "s", version: 1, ...head };
      const now = [storedRun("r2"), storedRun("r3"), storedRun("r1", "again")];
      for (const lastRuns of [0, 1, 2, 3, 4])
        expect(await store.read("s", { lastRuns })).toEqual({
          ...rest,
          runs: now.slice(Math.max(0, 3 - lastRuns)),
        });
      expect(await store.read("s", { runId: "r1" })).toEqual({ ...rest, runs: now.slice(2) });
      for (const runId of ["r4", "r", ""])
        expect(await store.read("s", { runId })).toEqual({ ...rest, runs: [] });
      for (const only of [{ lastRuns: 1 }, { runId: "r1" }])
        await expect(store.read("none", only)).rejects.toMatchObject({ code: "session-missing" });
    });

    it("tells runs apart whose ids are long, or hostile", async () => {
      const store = open();
      const ids = [...hostileNames, `${"x".repeat(5_000)}1`, `${"x".repeat(5_000)}2`];
      await store.create("s", { runs: ids.map((runId) => storedRun(runId, "t")) });
      for (const runId of ids)
        expect((await store.read("s", { runId })).runs).toEqual([storedRun(runId, "t")]);
      for (const [version, runId] of ids.entries()) await store.append("s", storedRun(runId, "u"), version);
      expect((await store.read("s")).runs).toEqual(ids.map((runId) => storedRun(runId, "u")));
    });

    it("stores no messages that a provider would refuse", async () => {
      const store = open();
      await store.create("s");
      const invalid = (index: number): unknown => {
        const reason = expect.stringContaining(index === 1 ? "without a result" : "is a system message");
        return expect.objectContaining({ code: "transcript-invalid", data: { index, reason } });
      };
      const system: Message = { role: "system", text: "be kind" };
      await expect(store.append("s", { ...storedRun("r"), messages: unsettled }, 0)).rejects.toEqual(
        invalid(1),
      );
      await expect(store.create("t", { messages: [system] })).rejects.toEqual(invalid(0));
      await expect(store.create("t", { runs: [{ ...storedRun("r"), messages: [system] }] })).rejects.toEqual(
        invalid(0),
      );
      await expect(store.update("s", { messages: unsettled, runs: [] }, 0)).rejects.toEqual(invalid(1));
      expect(await store.read("s")).toEqual({ id: "s", version: 0, messages: [], runs: [] });
      expect(await store.list()).toEqual(["s"]);
    });

    it("keeps sessions apart, whatever they are called, in the order in which they were created", async () => {
      const store = open();
      for (const id of hostileNames) await store.create(id, { summary: `of ${id}` });
      expect(await store.list()).toEqual(hostileNames);
      for (const id of hostileNames) expect(await store.read(id)).toMatchObject({ id, summary: `of ${id}` });
      await store.delete("__proto__");
      expect(await store.list()).toEqual(hostileNames.filter((id) => id !== "__proto__"));
    });

    it("takes and gives copies", async () => {
      const store = open();
      const messages = [userMessage("before")];
      await store.create("s", { messages });
      messages.push(userMessage("after"));
      const record = await store.read("s");
      (record.runs as SessionRun[]).push(storedRun("r"));
      expect(await store.read("s")).toEqual({
        id: "s",
        version: 0,
        messages: [userMessage("before")],
        runs: [],
      });
    });

    it("does what a list of records would, whatever is asked of it in whatever order [H15, C42]", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(command, { maxLength: 30 }), async (commands) => {
          const store = open();
          const model = new Map<string, { version: number; contents: SessionContents }>();
          for (const one of commands) {
            const expected = modelled(model, one);
            expect(await done(store, one)).toEqual(expected);
          }
          expect(await store.list()).toEqual([...model.keys()]);
          for (const [id, { version, contents }] of model)
            expect(await store.read(id)).toEqual({ id, version, ...contents });
        }),
        { numRuns: 60 },
      );
    });
  });
}

const id = fc.constantFrom("a", "b");
const version = fc.nat(4);
const run = fc
  .tuple(fc.constantFrom("r1", "r2", "r3"), fc.string({ unit: "binary" }))
  .map(([runId, text]) => storedRun(runId, text));
const contents = fc.record({
  messages: fc.constantFrom([], [userMessage("x")]),
  runs: fc.array(run, { maxLength: 3 }),
});
const command = fc.oneof(
  fc.record({ do: fc.constant("create" as const), id, contents }),
  fc.record({ do: fc.constant("append" as const), id, run, version }),
  fc.record({ do: fc.constant("append" as const), id, run, version: fc.constant("right" as const) }),
  fc.record({ do: fc.constant("update" as const), id, contents, version }),
  fc.record({ do: fc.constant("delete" as const), id }),
);
type Command = typeof command extends fc.Arbitrary<infer Value> ? Value : never;
type Model = Map<string, { version: number; contents: SessionContents }>;

/** The version that the store reads, where a command wants the right one: the model's own. */
async function done(store: SessionStore, one: Command): Promise<unknown> {
  try {
    if (one.do === "create") return (await store.create(one.id, one.contents)).version;
    if (one.do === "delete") return await store.delete(one.id);
    if (one.do === "update") return await store.update(one.id, one.contents, one.version);
    const expected = one.version === "right" ? (await store.read(one.id)).version : one.version;
    return await store.append(one.id, one.run, expected);
  } catch (error) {
    return (error as { readonly code: string }).code;
  }
}

function modelled(model: Model, one: Command): unknown {
  const kept = model.get(one.id);
  if (one.do === "create") {
    if (kept !== undefined) return "session-exists";
    model.set(one.id, { version: 0, contents: one.contents });
    return 0;
  }
  if (kept === undefined) return "session-missing";
  if (one.do === "delete") return void model.delete(one.id);
  if (one.version !== "right" && one.version !== kept.version) return "session-conflict";
  kept.version += 1;
  kept.contents =
    one.do === "update" ? one.contents : { ...kept.contents, runs: withRun(kept.contents.runs, one.run) };
  return kept.version;
}

function withRun(runs: readonly SessionRun[], run: SessionRun): readonly SessionRun[] {
  return [...runs.filter(({ runId }) => runId !== run.runId), run];
}

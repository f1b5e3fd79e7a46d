import { describe, expect, it } from "vitest";
import { WritError } from "../../../src/error/writ-error.ts";
import type { Outcome } from "../../../src/event/outcome.ts";
import { untrustedFrom } from "../../../src/message/label.ts";
import {
  type Message,
  type ReplyMessage,
  runtimeMessage,
  userMessage,
} from "../../../src/message/message.ts";
import {
  addReply,
  addUser,
  dropTurns,
  type OpenTranscript,
  type ReadyTranscript,
  settleAll,
} from "../../../src/message/transcript.ts";
import { transcriptAfter } from "../../../src/session/history.ts";
import { inMemorySessions } from "../../../src/session/in-memory-sessions.ts";
import {
  type FinishedRun,
  forkSession,
  type LoadedSession,
  session,
  summariseSession,
} from "../../../src/session/session.ts";
import type { SessionRun, SessionStore } from "../../../src/session/session-store.ts";
import { storedRun } from "../../contract/session-store.ts";

const said = (text: string): ReplyMessage => ({ role: "assistant", parts: [{ type: "text", text }] });
/** The answer of a run that read what a stranger said. */
const saidAfterLook = (text: string): ReplyMessage => ({ ...said(text), label: untrustedFrom("tool/look") });
const answered = (content: string): Outcome => ({ type: "answered", content, finishReason: "stop" });
const system = { role: "system", text: "You talk." } as const;

function withCall(transcript: ReadyTranscript, id: string): ReadyTranscript {
  const call = { type: "tool-call", id, name: "look", arguments: {} } as const;
  const open = addReply(transcript, { role: "assistant", parts: [call] }) as OpenTranscript;
  return settleAll(open, () => ({ status: "ok", text: "seen" }));
}

/** What a run makes of what it loaded: it asks, calls once and answers. */
function runAfter({ messages }: LoadedSession, runId: string): FinishedRun {
  const asked = addUser(transcriptAfter(messages, system), userMessage(`ask ${runId}`));
  const transcript = addReply(withCall(asked, `call_${runId}`), said(`answer ${runId}`)) as ReadyTranscript;
  const usage = { inputTokens: 1, outputTokens: 1 };
  return { runId, agent: "a", skill: "s", outcome: answered(`answer ${runId}`), usage, transcript };
}

/** Three runs in a session. */
async function threeRuns(): Promise<SessionStore> {
  const store = inMemorySessions();
  const handle = session(store, "s");
  for (const runId of ["r0", "r1", "r2"]) {
    const loaded = await handle.load();
    await handle.save(runAfter(loaded, runId), loaded);
  }
  return store;
}

describe("a session that runs are given", () => {
  it("is created when there is none, also when another process is faster [C42]", async () => {
    const store = inMemorySessions();
    expect(await session(store, "s").load()).toEqual({ version: 0, messages: [] });
    expect(await store.list()).toEqual(["s"]);
    const slower: SessionStore = {
      ...store,
      read: (id) => (reads++ === 0 ? store.read("no such") : store.read(id)),
    };
    let reads = 0;
    expect(await session(slower, "s").load()).toEqual({ version: 0, messages: [] });
    expect(reads).toBe(2);
    const broken: SessionStore = { ...store, read: () => Promise.reject(new Error("disk on fire")) };
    await expect(session(broken, "s").load()).rejects.toThrow("disk on fire");
  });

  it("case 39: sends the answers of earlier runs without their traces, and keeps each run whole [H15, C34, C42]", async () => {
    const store = await threeRuns();
    const { version, runs } = await store.read("s");
    expect(version).toBe(3);
    expect(runs.map(({ messages }) => messages.map(({ role }) => role))).toEqual(
      Array.from({ length: 3 }, () => ["user", "assistant", "tool", "assistant"]),
    );
    const loaded = await session(store, "s").load();
    expect(loaded).toEqual({
      version: 3,
      messages: ["r0", "r1", "r2"].flatMap((id): Message[] => [
        userMessage(`ask ${id}`),
        saidAfterLook(`answer ${id}`),
      ]),
    });
    expect(JSON.parse(JSON.stringify(loaded))).toEqual(loaded);
    const all = await session(store, "s", { history: "all" }).load();
    expect(all.messages.filter(({ role }) => role === "tool")).toHaveLength(3);
  });

  it("keeps of a run what it added, though its transcript was compacted and the runtime spoke in it", async () => {
    const store = await threeRuns();
    const loaded = await session(store, "s").load();
    const asked = addUser(transcriptAfter(loaded.messages, system), userMessage("ask r3"));
    const compacted = dropTurns(asked, 2, runtimeMessage("Summary"));
    const corrected = addUser(
      addReply(compacted, said("no JSON")) as ReadyTranscript,
      runtimeMessage("Again"),
    );
    const transcript = addReply(corrected, said("answer r3")) as ReadyTranscript;
    expect(transcript.messages[1]).toEqual(runtimeMessage("Summary"));
    await session(store, "s").save({ ...runAfter(loaded, "r3"), transcript }, loaded);
    expect((await store.read("s")).runs[3]?.messages).toEqual([
      userMessage("ask r3"),
      said("no JSON"),
      runtimeMessage("Again"),
      said("answer r3"),
    ]);
  });

  it("keeps the later of two runs that were loaded at once behind the other [C42]", async () => {
    const store = inMemorySessions();
    const handle = session(store, "s");
    const [one, two] = [await handle.load(), await handle.load()];
    await handle.save(runAfter(one, "r1"), one);
    await handle.check("r1", two);
    await expect(handle.check("r2", two)).rejects.toMatchObject({
      code: "session-conflict",
      data: { id: "s", expected: 0, found: 1 },
    });
    await handle.save(runAfter(two, "r2"), two);
    expect((await store.read("s")).runs.map(({ runId }) => runId)).toEqual(["r1", "r2"]);
  });

  it("lets a run that is replayed save itself again, once and no other", async () => {
    const store = inMemorySessions();
    const handle = session(store, "s");
    const loaded = await handle.load();
    await handle.save(runAfter(loaded, "r1"), loaded);
    await handle.save(runAfter(loaded, "r1"), loaded);
    expect((await store.read("s")).version).toBe(1);
    const other = { ...runAfter(loaded, "r1"), outcome: answered("something else") };
    await expect(handle.save(other, loaded)).rejects.toMatchObject({ code: "session-conflict" });
    const next = await handle.load();
    await handle.save(runAfter(next, "r2"), next);
    await handle.save(runAfter(loaded, "r1"), loaded);
    expect((await store.read("s")).runs.map(({ runId }) => runId)).toEqual(["r1", "r2"]);
  });

  it("keeps a suspended run that went on in its place, though the session was changed meanwhile", async () => {
    const store = inMemorySessions();
    const handle = session(store, "s");
    const loaded = await handle.load();
    const excess = { field: "turns", limit: 1, used: 1, message: "exceeded" } as const;
    await handle.save({ ...runAfter(loaded, "r1"), outcome: { type: "suspended", ...excess } }, loaded);
    const resumed = await handle.load();
    const { version, runs } = await store.read("s");
    await store.update("s", { messages: [], summary: "before", runs }, version);
    await handle.save(runAfter(loaded, "r1"), resumed);
    expect((await store.read("s")).runs.map(({ outcome }) => outcome.type)).toEqual(["answered"]);
  });

  it("keeps a suspended run once that went on after others, and again from the same checkpoint", async () => {
    const store = inMemorySessions();
    const handle = session(store, "s");
    const excess = { field: "turns", limit: 1, used: 1, message: "exceeded" } as const;
    const kept = async (runId: string, outcome?: SessionRun["outcome"]): Promise<void> => {
      const loaded = await handle.load();
      const run = runAfter(loaded, runId);
      await handle.save(outcome === undefined ? run : { ...run, outcome }, loaded);
    };
    await kept("r1", { type: "suspended", ...excess });
    await kept("r2");
    await kept("r1");
    await kept("r3");
    await kept("r1");
    const { runs } = await store.read("s");
    expect(runs.map(({ runId, outcome }) => `${runId} ${outcome.type}`)).toEqual([
      "r2 answered",
      "r3 answered",
      "r1 answered",
    ]);
  });

  it("does not ask a store for ever that calls every version a conflict", async () => {
    const store = inMemorySessions();
    const { version } = await store.create("s");
    const refusing: SessionStore = {
      ...store,
      append: (id) => Promise.reject(new WritError("session-conflict", { id, expected: 0, found: 0 })),
    };
    await expect(
      session(refusing, "s").save(runAfter({ version, messages: [] }, "r"), { version }),
    ).rejects.toMatchObject({ code: "session-conflict" });
  });

  it("names a `whenBusy` that there is not", () => {
    expect(() => session(inMemorySessions(), "s", { whenBusy: "queue" as "wait" })).toThrow(
      'Session "s": `whenBusy` must be "wait" or "refuse", got "queue".',
    );
  });

  it("fails when it was deleted meanwhile", async () => {
    const store = inMemorySessions();
    const handle = session(store, "s");
    const loaded = await handle.load();
    await store.delete("s");
    await expect(handle.save(runAfter(loaded, "r"), loaded)).rejects.toMatchObject({
      code: "session-missing",
    });
  });
});

describe("forkSession", () => {
  it("is held to its options: a misspelt one would keep all runs", async () => {
    const store = inMemorySessions();
    await store.create("s");
    for (const options of [{}, { newId: "" }, { newId: "n", atrun: 1 }])
      // oxlint-disable-next-line no-await-in-loop -- one after another
      await expect(forkSession(store, "s", options as never)).rejects.toThrow(/`options(\.newId)?` /);
    expect(await store.list()).toEqual(["s"]);
  });

  it("begins another session with all runs or the first ones, and each goes its own way [C42]", async () => {
    const store = await threeRuns();
    const before = await store.read("s");
    const whole = await forkSession(store, "s", { newId: "whole" });
    expect(whole).toEqual({ ...before, id: "whole", version: 0, forkedFrom: { id: "s", version: 3 } });
    const early = await forkSession(store, "s", { newId: "early", atRun: 1 });
    expect(early.runs).toEqual(before.runs.slice(0, 1));
    await store.append("early", storedRun("r"), 0);
    expect((await store.read("early")).runs.map(({ runId }) => runId)).toEqual(["r0", "r"]);
    expect(await store.read("s")).toEqual(before);
    expect((await forkSession(store, "s", { newId: "none", atRun: 0 })).runs).toEqual([]);
  });

  it("says what is wrong with a fork", async () => {
    const store = await threeRuns();
    const fork = (id: string, newId: string, atRun?: number): Promise<unknown> =>
      forkSession(store, id, { newId, atRun });
    await expect(fork("no", "x")).rejects.toMatchObject({ code: "session-missing" });
    await expect(fork("s", "s")).rejects.toMatchObject({ code: "session-exists" });
    for (const wrong of [4, -1, 0.5])
      await expect(fork("s", "x", wrong)).rejects.toMatchObject({
        code: "session-run-missing",
        data: { id: "s", count: 3, wanted: wrong },
      });
    expect(await store.list()).toEqual(["s"]);
  });
});

describe("summariseSession", () => {
  it("puts a summary in the place of old runs; the next one covers it too [C34]", async () => {
    const store = await threeRuns();
    const given: string[][] = [];
    const summarise = (messages: readonly Message[]): string => {
      given.push(messages.map((message) => JSON.stringify(message)));
      return `summary ${given.length}`;
    };
    await summariseSession(store, "s", { keepRuns: 2, summarise });
    const shorter = await store.read("s");
    expect([shorter.version, shorter.summary]).toEqual([4, "summary 1"]);
    expect(shorter.runs.map(({ runId }) => runId)).toEqual(["r1", "r2"]);
    expect(given[0]).toEqual(
      [userMessage("ask r0"), saidAfterLook("answer r0")].map((message) => JSON.stringify(message)),
    );
    const { messages } = await session(store, "s").load();
    expect(messages[0]).toEqual({
      ...runtimeMessage("Summary of what was said before:\n\nsummary 1"),
      label: untrustedFrom("tool/look"),
    });
    const fork = await forkSession(store, "s", { newId: "fork", atRun: 0 });
    expect(fork.runs).toEqual([]);
    expect((await session(store, "fork").load()).messages[0]).toEqual(messages[0]);

    await summariseSession(store, "s", { keepRuns: 1, summarise });
    expect(given[1]?.[0]).toContain("summary 1");
    expect((await store.read("s")).summary).toBe("summary 2");
    await summariseSession(store, "s", { keepRuns: 1, summarise });
    expect(given).toHaveLength(2);
  });

  it("changes nothing when there is no summary, or a run was kept meanwhile", async () => {
    const store = await threeRuns();
    const before = await store.read("s");
    const wrong = [
      (): string => "",
      (): string => 7 as unknown as string,
      (): Promise<string> => Promise.reject(new Error("no model")),
    ];
    for (const summarise of wrong)
      await expect(summariseSession(store, "s", { keepRuns: 1, summarise })).rejects.toMatchObject({
        code: "summary-failed",
      });
    await expect(summariseSession(store, "s", { keepRuns: 0, summarise: () => "x" })).rejects.toMatchObject({
      code: "definition-invalid",
    });
    expect(await store.read("s")).toEqual(before);
    const slow = summariseSession(store, "s", {
      keepRuns: 1,
      summarise: async () => {
        await store.append("s", storedRun("r3"), 3);
        return "x";
      },
    });
    await expect(slow).rejects.toMatchObject({ code: "session-conflict" });
    expect((await store.read("s")).runs).toHaveLength(4);
  });
});

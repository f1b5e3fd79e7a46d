import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { nodeHost } from "../../src/adapters/clock.ts";
import { durableRuns } from "../../src/durable.ts";
import type { RunJournal, RunStore } from "../../src/durable.ts";
import { agent, inMemorySessions, session } from "../../src/index.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { LiveRuns, type Reading } from "../../src/server/live-runs.ts";
import { runEvents } from "../../src/server/run-events.ts";
import { ask, events, payer, runsFile, serving, talker } from "./scene.ts";

/** A store whose runs are ended late: all that they did is recorded, and their end is kept when `gate` opens. */
function endingLate(store: RunStore, gate: Promise<unknown>, onRecorded: () => void): RunStore {
  const late = (journal: RunJournal | undefined): RunJournal | undefined =>
    journal &&
    new Proxy(journal, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (name === "end" || name === "wait")
          return async (end: Parameters<RunJournal["end"]>[0]) => {
            onRecorded();
            await gate;
            return name === "wait" ? target.wait() : target.end(end);
          };
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name === "claim")
        return async (...args: Parameters<RunStore["claim"]>) => late(await target.claim(...args));
      if (name === "open") return async (id: string) => late(await target.open(id));
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** A run that a worker of another store carries out, as far as it is recorded; `close` lets its end be kept. */
async function recordedRun(name: "talker" | "payer") {
  const gate = Promise.withResolvers<void>();
  const recorded = Promise.withResolvers<void>();
  const store = sqliteRuns(runsFile());
  const asked = { talker: talker(), payer: payer() };
  const agents = Object.values(asked);
  const runs = durableRuns({ agents, store: endingLate(store, gate.promise, () => recorded.resolve()) });
  const worker = runs.work();
  onTestFinished(async () => {
    gate.resolve();
    await worker.drain();
    store.close();
  });
  await runs.start(asked[name], "Hi", { id: "late" });
  await recorded.promise;
  const served = { agents, shown: agents, store, host: nodeHost, live: new LiveRuns() };
  const read = (reading: Partial<Reading>) =>
    Array.fromAsync(runEvents("late", served, { after: 0, signal: AbortSignal.timeout(20_000), ...reading }));
  // A reader who keeps the process from its other work keeps it from this, too.
  return { read, endSoon: () => setTimeout(() => gate.resolve(), 300) };
}

it("tells a reader the end of a run whose steps are all recorded, each fact once", async () => {
  const { read, endSoon } = await recordedRun("talker");
  endSoon();
  const told = await read({});
  expect(told.at(-1)).toMatchObject({ type: "run-end", outcome: { type: "answered" } });
  expect(new Set(told.map(({ seq }) => seq)).size).toBe(told.length);
});

it("lets a reader who knows all facts wait for the end, and the process do its work meanwhile", async () => {
  const { read, endSoon } = await recordedRun("talker");
  endSoon();
  expect(await read({ after: 1000 })).toEqual([]);
});

it("ends the telling of a run that waits, wherever that is carried out", async () => {
  const { read, endSoon } = await recordedRun("payer");
  endSoon();
  const told = await read({ untilItWaits: true });
  expect(told.at(-1)).toMatchObject({ type: "approval-request" });
});

it("gives a page of AG-UI the output of a run whose end is kept late", async () => {
  const file = runsFile();
  const model = (): string => '{"n":1}';
  const agents = [agent({ name: "teller", model, output: z.object({ n: z.number() }) })];
  const gate = Promise.withResolvers<void>();
  const store = sqliteRuns(file);
  const late = endingLate(store, gate.promise, () => setTimeout(() => gate.resolve(), 300));
  const worker = durableRuns({ agents, store: late, sessions: () => undefined }).work();
  onTestFinished(async () => {
    gate.resolve();
    await worker.drain();
    store.close();
  });
  const server = serving(file, { agents, work: false });
  const body = { threadId: "t", runId: "r", messages: [{ id: "m", role: "user", content: "Tell" }] };
  const told = await Array.fromAsync(events(await ask(server, "POST /v1/agui/teller", { body })));
  expect(told.at(-1)).toMatchObject({ type: "RUN_FINISHED", result: { n: 1 } });
});

it.each(["at once", "later"])(
  "tells the end of a run that could not begin, to who reads it %s",
  async (when) => {
    const sessions = inMemorySessions();
    const file = runsFile();
    const server = serving(file, { agents: [talker()], sessions: (id) => session(sessions, id) });
    const other = serving(file, { agents: [talker()], work: false }); // keeps no sessions
    const input = ["user", "assistant", "user"].map((role) => ({ role, content: "Hi" }));
    const body = { id: "r", agent: "talker", session: "s", input }; // the session has the conversation
    expect((await ask(other, "POST /runs", { body })).status).toBe(201);
    const read = async () => Array.fromAsync(events(await ask(server, "GET /runs/r/events")));
    const first = await read();
    const told = when === "at once" ? first : await read();
    expect(told).toMatchObject([
      { type: "run-end", id: "1", runId: "r", outcome: { type: "failed", code: "input-invalid" } },
    ]);
    expect((await ask(server, "GET /runs/r/events?after=1")).status).toBe(204);
  },
);

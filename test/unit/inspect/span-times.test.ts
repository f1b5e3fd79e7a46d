import { setTimeout as pause } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { agent, type Model, tool, WritError } from "../../../src/index.ts";
import { nodeHost } from "../../../src/adapters/clock.ts";
import { durableRuns, memoryRuns, type RunStore } from "../../../src/durable.ts";
import { loadRun } from "../../../src/inspect/load-run.ts";
import type { InspectedCall, InspectedRun } from "../../../src/inspect/view.ts";
import { scripted } from "../../../src/testing.ts";

const about = { name: "look", description: "Looks" };
const looked = { type: "object" as const, properties: { at: { type: "string" as const } }, required: ["at"] };
const look = tool({
  ...about,
  inputSchema: looked,
  effect: "read",
  execute: ({ at }) => `saw ${JSON.stringify(at)}`,
});
const once = () =>
  scripted([{ calls: [{ name: "look", arguments: { at: "a" } }, { name: "nothing" }] }, "Done."]);

async function viewOf(
  clerk: ReturnType<typeof agent>,
  store: RunStore = memoryRuns(),
): Promise<InspectedRun> {
  const runs = durableRuns({ store, agents: [clerk] });
  await runs.start(clerk, "Look.", { id: "run-1" });
  const worker = runs.work();
  await runs.result("run-1");
  await worker.drain();
  return loadRun("run-1", { store, agents: [], host: nodeHost, known: new Map() });
}
const phases = (call: InspectedCall | undefined): readonly string[] =>
  (call?.spans ?? []).map(({ phase }) => phase);
const lengthOf = (call: InspectedCall | undefined, phase: string): number =>
  (call?.spans ?? [])
    .filter((span) => span.phase === phase)
    .reduce((sum, { from, to }) => sum + to - from, 0);

/** A model that streams its reply in two pieces, with pauses before each. */
const slow = (firstMs: number, thenMs: number): Model =>
  ({
    id: "slow",
    features: {},
    async *stream() {
      await pause(firstMs);
      yield { type: "text-delta", text: "Wait" };
      await pause(thenMs);
      yield { type: "text-delta", text: "ed." };
      yield { type: "end", finishReason: "stop" };
    },
  }) as unknown as Model;

it("records when the first piece of a streamed reply came", async () => {
  const { turns } = await viewOf(agent({ name: "clerk", model: slow(60, 40) }));
  const { from, to, firstAt = 0 } = turns[0]?.model ?? { from: 0, to: 0 };
  expect(firstAt - from).toBeGreaterThanOrEqual(55);
  expect(to - firstAt).toBeGreaterThanOrEqual(35);
});

it("says nothing of a first piece where the reply came whole", async () => {
  const { turns } = await viewOf(agent({ name: "clerk", model: () => "Hello." }));
  expect(turns[0]?.model).not.toHaveProperty("firstAt");
});

it("records the requests that failed before a reply, and when", async () => {
  let asked = 0;
  const flaky = {
    ...slow(1, 1),
    async *stream() {
      asked += 1;
      await pause(30);
      if (asked < 3)
        throw new WritError(
          "provider-failed",
          { provider: "slow", model: "slow", reason: "overloaded" },
          { retryable: true },
        );
      yield { type: "text-delta", text: "There." };
      yield { type: "end", finishReason: "stop" };
    },
  } as unknown as Model;
  const clerk = agent({ name: "clerk", model: flaky, retry: { attempts: 3, firstDelayMs: 40 } });
  const { tries = [], from, askedAt = 0 } = (await viewOf(clerk)).turns[0]?.model ?? {};
  const times = [...tries.flatMap((each) => [each.from, each.to]), askedAt];
  expect(times).toHaveLength(5);
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  expect(tries[0]?.from).toBe(from);
  for (const each of tries) expect(each.to - each.from).toBeGreaterThanOrEqual(25);
});

it("records how long hooks, the check of arguments and the policy took, also of a call that was refused", async () => {
  const clerk = agent({
    name: "clerk",
    model: once(),
    tools: [look],
    hooks: [
      {
        name: "slow",
        beforeToolCall: async () => {
          await pause(50);
          return undefined;
        },
      },
    ],
    policy: () => {
      const until = Date.now() + 20;
      while (Date.now() < until);
      return { verdict: "allow", rule: "slow", reason: "it took its time" };
    },
  });
  const [seen, refused] = (await viewOf(clerk)).turns[0]?.calls ?? [];
  expect(lengthOf(seen, "authorised")).toBeGreaterThanOrEqual(65);
  expect(phases(seen).at(-1)).toBe("executed");
  const decided = seen?.decidedAt ?? 0;
  expect(seen?.spans.at(-1)?.from).toBeGreaterThanOrEqual(decided);
  expect(refused).toMatchObject({ state: "refused", decidedAt: expect.any(Number) });
  expect(refused?.decidedAt).toBeGreaterThanOrEqual(decided);
});

it("records how long an asynchronous check of arguments took, as a bar of its own", async () => {
  const standard = {
    "~standard": {
      version: 1 as const,
      vendor: "test",
      jsonSchema: { input: () => looked, output: () => looked },
      validate: async (value: unknown) => {
        await pause(50);
        return { value: value as { at: string } };
      },
    },
  };
  const slowLook = tool({ ...about, effect: "read", inputSchema: standard, execute: () => "seen" });
  const [seen] =
    (await viewOf(agent({ name: "clerk", model: once(), tools: [slowLook] }))).turns[0]?.calls ?? [];
  expect(lengthOf(seen, "checked")).toBeGreaterThanOrEqual(45);
});

it("ends the wait for a person when the answer came, and not when the call began", async () => {
  const store = memoryRuns();
  const send = tool({ ...about, inputSchema: looked, effect: "irreversible", execute: () => "sent" });
  const clerk = agent({
    name: "clerk",
    model: once(),
    tools: [send],
    policy: () => ({ verdict: "ask", rule: "ask", reason: "it sends" }),
  });
  const runs = durableRuns({ store, agents: [clerk] });
  await runs.start(clerk, "Look.", { id: "run-1" });
  const first = runs.work();
  let [question] = await runs.waiting();
  while (question === undefined) {
    await pause(5);
    [question] = await runs.waiting();
  }
  await first.drain();
  await pause(40);
  await runs.answer("run-1", question.key, { approved: true, hash: question.request.hash });
  await pause(60);
  const second = runs.work();
  await runs.result("run-1");
  await second.drain();
  const view = await loadRun("run-1", { store, agents: [], host: nodeHost, known: new Map() });
  const [sent] = view.turns[0]?.calls ?? [];
  const waited = sent?.spans.find(({ phase }) => phase === "waited");
  expect(waited).toMatchObject({ from: question.since, isExact: true });
  expect(lengthOf(sent, "waited")).toBeGreaterThanOrEqual(40);
  expect(lengthOf(sent, "queued")).toBeGreaterThanOrEqual(50);
});

it("draws no bar twice: the stretches of a call follow each other", async () => {
  const { turns } = await viewOf(agent({ name: "clerk", model: once(), tools: [look] }));
  for (const { spans } of turns.flatMap(({ calls }) => calls))
    spans.forEach(({ from, to }, place) => {
      expect(from).toBeLessThanOrEqual(to);
      expect(from).toBeGreaterThanOrEqual(spans[place - 1]?.to ?? -Infinity);
    });
});

it("shows the wait of a tool for a signal as waited, and not as queued, once the signal has come", async () => {
  const store = memoryRuns();
  const order = tool({
    ...about,
    inputSchema: { type: "object", properties: {} },
    effect: "read",
    execute: (_args, { waitFor }) => waitFor("paid"),
  });
  const clerk = agent({
    name: "clerk",
    model: scripted([{ calls: [{ name: "look" }] }, "Done."]),
    tools: [order],
  });
  const runs = durableRuns({ store, agents: [clerk] });
  await runs.start(clerk, "Look.", { id: "run-1" });
  const worker = runs.work();
  await vi.waitFor(async () => expect(await runs.waiting("run-1")).toHaveLength(1));
  await worker.drain();
  await pause(60);
  await runs.signal("run-1", { name: "paid", value: "yes" });
  const [call] = (await viewOf(clerk, store)).turns[0]?.calls ?? [];
  expect(phases(call)).not.toContain("queued");
  expect(lengthOf(call, "waited")).toBeGreaterThanOrEqual(55);
});

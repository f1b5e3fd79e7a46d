import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { agent, type AgentEvent, inMemorySessions, type Policy, session, tool } from "../../src/index.ts";
import { type Executor, type JournalRecord, recordedJournal } from "../../src/doors.ts";
import { fix } from "../../src/tools.ts";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { scripted } from "../../src/testing.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import type { JsonObject } from "../../src/util/json.ts";
import { planned, type PlannedCall } from "./durable-place.ts";

const usage = { inputTokens: 100, outputTokens: 10 };
const inner = agent({
  name: "inner",
  description: "",
  model: () => Promise.resolve({ text: "found", usage }),
});
const payWith = (properties: JsonObject) =>
  tool({
    name: "pay",
    description: "",
    inputSchema: { type: "object", properties },
    effect: "irreversible",
    execute: () => "paid",
  });
const asks: Policy = ({ tool: name }) =>
  name === "pay"
    ? { verdict: "ask", rule: "asks", reason: "a person decides" }
    : { verdict: "allow", rule: "free", reason: "" };
const to = { type: "string" };
const calls: readonly PlannedCall[] = [
  { name: "inner", arguments: { input: "x" } },
  { name: "pay", arguments: { to: "kim" } },
];

/** The usage that is told at the end of a run, also of one that throws then. */
async function usageTold(stream: AsyncGenerator<AgentEvent, unknown>): Promise<unknown> {
  let used: unknown;
  const read = async (): Promise<void> => {
    for await (const event of stream) if (event.type === "run-end") used = event.usage;
  };
  await read().catch(() => undefined);
  return used;
}

const both = { inputTokens: 101, outputTokens: 19, estimated: true };

describe("the usage of an agent inside a call that an earlier process carried out", () => {
  it("counts in a run that cannot go on before its calls begin", async () => {
    const runs = sqliteRuns(":memory:");
    const goOn = async (pay: ReturnType<typeof payWith>) => {
      const boss = agent({ name: "boss", model: planned(calls), tools: [inner.asTool(), pay], policy: asks });
      await using journal = await runs.open("r");
      return usageTold(boss.stream("Go", { journal, runId: "r", accept: ["tools"] }));
    };
    expect(await goOn(payWith({ to }))).toEqual(both);
    const [{ key, request } = { key: "", request: { hash: "" } }] = await runs.questions("r");
    await runs.answer("r", key, { approved: true, hash: request.hash });
    expect(await goOn(payWith({ to, currency: { type: "string", default: "EUR" } }))).toEqual(both); // not what was approved
    runs.close();
  });

  it("counts in a run that is cancelled while its session is compared", async () => {
    const runs = sqliteRuns(":memory:");
    const sessions = inMemorySessions();
    const boss = agent({ name: "boss", model: planned(calls), tools: [inner.asTool(), payWith({ to })] });
    const goOn = async (place: string, act: (stop: AbortController) => Promise<unknown>) => {
      const stop = new AbortController();
      await using journal = await runs.open("r");
      const step: typeof journal.step = async (given) => {
        if (given.key === place) await act(stop);
        return journal.step(given);
      };
      const all: typeof journal.all = (steps) => Promise.all(steps.map(step));
      const options = { runId: "r", session: session(sessions, "kim"), signal: stop.signal };
      return usageTold(boss.stream("Go", { journal: { ...journal, step, all }, ...options }));
    };
    await goOn("turn/1/call/1", () => Promise.reject(new Error("the process died")));
    expect(await goOn("session/check", (stop) => sleep(20, stop.abort("too dear")))).toEqual(both);
    runs.close();
  });

  it("counts in a run whose executor cannot be recorded", async () => {
    const records: JournalRecord[] = [];
    const full = (record: JournalRecord): void => {
      if (record.key === "turn/1/executor") throw new Error("the disk is full");
      records.push(record);
    };
    const executor: Executor = { execute: (handed, { run }) => Promise.all(handed.map((one) => run(one))) };
    const boss = agent({
      name: "boss",
      model: planned(calls.slice(0, 1)),
      tools: [inner.asTool()],
      executor,
    });
    const goOn = () => usageTold(boss.stream("Go", { journal: recordedJournal([...records], full) }));
    expect(await goOn()).toMatchObject({ inputTokens: 101 });
    expect(await goOn()).toMatchObject({ inputTokens: 101 });
  });
});

it("the usage of an agent that mended a call counts while the run waits for a person, with an executor too", async () => {
  const fixer = agent({ name: "fixer", model: () => Promise.resolve({ text: '{"to":"kim"}', usage }) });
  const pay = tool({
    name: "pay",
    description: "",
    inputSchema: { type: "object", properties: { to }, required: ["to"] },
    effect: "irreversible",
    execute: () => "paid",
    recover: { invalidArguments: () => fix(fixer) },
  });
  const executor: Executor = { execute: (handed, { run }) => Promise.all(handed.map((one) => run(one))) };
  const boss = agent({ name: "boss", model: planned([{ name: "pay" }]), tools: [pay], policy: asks });
  for (const who of [boss, boss.with({ executor })]) {
    const runs = sqliteRuns(":memory:");
    await using journal = await runs.open("r");
    const { outcome, usage: used } = await who.run("Go", { journal, runId: "r" });
    expect(outcome).toMatchObject({ type: "suspended", field: "answers" });
    expect(used).toMatchObject({ inputTokens: 101 });
  }
});

it("the usage and the turns of a durable run stand in its end, also where a provider failed", async () => {
  const look = tool({
    name: "look",
    description: "",
    inputSchema: { type: "object" },
    effect: "read",
    execute: () => "seen",
  });
  const model = scripted([{ calls: [{ name: "look" }], usage }, new Error("no line")]);
  const clerk = agent({ name: "clerk", model, tools: [look], retry: false });
  const runs = durableRuns({ store: memoryRuns(), agents: [clerk] });
  await runs.start(clerk, "Go", { id: "r" });
  await using _worker = runs.work();
  expect(await runs.result("r")).toMatchObject({ outcome: { type: "failed" }, usage, turns: 2 });
});

import { describe, expect, it } from "vitest";
import { parallel, pipe } from "../../src/compose.ts";
import { type DurableRuns, durableRuns, memoryRuns } from "../../src/durable.ts";
import {
  type Agent,
  agent,
  inMemorySessions,
  memoryJournal,
  type Policy,
  session,
  tool,
} from "../../src/index.ts";
import type { ModelFunction } from "../../src/models.ts";
import { fakeTool } from "../../src/testing.ts";

type PlannedCall = { readonly name: string; readonly arguments?: Readonly<Record<string, string>> };

/** A model that makes the planned calls, turn by turn, then answers, and whose replies cost something. */
const planned =
  (...turns: readonly (readonly PlannedCall[])[]): ModelFunction =>
  ({ messages }) => {
    const usage = { inputTokens: 10, outputTokens: 5 };
    const calls = turns[messages.filter(({ role }) => role === "assistant").length];
    return calls === undefined ? { text: "Done.", usage } : { calls, usage };
  };

/** The same in one turn. */
const calling = (...calls: readonly PlannedCall[]): ModelFunction => planned(calls);

const policy: Policy = ({ tool: name }) => ({
  verdict: name === "pay" ? "ask" : "allow",
  rule: name,
  reason: "",
});
const note = fakeTool("note", "noted that", { effect: "write" });
const inputSchema = { type: "object" } as const;
const hang = tool({
  name: "hang",
  description: "",
  inputSchema,
  effect: "read",
  execute: () => new Promise(() => undefined),
});
const parcel = tool({
  name: "parcel",
  description: "",
  inputSchema,
  effect: "read",
  execute: (_args, { waitFor }) => waitFor("parcel"),
});

/** Carries out a run until its time is over. */
async function played(boss: Agent<string, string>): Promise<{
  readonly runs: DurableRuns;
  readonly usage: number | undefined;
  readonly told: () => Promise<string>;
}> {
  const sessions = inMemorySessions();
  const runs = durableRuns({ store: memoryRuns(), agents: [boss], sessions: (id) => session(sessions, id) });
  await using _worker = runs.work();
  await runs.start(boss, "Go", { id: "r", session: "kim" });
  const { outcome, usage } = await runs.result("r");
  expect(outcome).toMatchObject({ type: "exhausted", field: "durationMs" });
  const told = async (): Promise<string> => JSON.stringify((await sessions.read("kim")).runs);
  return { runs, usage: usage && usage.inputTokens + usage.outputTokens, told };
}

describe("a run whose time is over while a part of it waits", () => {
  const within = { budget: { durationMs: 300 }, policy } as const;

  it("tells its session what its calls did, and a replay tells the same", async () => {
    const model = calling({ name: "note" }, { name: "parcel" }, { name: "hang" });
    const boss = agent({ ...within, name: "boss", model, tools: [note, parcel, hang] });
    const { runs, told } = await played(boss);
    expect(await told()).toContain("noted that");
    const { calls } = await runs.replay("r");
    expect(calls.map(({ name, status }) => `${name} ${status}`)).toEqual([
      "note ok",
      "parcel cancelled",
      "hang cancelled",
    ]);
  });

  it("counts what an agent inside used that waits, and tells its session what that did", async () => {
    const pay = fakeTool("pay", "paid", { effect: "irreversible" });
    const model = planned([{ name: "note" }], [{ name: "pay" }]);
    const clerk = agent({ name: "clerk", policy, model, tools: [note, pay] });
    const helper = agent({ name: "helper", policy, model: calling({ name: "note" }), tools: [note] });
    const input = { input: "Go" };
    const helps = calling({ name: "helper", arguments: input }, { name: "clerk", arguments: input });
    const tools = [helper.asTool(), clerk.asTool()];
    const desk = agent({ name: "desk", policy, model: helps, tools });
    const asks = calling({ name: "desk", arguments: input }, { name: "hang" });
    const boss = agent({ ...within, name: "boss", model: asks, tools: [desk.asTool(), hang] });
    const { runs, told, usage } = await played(boss);
    expect(usage).toBe(6 * 15); // two replies of the helper and of the clerk, and one of each other
    expect((await told()).match(/"tool":"note"/g)).toHaveLength(2);
    expect(await told()).toContain('- note {}: ok, \\"noted that\\"');
    expect((await runs.replay("r")).usage).toEqual((await runs.show("r"))?.end?.usage);
  });
});

it("replays as it was where it was handed over before its time was over, and a group was inside", async () => {
  const quick = agent({ name: "quick", policy, model: calling({ name: "note" }), tools: [note] });
  const slow = agent({ name: "slow", policy, model: calling({ name: "hang" }), tools: [hang] });
  const leaving = new AbortController();
  const leave = fakeTool("leave", () => leaving.abort(), { effect: "write" });
  const leaver = agent({
    name: "leaver",
    policy,
    model: calling({ name: "leave" }, { name: "lend" }),
    tools: [leave],
  });
  const both = parallel([leaver, slow, quick]).with({ name: "both", description: "" });
  const boss = agent({
    name: "boss",
    policy,
    budget: { durationMs: 300 },
    model: calling({ name: "both", arguments: { input: "Go" } }),
    tools: [both.asTool()],
  });
  const journal = memoryJournal();
  const { outcome, calls, usage } = await boss.run("Go", { journal, handOver: leaving.signal });
  const replies = journal.records.filter(({ key }) => key.endsWith("/model")).length;
  expect(replies).toBeGreaterThan(2);
  expect(usage).toEqual({ inputTokens: 10 * replies, outputTokens: 5 * replies });
  expect(outcome).toMatchObject({ type: "exhausted", field: "durationMs" });
  const replayed = await boss.run("Go", { journal: memoryJournal(journal.records, { mode: "replay" }) });
  expect(replayed).toMatchObject({ outcome, usage, calls: [{ status: calls[0]?.status }] });
});

it("replays as it was where an agent of a composition met its own time, and a question of it was answered later", async () => {
  const paying = fakeTool("pay", () => new Promise(() => undefined), { effect: "irreversible", inputSchema });
  const payer = agent({
    name: "payer",
    policy,
    budget: { durationMs: 500 },
    model: calling({ name: "pay", arguments: { to: "kim" } }, { name: "pay", arguments: { to: "lee" } }),
    tools: [paying],
  });
  const both = pipe(agent({ name: "first", model: () => "Pay." }), payer).with({ name: "both" });
  const runs = durableRuns({ store: memoryRuns(), agents: [both] });
  await using _worker = runs.work();
  await runs.start(both, "Go", { id: "r" });
  const answer = async (place: number): Promise<void> => {
    const question = (await runs.waiting("r"))[place];
    await runs.answer("r", question?.key ?? "", { approved: true, hash: question?.request.hash ?? "" });
  };
  await expect.poll(async () => (await runs.show("r"))?.status).toBe("waiting");
  await answer(0);
  await expect.poll(() => paying.calls.length).toBe(1);
  await answer(0);
  const { outcome } = await runs.result("r");
  expect((await runs.replay("r")).outcome).toEqual(outcome);
  expect(paying.calls).toHaveLength(1);
});

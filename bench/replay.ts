/**
 * The replay of long runs, each turn of which calls a tool with a result of 200 characters, and going on with one from its last checkpoint: processor time of this
 * process, so that what runs beside it counts little.
 *
 * Run: npm run build && npx node bench/replay.ts [--turns 5000]. Exits with 1 when a limit is not held.
 */
import { parseArgs } from "node:util";
import { agent, type Agent, type Checkpoint, memoryJournal, type Policy, tool } from "writ";
import type { ModelRequest } from "writ/models";
import { median } from "./measure.ts";

const { values } = parseArgs({ options: { turns: { type: "string", default: "5000" } } });
const most = Number(values.turns);
const free: Policy = () => ({ verdict: "allow", rule: "free", reason: "" });
const look = tool({
  name: "look",
  description: "Looks",
  inputSchema: { type: "object", properties: { n: { type: "number" } } },
  effect: "read",
  execute: ({ n }: { n?: number }) => `${n} ${"x".repeat(200)}`,
});

function walkerOf(turns: number): Agent<string, string> {
  const model = ({ messages: { length } }: Pick<ModelRequest, "messages">) =>
    length < 2 * turns ? { calls: [{ name: "look", arguments: { n: length } }] } : "done";
  const budget = { turns: turns + 1, toolCalls: turns + 1 };
  return agent({ name: "walker", model, tools: [look], policy: free, budget });
}

/** The processor time of some work in milliseconds, the median of nine. */
async function processorMs(work: () => Promise<{ readonly turns: number }>, turns: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    const before = process.cpuUsage();
    const ended = await work();
    const { user, system } = process.cpuUsage(before);
    if (ended.turns < turns) throw new Error(`the run ended after ${ended.turns} turns`);
    times.push((user + system) / 1000);
  }
  return median(times);
}

/** The time of replays of a run of so many turns. */
async function replayMs(turns: number): Promise<number> {
  const walker = walkerOf(turns);
  const journal = memoryJournal();
  await walker.run("Go", { journal, runId: "r" });
  const replay = () => memoryJournal(journal.records, { mode: "replay" });
  return processorMs(() => walker.run("Go", { journal: replay(), runId: "r" }), turns);
}

/** The time of going on with such a run, whose process died at its end, from the checkpoint before its last turn, with the journal of the run. */
async function checkpointMs(turns: number): Promise<number> {
  const walker = walkerOf(turns);
  const journal = memoryJournal();
  let kept = "";
  for await (const state of walker.turns("Go", { journal, runId: "r" }))
    if (state.ledger.turns === turns - 1) kept = JSON.stringify(state);
  const records = journal.records.filter(({ key }) => key !== "end");
  const state = (): Checkpoint => JSON.parse(kept) as Checkpoint;
  return processorMs(() => walker.resume(state(), { journal: memoryJournal(records) }), turns);
}

await replayMs(Math.ceil(most / 10)); // warms up
const half = await replayMs(Math.ceil(most / 2));
const whole = await replayMs(most);
const resumed = await checkpointMs(most);
const limits = [
  { what: `replay of ${most} turns`, value: whole, limit: 1000, unit: "ms" },
  { what: "over that of half as many", value: whole / half, limit: 2.6, unit: "times" },
  { what: `going on from a checkpoint of turn ${most - 1}`, value: resumed, limit: 50, unit: "ms" },
];
for (const { what, value, limit, unit } of limits)
  console.log(
    `${value <= limit ? "holds" : "FAILS"}   ${what}: ${value.toFixed(value < 10 ? 2 : 0)} ${unit} of at most ${limit}`,
  );
process.exitCode = limits.every(({ value, limit }) => value <= limit) ? 0 : 1;

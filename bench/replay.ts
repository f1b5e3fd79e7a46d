/**
 * The replay of long runs, each turn of which calls a tool with a result of 200 characters: processor time of this process, so that what runs beside it counts little.
 *
 * Run: npm run build && npx node bench/replay.ts [--turns 5000]. Exits with 1 when a limit is not held.
 */
import { parseArgs } from "node:util";
import { agent, memoryJournal, type Policy, tool } from "writ";
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

/** The processor time of replays of a run of so many turns, in milliseconds, the median of nine. */
async function replayMs(turns: number): Promise<number> {
  const model = ({ messages: { length } }: Pick<ModelRequest, "messages">) =>
    length < 2 * turns ? { calls: [{ name: "look", arguments: { n: length } }] } : "done";
  const budget = { turns: turns + 1, toolCalls: turns + 1 };
  const walker = agent({ name: "walker", model, tools: [look], policy: free, budget });
  const journal = memoryJournal();
  const first = await walker.run("Go", { journal, runId: "r" });
  if (first.turns < turns) throw new Error(`the run ended after ${first.turns} turns`);
  const times: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    const replay = memoryJournal(journal.records, { mode: "replay" });
    const before = process.cpuUsage();
    const again = await walker.run("Go", { journal: replay, runId: "r" });
    const { user, system } = process.cpuUsage(before);
    if (again.turns !== first.turns) throw new Error(`the replay ended after ${again.turns} turns`);
    times.push((user + system) / 1000);
  }
  return median(times);
}

await replayMs(Math.ceil(most / 10)); // warms up
const half = await replayMs(Math.ceil(most / 2));
const whole = await replayMs(most);
const limits = [
  { what: `replay of ${most} turns`, value: whole, limit: 1000, unit: "ms" },
  { what: "over that of half as many", value: whole / half, limit: 2.6, unit: "times" },
];
for (const { what, value, limit, unit } of limits)
  console.log(
    `${value <= limit ? "holds" : "FAILS"}   ${what}: ${value.toFixed(value < 10 ? 2 : 0)} ${unit} of at most ${limit}`,
  );
process.exitCode = limits.every(({ value, limit }) => value <= limit) ? 0 : 1;

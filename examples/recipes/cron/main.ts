// node examples/recipes/cron/main.ts
//
// One run a day, which cron starts: 0 6 * * * node digest.ts. The id of the run has the day. So a second start on that day, by hand or from another machine,
// returns the same run, and a run that was killed continues at its last step.
import assert from "node:assert/strict";
import { durableRuns } from "writ/durable";
import { sqliteRuns } from "writ/sqlite";
import { clerk } from "../clerk.ts";

const runs = durableRuns({ store: sqliteRuns(":memory:"), agents: [clerk] }); // use a file, or postgresRuns(url)

async function digest(day: string): Promise<void> {
  const id = `digest-${day}`;
  const worker = runs.work();
  await runs.start(clerk, "Good morning", { id });
  const { outcome, output } = await runs.result(id, { signal: AbortSignal.timeout(600_000) });
  await worker.drain();
  if (outcome.type !== "answered") process.exitCode = 1; // so that whatever watches your cron jobs sees the failure
  console.log(day, output ?? outcome.type);
}

await digest("2026-11-22");
await digest("2026-11-22");
await digest("2026-11-23");
assert.equal((await runs.list()).length, 2);
console.log("Three starts, two runs.");

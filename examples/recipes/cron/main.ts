// node examples/recipes/cron/main.ts
//
// A run a day, begun by cron: 0 6 * * * node digest.ts. The day is in its id, so a second start on that day, by hand or by another machine, gives the same run;
// one that was killed in the middle goes on where it was.
import assert from "node:assert/strict";
import { durableRuns } from "writ/durable";
import { sqliteRuns } from "writ/sqlite";
import { clerk } from "../clerk.ts";

const runs = durableRuns({ store: sqliteRuns(":memory:"), agents: [clerk] }); // a file; postgresRuns(url)

async function digest(day: string): Promise<void> {
  const id = `digest-${day}`;
  const worker = runs.work();
  await runs.start(clerk, "Good morning", { id });
  const { outcome, output } = await runs.result(id, { signal: AbortSignal.timeout(600_000) });
  await worker.drain();
  if (outcome.type !== "answered") process.exitCode = 1; // cron tells who asked it to
  console.log(day, output ?? outcome.type);
}

await digest("2026-11-22");
await digest("2026-11-22");
await digest("2026-11-23");
assert.equal((await runs.list()).length, 2);
console.log("Three starts, two runs.");

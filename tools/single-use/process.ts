/**
 * A process beside others. Arguments: the file of the runs, the ledger, and `answer` with questions as JSON: then it approves them and prints how often each code
 * came; or `before` or `after` with a number: then it carries out runs, and kills itself when so many are directly before their effect, or directly after it.
 */
import { durableRuns } from "../../src/durable.ts";
import { isWritError } from "../../src/index.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { asks, payer } from "./payer.ts";

const [, , file = "", ledger = "", what = "", given = ""] = process.argv;
const store = sqliteRuns(file);
if (what === "answer") {
  const codes: Record<string, number> = {};
  const runs = durableRuns({ store });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the process that began this one wrote them
  for (const [runId, key, hash] of JSON.parse(given) as readonly [string, string, string][]) {
    const code = await runs.answer(runId, key, { approved: true, hash, by: "kim" }).then(
      () => "approved",
      (error: unknown) => (isWritError(error) ? error.code : String(error)),
    );
    codes[code] = (codes[code] ?? 0) + 1;
  }
  console.log(JSON.stringify(codes));
  store.close();
} else {
  const count = Number(given);
  let reached = 0;
  const reach = (): Promise<void> => {
    reached += 1;
    if (reached === count) process.kill(process.pid, "SIGKILL");
    return new Promise(() => undefined);
  };
  const agents = [payer(ledger, asks, what === "before" ? { before: reach } : { after: reach })];
  durableRuns({ store, agents }).work({ concurrency: count });
}

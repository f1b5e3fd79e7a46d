/** Plays cases of one runtime: node worker.ts <runtime> [case or area …]. Prints a line of JSON for each. */
import { casesOf } from "./cases/index.ts";
import { playAll } from "./suite/play.ts";
import { quiet } from "./suite/quiet.ts";

const [, , runtime = "", ...wanted] = process.argv;
const say = quiet();
try {
  await playAll(runtime, casesOf(wanted), (id, verdict, ms) => say(JSON.stringify({ id, ...verdict, ms })));
} catch (error) {
  say(JSON.stringify({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }));
}
process.exit(0); // some runtimes keep timers

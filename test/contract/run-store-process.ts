/**
 * A process that takes a run from a store, does one thing with it and lives on until it is killed. Arguments: the module of the store, its address,
 * the run, and `hold`, or `begin` to die in the middle of a step that may not happen twice.
 */
import type { OpenRuns } from "./run-store.ts";

const [, , module = "", address = "", runId = "", what = ""] = process.argv;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the module of a store under test
const { openRuns } = (await import(module)) as { readonly openRuns: OpenRuns };
const store = await openRuns(address);
const journal = await store.open(runId);
await journal.step({ key: "kept", run: () => Promise.resolve("by another process") });
function forever(): Promise<string> {
  console.log("ready"); // where it is the work of a step, that has begun in the store too
  return new Promise(() => undefined);
}
void (what === "begin" ? journal.step({ key: "paid", run: forever, lost: forever }) : forever());
setInterval(() => undefined, 1000);

import { WritError } from "../error/writ-error.ts";
import type { RunStore, StoredRun } from "./run-store.ts";

/** The run of an id. @throws WritError `run-missing` */
export async function knownRun(id: string, store: Pick<RunStore, "read">): Promise<StoredRun> {
  const run = await store.read(id);
  if (run === undefined) throw new WritError("run-missing", { id });
  return run;
}

/** The run of an id, which ends in this store. @throws WritError `run-missing`, `run-moved` */
export async function runEndingHere(id: string, store: Pick<RunStore, "read">): Promise<StoredRun> {
  const run = await knownRun(id, store);
  if (run.end === undefined && run.status === "moved") throw new WritError("run-moved", { id });
  return run;
}

/** The same run. @throws WritError `stored-unreadable` if its row cannot be read: it would go on without what it holds */
export function readable(run: StoredRun): StoredRun {
  const outcome = run.end?.outcome;
  if (outcome?.type === "failed" && outcome.code === "stored-unreadable")
    throw new WritError("stored-unreadable", { what: `The run "${run.id}"`, reason: outcome.message });
  return run;
}

import { WritError } from "../error/writ-error.ts";
import type { StoredRun } from "./run-store.ts";

/** The same run. @throws WritError `stored-unreadable` if its row cannot be read: it would go on without what it holds */
export function readable(run: StoredRun): StoredRun {
  const outcome = run.end?.outcome;
  if (outcome?.type === "failed" && outcome.code === "stored-unreadable")
    throw new WritError("stored-unreadable", { what: `The run "${run.id}"`, reason: outcome.message });
  return run;
}

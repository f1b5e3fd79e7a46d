import { WritError } from "../error/writ-error.ts";
import type { StoredRun } from "./run-store.ts";

/** A stored run as it leaves its store: with one more move, unless it has left already. @throws WritError `stored-unreadable` */
export function movedRun({ status, moves = 0, ...run }: StoredRun): StoredRun {
  const outcome = run.end?.outcome;
  if (outcome?.type === "failed" && outcome.code === "stored-unreadable")
    throw new WritError("stored-unreadable", { what: `The run "${run.id}"`, reason: outcome.message }); // it would leave without what cannot be read
  return { ...run, status: run.end?.outcome.type ?? "ready", moves: status === "moved" ? moves : moves + 1 };
}

/** @throws WritError `run-exists` if the store has the run and it has not left, or left after the given one was taken out */
export function checkArrival({ id, moves = 0 }: StoredRun, known: StoredRun | undefined): void {
  const isBack = known?.status === "moved" && (known.moves ?? 0) <= moves;
  if (known !== undefined && !isBack) throw new WritError("run-exists", { id });
}

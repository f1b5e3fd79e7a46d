import { WritError } from "../error/writ-error.ts";
import type { StoredRun } from "./run-store.ts";

/** A stored run as it leaves its store: moved once more, unless it has left before. */
export function movedRun({ status, moves = 0, ...run }: StoredRun): StoredRun {
  return { ...run, status: run.end?.outcome.type ?? "ready", moves: status === "moved" ? moves : moves + 1 };
}

/** @throws WritError `run-exists` where a run that comes into a store has not left it, or was taken out before that */
export function checkArrival({ id, moves = 0 }: StoredRun, known: StoredRun | undefined): void {
  const isBack = known?.status === "moved" && (known.moves ?? 0) <= moves;
  if (known !== undefined && !isBack) throw new WritError("run-exists", { id });
}

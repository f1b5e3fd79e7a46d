import { WritError } from "../error/writ-error.ts";
import { readable } from "./readable-run.ts";
import type { StoredRun } from "./run-store.ts";

/** A stored run as it leaves its store: with one more move, unless it has left already. @throws WritError `stored-unreadable` */
export function movedRun(stored: StoredRun): StoredRun {
  const { status, moves = 0, ...run } = readable(stored);
  return { ...run, status: run.end?.outcome.type ?? "ready", moves: status === "moved" ? moves : moves + 1 };
}

/** @throws WritError `run-exists` if the store has the run and it has not left, or left after the given one was taken out */
export function checkArrival({ id, moves = 0 }: StoredRun, known: StoredRun | undefined): void {
  const isBack = known?.status === "moved" && (known.moves ?? 0) <= moves;
  if (known !== undefined && !isBack) throw new WritError("run-exists", { id });
}

import type { RunStore } from "../../durable/run-store.ts";
import type { Database } from "./database.ts";

/** Tells those who watch the runs of a file that something happened. */
export interface RunChanges extends Pick<RunStore, "watch"> {
  /** Something happened to a run in this process. */
  told(runId: string): void;
  /** A record of a run was kept in this process: told soon, once for all of that while. */
  kept(runId: string): void;
  /** Looks no more: the file is about to be closed. */
  stop(): void;
}

/** The delay after which records that were kept, and what other processes did, are told. A look at a file that nobody changed takes some microseconds. */
const lookMs = 50;

/** The changes of the runs in a file: those of this store at once, those of others by a look at the file. */
export function runChanges(database: Database): RunChanges {
  const version = database.prepare("PRAGMA data_version"); // another one when another connection has written
  /** A look that fails says nothing new: whoever uses the file next is told what is wrong with it. */
  const versionNow = (): unknown => {
    try {
      return version.get()?.["data_version"];
    } catch {
      return seen;
    }
  };
  const watching = new Set<(id?: string) => void>();
  const changed = new Set<string>();
  let seen: unknown;
  let timer: ReturnType<typeof setInterval> | undefined;
  const look = (): void => {
    for (const runId of changed) for (const onChange of watching) onChange(runId);
    changed.clear();
    const now = versionNow();
    if (now === seen) return;
    seen = now;
    for (const onChange of watching) onChange();
  };
  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }
  return {
    told(runId) {
      if (watching.size > 0) queueMicrotask(() => watching.forEach((onChange) => onChange(runId)));
    },
    kept(runId) {
      if (watching.size > 0) changed.add(runId);
    },
    watch(onChange) {
      const own = (id?: string): void => onChange(id); // the same function may watch twice
      watching.add(own);
      seen ??= versionNow();
      timer ??= setInterval(look, lookMs);
      return () => {
        watching.delete(own);
        if (watching.size === 0) stop();
      };
    },
    stop,
  };
}

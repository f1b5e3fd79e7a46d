import type { RunStore } from "../../durable/run-store.ts";
import type { Database } from "./database.ts";

/** Reports changes to the watchers of a file's runs. */
export interface RunChanges extends Pick<RunStore, "watch"> {
  /** Reports that something happened to a run in this process. */
  told(runId: string): void;
  /** Reports a record that this process kept: soon, and once for all records of that time. */
  kept(runId: string): void;
  /** Stops looking, because the file is about to be closed. */
  stop(): void;
}

/** The delay until kept records, and changes of other processes, are reported. A look at an unchanged file takes some microseconds. */
const lookMs = 50;

/** The changes of the runs in a file: those of this store at once, those of others by looking at the file. */
export function runChanges(database: Database): RunChanges {
  const version = database.prepare("PRAGMA data_version"); // changes when another connection has written
  /** The current version. A look that fails reports nothing new: the next user of the file gets the error. */
  const versionNow = (): unknown => {
    try {
      return version.get()?.["data_version"];
    } catch {
      return seen;
    }
  };
  const watching = new Set<(id?: string, isProgress?: boolean) => void>();
  const changed = new Set<string>();
  let seen: unknown;
  let timer: ReturnType<typeof setInterval> | undefined;
  const look = (): void => {
    for (const runId of changed) for (const onChange of watching) onChange(runId, true);
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
      const own = (id?: string, isProgress = false): void => onChange(id, isProgress); // the same function may watch twice
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

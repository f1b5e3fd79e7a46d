import type { RunStore } from "../../durable/run-store.ts";
import { fromKey } from "../stored-text.ts";
import type { Query } from "./database.ts";
import { isProgressIn, progressOf, type RunTables } from "./run-tables.ts";
import type { LiveSession } from "./session.ts";

/** Announces changes of runs to processes, and receives their announcements. */
export interface RunChanges extends Pick<RunStore, "watch"> {
  /** Calls the watchers in this process. */
  here(id: string): void;
  /** Announces soon to all processes that records of a run were kept, once for all records of that time. The statements of other changes announce these. */
  tell(id: string): void;
  close(): void;
}

/** The delay until new records are announced. */
const tellMs = 50;

export function runChanges(query: Query, session: LiveSession, { told }: RunTables): RunChanges {
  // It need not wait for the disk: an announcement is lost anyway with the connections that receive it.
  const tellAll = `SELECT set_config('synchronous_commit', 'off', true), ${told("id")} FROM unnest($1::text[]) AS id`;
  const changed = new Set<string>();
  const watching = new Set<(id?: string, isProgress?: boolean) => void>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  function send(): void {
    timer = undefined;
    const ids = [...changed].map(progressOf);
    changed.clear();
    query(tellAll, [ids]).catch(() => undefined); // the next record announces it again
  }
  return {
    tell(id) {
      changed.add(id);
      timer ??= setTimeout(send, tellMs).unref();
    },
    here: (id) => watching.forEach((onChange) => onChange(id)),
    watch(onChange) {
      const own = (id?: string, isProgress = false): void => onChange(id, isProgress); // the same function may watch twice
      watching.add(own);
      const leave = session.listen((message) =>
        message === undefined ? own() : own(fromKey(message), isProgressIn(message)),
      );
      return () => {
        watching.delete(own);
        leave();
      };
    },
    close: () => clearTimeout(timer),
  };
}

import type { RunStore } from "../../durable/run-store.ts";
import { fromKey } from "../stored-text.ts";
import type { Query } from "./database.ts";
import { changeOf, type RunTables } from "./run-tables.ts";
import type { LiveSession } from "./session.ts";

/** Tells processes what happens to runs, and hears what they tell. */
export interface RunChanges extends Pick<RunStore, "watch"> {
  /** Calls those who watch in this process. */
  here(id: string): void;
  /** Tells all processes soon that records of a run were kept, once for all of that while. Other changes are told by the statements that make them. */
  tell(id: string): void;
  close(): void;
}

/** The delay after which new records are told. */
const tellMs = 50;

export function runChanges(query: Query, session: LiveSession, { told }: RunTables): RunChanges {
  // Nobody needs to wait for the disk: what is told is lost with the connections that hear it.
  const tellAll = `SELECT set_config('synchronous_commit', 'off', true), ${told("id")} FROM unnest($1::text[]) AS id`;
  const changed = new Set<string>();
  const watching = new Set<(id?: string) => void>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  function send(): void {
    timer = undefined;
    const ids = [...changed].map(changeOf);
    changed.clear();
    query(tellAll, [ids]).catch(() => undefined); // the next record tells again
  }
  return {
    tell(id) {
      changed.add(id);
      timer ??= setTimeout(send, tellMs).unref();
    },
    here: (id) => watching.forEach((onChange) => onChange(id)),
    watch(onChange) {
      const own = (id?: string): void => onChange(id); // the same function may watch twice
      watching.add(own);
      const leave = session.listen((message) => own(message === undefined ? undefined : fromKey(message)));
      return () => {
        watching.delete(own);
        leave();
      };
    },
    close: () => clearTimeout(timer),
  };
}

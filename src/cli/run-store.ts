import { existsSync } from "node:fs";
import type { RunStore } from "../durable/run-store.ts";
import { WritError } from "../error/writ-error.ts";
import { session, type SessionHandle } from "../session/session.ts";
import type { SessionStore } from "../session/session-store.ts";
import type { OutputFlags } from "./options.ts";

/** The options of every command that has a store of runs. */
export interface StoreFlags extends OutputFlags {
  /** The place of the store. Default: the variable `WRIT_STORE`, or {@link defaultStore} without it. */
  readonly store?: string;
}

/** The file of the runs, if no other is named. */
const defaultStore = "runs.db";

/** A store that is closed at the end of its command. */
export type OpenRuns = RunStore & (Disposable | AsyncDisposable);

type OpenSessions = SessionStore & (Disposable | AsyncDisposable);

const database = /^postgres(?:ql)?:/;

/** The place of the runs: a file, or the URL of a database without its password. */
export function nameOfStore(flags: StoreFlags): string {
  return nameOf(flags)
    .replace(/(:\/\/[^/@:]*):[^/?#]*@/, "$1:…@")
    .replace(/([?&]password=)[^&#]*/, "$1…");
}

function nameOf({ store }: StoreFlags): string {
  return store ?? process.env["WRIT_STORE"] ?? defaultStore;
}

/** Opens the store of runs that is named, or makes it. @throws WritError `database-failed`, `peer-missing` */
export async function openStore(flags: StoreFlags): Promise<OpenRuns> {
  const name = nameOf(flags);
  if (database.test(name)) return (await import("../adapters/postgres/postgres-runs.ts")).postgresRuns(name);
  return (await import("../adapters/sqlite/sqlite-runs.ts")).sqliteRuns(name);
}

/** Runs, with the sessions that are kept in the same place. */
export interface OpenPlace extends AsyncDisposable {
  readonly sessions: (id: string) => SessionHandle;
  readonly store: OpenRuns;
}

/** Opens the place of runs that are carried out or replayed here. It opens sessions only when a run has one. */
export async function openPlace(
  flags: StoreFlags,
  open: (flags: StoreFlags) => Promise<OpenRuns> = openStore,
): Promise<OpenPlace> {
  const openSessions = await sessionsOf(flags);
  const store = await open(flags);
  let opened: OpenSessions | undefined;
  const sessions = (): OpenSessions => (opened ??= openSessions());
  return {
    store,
    sessions: (id) => session(sessions(), id),
    // Not an AsyncDisposableStack, which Node 22 lacks.
    async [Symbol.asyncDispose]() {
      await using _store = store;
      await using _sessions = opened;
    },
  };
}

/** Finds out how to open the sessions beside the runs. */
async function sessionsOf(flags: StoreFlags): Promise<() => OpenSessions> {
  const name = nameOf(flags);
  if (database.test(name)) {
    const { postgresSessions } = await import("../adapters/postgres/postgres-sessions.ts");
    return () => postgresSessions(name);
  }
  const { sqliteSessions } = await import("../adapters/sqlite/sqlite-sessions.ts");
  return () => sqliteSessions(name);
}

/** Opens a store that already exists. @throws WritError `option-invalid` */
export async function knownStore(flags: StoreFlags): Promise<OpenRuns> {
  const name = nameOf(flags);
  if (database.test(name) || existsSync(name)) return openStore(flags);
  const advice = "There is no such file. Name the one that `writ run --durable` or `writ work` made.";
  throw new WritError("option-invalid", { option: "--store", value: nameOfStore(flags), advice });
}

import { WritError } from "../../error/writ-error.ts";
import {
  checkVersion,
  headText,
  missing,
  recordOf,
  runText,
  type SessionRun,
  type SessionStore,
} from "../../session/session-store.ts";
import { fromKey, toKey } from "../stored-text.ts";
import { openDatabase, type OpenStore } from "./database.ts";
import { claimsIn, claimTable, laterClaims } from "./session-claims.ts";

/** Sessions in a SQLite file. */
export interface SqliteSessions extends SessionStore, OpenStore {}

const tables = `
  CREATE TABLE IF NOT EXISTS writ_sessions (
    place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, version INTEGER NOT NULL, head TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS writ_session_runs (
    session INTEGER NOT NULL REFERENCES writ_sessions (place) ON DELETE CASCADE,
    number INTEGER NOT NULL, run TEXT NOT NULL, json TEXT NOT NULL,
    PRIMARY KEY (session, number)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS writ_session_runs_run ON writ_session_runs (session, run, number);
  ${claimTable}`;

interface Row {
  readonly place: number;
  readonly version: number;
  readonly head: string;
}

/**
 * Keeps sessions in a SQLite file, which several processes of one machine can share: each change is one transaction, and of two that were
 * made from the same version, one is refused. Of two runs of a session in two processes, one waits for the other; a dead process
 * keeps nobody waiting, but for the process that goes on with its durable run. That, and a process that stands still, takes at most 15 seconds. Sessions survive a crash of the process and of the machine. Memory can be in the
 * same file. Each call blocks the process while it reads or writes, and up to 5 seconds if another process writes.
 *
 * @throws WritError `database-failed`; so do the calls of the store
 * @example
 * ```ts
 * import { agent, session } from "writ";
 * import { sqliteSessions } from "writ/sqlite";
 *
 * const store = sqliteSessions("sessions.db");
 * const talker = agent({ name: "talker", model: "ollama/qwen2.5:7b" });
 * await talker.run("My name is Kim.", { session: session(store, "kim") });
 * store.close();
 * ```
 */
export function sqliteSessions(path: string): SqliteSessions {
  const database = openDatabase(path, tables, laterClaims);
  const statements = {
    find: database.prepare("SELECT place, version, head FROM writ_sessions WHERE id = ?"),
    insert: database.prepare("INSERT INTO writ_sessions (id, version, head) VALUES (?, ?, ?)"),
    count: database.prepare("UPDATE writ_sessions SET version = version + 1 WHERE place = ?"),
    change: database.prepare("UPDATE writ_sessions SET version = version + 1, head = ? WHERE place = ?"),
    remove: database.prepare("DELETE FROM writ_sessions WHERE place = ?"),
    list: database.prepare("SELECT id FROM writ_sessions ORDER BY place"),
    runs: database.prepare("SELECT json FROM writ_session_runs WHERE session = ? ORDER BY number"),
    lastRuns: database.prepare(
      "SELECT json FROM writ_session_runs WHERE session = ? ORDER BY number DESC LIMIT ?",
    ),
    oneRun: database.prepare(
      "SELECT json FROM writ_session_runs WHERE session = ? AND run = ? ORDER BY number",
    ),
    next: database.prepare(
      "SELECT ifnull(max(number), -1) + 1 AS number FROM writ_session_runs WHERE session = ?",
    ),
    putRun: database.prepare(
      "INSERT INTO writ_session_runs (session, number, run, json) VALUES (?, ?, ?, ?)",
    ),
    removeRun: database.prepare("DELETE FROM writ_session_runs WHERE session = ? AND run = ?"),
    removeRuns: database.prepare("DELETE FROM writ_session_runs WHERE session = ?"),
  };

  function found(id: string): Row {
    const row = statements.find.get(toKey(id));
    if (row === undefined) throw missing(id);
    return { place: Number(row["place"]), version: Number(row["version"]), head: String(row["head"]) };
  }

  function runsOf(place: number, only: Parameters<SessionStore["read"]>[1]): readonly string[] {
    const rows = (): readonly Readonly<Record<string, unknown>>[] => {
      if (only === undefined) return statements.runs.all(place);
      if ("runId" in only) return statements.oneRun.all(place, toKey(only.runId));
      return statements.lastRuns.all(place, only.lastRuns).toReversed();
    };
    return rows().map((row) => String(row["json"]));
  }

  function foundAt(id: string, expectedVersion: number): Row {
    const row = found(id);
    checkVersion(id, row.version, expectedVersion);
    return row;
  }

  function putRuns(place: number | bigint, runs: readonly SessionRun[]): void {
    for (const [number, run] of runs.entries())
      statements.putRun.run(place, number, toKey(run.runId), runText(run));
  }

  const { close, [Symbol.dispose]: dispose } = database;
  return {
    async create(id, contents = {}) {
      const head = headText(contents);
      const { runs = [], version = 0 } = contents;
      database.write(() => {
        if (statements.find.get(toKey(id)) !== undefined) throw new WritError("session-exists", { id });
        putRuns(statements.insert.run(toKey(id), version, head).lastInsertRowid, runs);
      });
      return recordOf(id, { version, head, runs: runs.map(runText) });
    },
    async read(id, only) {
      return database.read(() => {
        const { place, version, head } = found(id);
        return recordOf(id, { version, head, runs: runsOf(place, only) });
      });
    },
    async append(id, run, expectedVersion) {
      const json = runText(run);
      return database.write(() => {
        const { place, version } = foundAt(id, expectedVersion);
        statements.removeRun.run(place, toKey(run.runId));
        statements.putRun.run(place, Number(statements.next.get(place)?.["number"]), toKey(run.runId), json);
        statements.count.run(place);
        return version + 1;
      });
    },
    async update(id, contents, expectedVersion) {
      const head = headText(contents);
      return database.write(() => {
        const { place, version } = foundAt(id, expectedVersion);
        statements.removeRuns.run(place);
        putRuns(place, contents.runs);
        statements.change.run(head, place);
        return version + 1;
      });
    },
    async delete(id) {
      database.write(() => statements.remove.run(found(id).place));
    },
    async list() {
      return database.read(() => statements.list.all()).map((row) => fromKey(row["id"]));
    },
    claims: claimsIn(database),
    close,
    [Symbol.dispose]: dispose,
  };
}

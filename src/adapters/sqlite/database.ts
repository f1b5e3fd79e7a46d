import { DatabaseSync, type StatementSync } from "node:sqlite";
import { messageOf, WritError } from "../../error/writ-error.ts";

/** The open file of a store. */
export interface OpenStore {
  /** Closes the file. Later calls of the store fail with `database-failed`. It may be closed twice. */
  readonly close: () => void;
  /** The same, for `using`. */
  readonly [Symbol.dispose]: () => void;
}

/** A SQLite file that several processes of one machine may use at once. Its errors are `database-failed`. */
export interface Database extends OpenStore {
  /** Compiles a statement once. */
  prepare(sql: string): StatementSync;
  /** Reads from one state of the file, whatever others write meanwhile. */
  read<Result>(work: () => Result): Result;
  /**
   * One transaction, alone among all writers: all of it happens, or nothing if `work` throws. `FULL` waits for the disk, and with it for
   * all earlier transactions; `NORMAL` survives the end of the process, but not a loss of power.
   */
  write<Result>(work: () => Result, firmness?: Firmness): Result;
}

/** The durability of a commit. */
export type Firmness = "FULL" | "NORMAL";

/** The time that a process waits for another one that writes. Writes here take less than a thousandth of it. */
const busyTimeoutMs = 5_000;
const pauseMs = 10;

/** SQLite's code for a wait that was too short. */
const busy = 5;

/** SQLite's codes for a file that can be written again later: another process has it, or its disk only reads, takes nothing or is full. */
const passing: ReadonlySet<number | undefined> = new Set([busy, 8, 10, 13]);

/** The columns, with their types, that were added to tables after the first version. */
export type LaterColumns = Readonly<Record<string, readonly string[]>>;

/**
 * Opens a file, or makes it. `:memory:` is a database of this process alone.
 *
 * @throws WritError `database-failed`
 */
export function openDatabase(path: string, tables: string, later: LaterColumns = {}): Database {
  const database = guarded(path, () => open(path, tables, later));
  let set: Firmness = "FULL"; // SQLite's own default
  function transaction<Result>(begin: string, work: () => Result, firmness = set): Result {
    return guarded(path, () => {
      if (firmness !== set) database.exec(`PRAGMA synchronous = ${firmness}`); // not possible in a transaction
      set = firmness;
      database.exec(begin);
      try {
        const result = work();
        database.exec("COMMIT");
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
    });
  }
  function close(): void {
    if (database.isOpen) database.close();
  }
  return {
    prepare: (sql) => guarded(path, () => database.prepare(sql)),
    read: (work) => transaction("BEGIN", work),
    write: (work, firmness = "FULL") => transaction("BEGIN IMMEDIATE", work, firmness),
    close,
    [Symbol.dispose]: close,
  };
}

function open(path: string, tables: string, later: LaterColumns): DatabaseSync {
  if (path === "") throw new Error("there is no path"); // SQLite would make a temporary file
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  try {
    const mode = patiently(() => database.prepare("PRAGMA journal_mode = WAL").get())?.["journal_mode"];
    if (mode !== "wal" && mode !== "memory")
      throw new Error("writers and readers cannot share it: write-ahead logging is not possible there");
    patiently(() => addLater(database, later));
    database.exec(tables);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Adds the columns to the tables of a file from an earlier version. */
function addLater(database: DatabaseSync, later: LaterColumns): void {
  const lacking = (): [table: string, column: string][] =>
    Object.entries(later).flatMap(([table, columns]) => {
      const there = database
        .prepare(`PRAGMA table_info(${table})`)
        .all()
        .map((row) => row["name"]);
      const missing =
        there.length === 0 ? [] : columns.filter((column) => !there.includes(column.split(" ")[0] ?? ""));
      return missing.map((column): [string, string] => [table, column]);
    });
  if (lacking().length === 0) return;
  database.exec("BEGIN IMMEDIATE"); // another process may add them at the same time
  for (const [table, column] of lacking()) database.exec(`ALTER TABLE ${table} ADD COLUMN ${column}`);
  database.exec("COMMIT");
}

/** Retries work. SQLite does not wait by itself when several processes make the same file at once, and each changes its journal mode. */
function patiently<Result>(work: () => Result): Result {
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || waitedMs >= busyTimeoutMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
  }
}

function isBusy(error: unknown): boolean {
  return codeOf(error) === busy;
}

/** The primary code of an error of SQLite. */
function codeOf(error: unknown): number | undefined {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : undefined;
}

function guarded<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof WritError) throw cause;
    const retryable = passing.has(codeOf(cause));
    throw new WritError("database-failed", { path, reason: messageOf(cause) }, { cause, retryable });
  }
}

/** The values of the parameters `$1`, `$2`, ...: Node 22 takes a list of values only for `?`. */
export function byNumber<Value>(values: readonly Value[]): Readonly<Record<string, Value>> {
  return Object.fromEntries(values.map((value, place) => [String(place + 1), value]));
}

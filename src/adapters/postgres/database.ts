import type { Client, Pool, QueryConfig, QueryResultRow } from "pg";
import { AsyncLocalStorage } from "node:async_hooks";
import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { WritError } from "../../error/writ-error.ts";
import { failureOf, isAway, mayPass } from "./failures.ts";
import { type OpenPool, openPool, type Place } from "./pool.ts";

/** A row of a result. */
export type Row = Readonly<QueryResultRow>;

/** Carries out one statement. */
export type Query = (sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/**
 * A PostgreSQL database with the tables of a store. It waits for a server that is away for a moment, for example to restart. It repeats a
 * statement whose result it did not get, or that the server gave up for the sake of others, so each statement must be safe to repeat. Other errors have one of
 * the codes `postgres-…`.
 */
export interface PostgresDatabase {
  readonly query: Query;
  /** One transaction: all of it happens, or nothing if `work` throws. */
  readonly transaction: <Result>(work: (query: Query) => Promise<Result>) => Promise<Result>;
  /** Repeats `work` while the server is away. */
  patiently<Result>(work: () => Promise<Result>): Promise<Result>;
  /** A connection of its own. `onEnd` is called when it has broken, or was ended. */
  connect(onEnd: () => void): Promise<Client>;
  readonly close: () => Promise<void>;
}

/** The clock of the server, which processes of many machines share. */
export const nowMs = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** The time for which a server may be away. */
const patienceMs = 60_000;
const [firstPauseMs, longestPauseMs] = [20, 500];

/** Makes the database. It connects at the first call; after a failure the next call connects again. */
export function postgresDatabase(place: Place): PostgresDatabase {
  const outside = AsyncLocalStorage.snapshot(); // connections serve all runs: they do not belong to the call in which one is made
  let opened: Promise<OpenPool> | undefined;
  let isClosed = false;
  async function open(): Promise<OpenPool> {
    if (isClosed) throw closed();
    opened ??= outside(openPool, place).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  }
  async function attempt<Result>(work: (open: OpenPool) => Promise<Result>): Promise<Result> {
    const found = await open();
    const until = performance.now() + patienceMs;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        return await outside(work, found);
      } catch (error) {
        if (isClosed) throw closed(error);
        if (!mayPass(error) || performance.now() >= until) throw failureOf(error, found.name);
        await sleep(pauseMs);
      }
    }
  }
  return {
    query: (sql, values) =>
      attempt(({ pool, mayShare }) =>
        rowsOf(pool, mayShare ? unprepared(sql, values) : prepared(sql, values)),
      ),
    transaction: (work) => attempt(({ pool }) => together(pool, work)),
    patiently: (work) => attempt(work),
    connect: async (onEnd) => outside(connected, (await open()).client(), onEnd),
    async close() {
      isClosed = true;
      const found = await opened?.catch(() => undefined);
      if (found !== undefined && !found.pool.ending) await found.pool.end();
    },
  };
}

function closed(cause?: unknown): WritError {
  return new WritError(
    "postgres-failed",
    { server: "its address", reason: "the store was closed" },
    { cause },
  );
}

/** The rows of a statement, in one round trip. */
export async function rowsOf(on: Pick<Pool, "query">, statement: QueryConfig): Promise<readonly Row[]> {
  return (await on.query<Row>(statement)).rows;
}

/** A statement that the server prepares once per connection, under the hash of its text. */
export function prepared(sql: string, values: readonly unknown[] = []): QueryConfig {
  return { name: hash("sha1", sql), ...unprepared(sql, values) };
}

function unprepared(sql: string, values: readonly unknown[] = []): QueryConfig {
  return { text: sql, values: [...values] };
}

/**
 * Begins a transaction. A role may have another level, which does not see changes made while a lock was waited for. The server ends the transaction of a process
 * that stands still, or vanished, in the middle of it: its locks would keep all others from the run.
 */
const begin = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = '15s'";

async function together<Result>(pool: Pool, work: (query: Query) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  let isBroken = true;
  try {
    await client.query(begin);
    const result = await work((sql, values) => rowsOf(client, prepared(sql, values)));
    await client.query("COMMIT");
    isBroken = false;
    return result;
  } catch (error) {
    if (!isAway(error))
      isBroken = !(await client.query("ROLLBACK").then(
        () => true,
        () => false,
      ));
    throw error;
  } finally {
    client.release(isBroken);
  }
}

async function connected(client: Client, onEnd: () => void): Promise<Client> {
  client.on("error", () => undefined); // its end follows
  await client.connect();
  client.once("end", onEnd);
  return client;
}

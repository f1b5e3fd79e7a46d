import type { Client, Pool, QueryResultRow } from "pg";
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
 * A PostgreSQL database with the tables of a store. A server that is away for a moment, as it is while it starts anew, is waited for, and a
 * statement whose end nobody saw, or that was given up since others were at work, is said again: each has to bear that it happens twice. What fails otherwise is one of the codes `postgres-…`.
 */
export interface PostgresDatabase {
  readonly query: Query;
  /** All of it happens, or nothing when `work` throws. */
  readonly transaction: <Result>(work: (query: Query) => Promise<Result>) => Promise<Result>;
  /** Begins `work` again for as long as the server is away. */
  patiently<Result>(work: () => Promise<Result>): Promise<Result>;
  /** A connection of its own. `onEnd` is called when it has broken, or was ended. */
  connect(onEnd: () => void): Promise<Client>;
  readonly close: () => Promise<void>;
}

/** The clock of the server: processes of many machines share it. */
export const nowMs = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** The time for which a server may be away. */
const patienceMs = 60_000;
const [firstPauseMs, longestPauseMs] = [20, 500];

/** The database is looked for at the first call; after one that failed the next call looks again. */
export function postgresDatabase(place: Place): PostgresDatabase {
  const outside = AsyncLocalStorage.snapshot(); // connections serve all runs: they are not part of the call in which one is made
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
    query: (sql, values) => attempt(({ pool }) => rowsOf(pool, sql, values)),
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

/** The rows of a statement, in one round trip. A connection has the server prepare it once, by its name: the hash of it. */
export async function rowsOf(
  on: Pick<Pool, "query">,
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  const { rows } = await on.query<Row>({ name: hash("sha1", sql), text: sql, values: [...values] });
  return rows;
}

async function together<Result>(pool: Pool, work: (query: Query) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  let isBroken = true;
  try {
    await client.query("BEGIN ISOLATION LEVEL READ COMMITTED"); // a role may have another one, which does not see what came while a lock was waited for
    const result = await work((sql, values) => rowsOf(client, sql, values));
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

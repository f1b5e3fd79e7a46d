import type { Client, ClientBase } from "pg";
import { setTimeout as sleep } from "node:timers/promises";

/** An index of tables that earlier versions lacked. */
export interface LaterIndex {
  readonly name: string;
  /** The table, and the columns of it, as a statement names them. */
  readonly on: string;
}

/** The indexes of a store. */
export interface StoreIndexes {
  /** The schema, quoted. */
  readonly schema: string;
  readonly indexes: readonly LaterIndex[];
}

/** The statement that makes an index beside its new table. */
export const newIndex = ({ name, on }: LaterIndex): string => `CREATE INDEX ${name} ON ${on};`;

/**
 * The statement that makes an absent index in a transaction: it blocks writers of its table. A role that does not own the table, or only reads, goes on
 * without it.
 */
export const absentIndex = ({ name, on }: LaterIndex): string =>
  `DO $index$ BEGIN CREATE INDEX IF NOT EXISTS ${name} ON ${on}; EXCEPTION WHEN insufficient_privilege OR read_only_sql_transaction THEN NULL; END $index$;`;

/** The codes of PostgreSQL for a role that does not own the table, and for one that only reads. */
const notAllowed: ReadonlySet<unknown> = new Set(["42501", "25006"]);

/** The number of the lock of the process that builds. Not that of the makers of tables: who waits for a lock in a statement holds up the building. */
const buildersLock = 0x77726975;

/** The pause between two looks at what another process builds. */
const pauseMs = 200;

/** The indexes that are absent, or that a process left unfinished when it died. */
export async function missingIndexes(
  client: ClientBase,
  { schema, indexes }: StoreIndexes,
): Promise<readonly LaterIndex[]> {
  const { rows } = await client.query<{ at: number }>(
    `SELECT nth::int - 1 AS at FROM unnest($1::text[]) WITH ORDINALITY AS later (name, nth)
      LEFT JOIN pg_index ON indexrelid = to_regclass(name) WHERE indisvalid IS NOT TRUE ORDER BY nth`,
    [indexes.map(({ name }) => `${schema}.${name}`)],
  );
  return rows.flatMap(({ at }) => indexes[at] ?? []);
}

/**
 * Builds the missing indexes of tables that others write meanwhile. One process builds; the others wait until it has, or has died. A role that does not own the
 * tables, or only reads, goes on without them.
 *
 * @param client not connected, without a bound on the time of a statement
 */
export async function buildIndexes(client: Client, store: StoreIndexes): Promise<void> {
  client.on("error", () => undefined); // the statement that follows fails
  try {
    await client.connect();
    await client.query("SET statement_timeout = 0; SET lock_timeout = 0"); // those of the role are meant for statements of every day
    while ((await missingIndexes(client, store)).length > 0) {
      if (await isBuilder(client)) return await build(client, store);
      await sleep(pauseMs);
    }
  } catch (error) {
    if (!notAllowed.has(Reflect.get(Object(error), "code"))) throw error;
  } finally {
    await client.end().catch(() => undefined); // and with it the lock
  }
}

async function isBuilder(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ got: boolean }>(
    `SELECT pg_try_advisory_lock(${buildersLock}) AS got`,
  );
  return rows[0]?.got === true;
}

async function build(client: ClientBase, store: StoreIndexes): Promise<void> {
  for (const { name, on } of await missingIndexes(client, store)) {
    await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${store.schema}.${name}`);
    await client.query(`CREATE INDEX CONCURRENTLY ${name} ON ${on}`);
  }
}

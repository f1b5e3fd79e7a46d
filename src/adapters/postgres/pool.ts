import type pgTypes from "pg";
import type { Client, ClientBase, ClientConfig, Pool } from "pg";
import { messageOf, WritError } from "../../error/writ-error.ts";
import { importInstalled, importPeer } from "../peer.ts";
import { type DatabaseName, failureOf } from "./failures.ts";
import {
  absentIndex,
  buildIndexes,
  type LaterIndex,
  missingIndexes,
  type StoreIndexes,
} from "./later-indexes.ts";
import type { PostgresOptions } from "./options.ts";
import { isPooled, isShared } from "./pooler.ts";

/** The tables of a store. */
export interface Tables {
  /** Statements that make them. */
  readonly make: string;
  /** The columns of tables that earlier versions lacked, each with the statements that add it. */
  readonly later?: readonly { readonly relation: string; readonly column: string; readonly add: string }[];
  /** The indexes that earlier versions lacked. */
  readonly indexes?: readonly LaterIndex[];
  /** The table that is made last: if it exists, all do. */
  readonly last: string;
}

/** A database, with the tables that must exist. */
export interface Place {
  /** The address. Without it, the variables `PGHOST`, `PGUSER` and so on apply. */
  readonly url: string | undefined;
  /** The schema, quoted. */
  readonly schema: string;
  readonly tables: Tables;
  /** True if the store needs a connection of the server for itself: for locks, and for messages of others. */
  readonly needsOwnConnection?: boolean;
  readonly options: PostgresOptions;
}

/** The connections to a database whose tables exist. */
export interface OpenPool {
  readonly pool: Pool;
  readonly name: DatabaseName;
  /** True if a pooler may give each statement another connection of the server: none can be prepared. */
  readonly mayShare: boolean;
  /** Makes a connection outside of the pool, without connecting it. */
  readonly client: () => Client;
}

/** The package, as it is imported at its first use. */
type Pg = Pick<typeof pgTypes, "Client" | "Pool">;

/** The time that one statement may take before its connection counts as broken. */
const statementMs = 60_000;
const connectMs = 10_000;

/** The number of the lock with which processes that begin at once make the tables one after the other. */
const makersLock = 0x77726974;

/** @throws WritError `definition-invalid` for an address that cannot be read, `peer-missing`, `postgres-unreachable`, `postgres-refused`, `postgres-forbidden`, `postgres-pooled`, `postgres-failed` */
export async function openPool(place: Place): Promise<OpenPool> {
  const { url, schema, options } = place;
  const { connections = 10, client } = options;
  const peer = { package: "pg", purpose: "stores in PostgreSQL" };
  const pg = await importPeer(() => importInstalled<Pg>("pg"), peer);
  const settings: ClientConfig = {
    ...(url === undefined ? {} : { connectionString: url }),
    application_name: "writ",
    connectionTimeoutMillis: connectMs,
    query_timeout: statementMs,
    keepAlive: true,
    ...client,
  };
  const name = nameOf(clientFor(pg, settings), schema);
  const pool = new pg.Pool({ ...settings, max: connections, allowExitOnIdle: true });
  pool.on("error", () => undefined); // an idle connection broke: the next statement opens another
  // A connection that breaks between two statements of a transaction has no other listener, and would end the process: its next statement fails.
  pool.on("connect", (connected) => void connected.on("error", () => undefined));
  const newClient = (): Client => new pg.Client(settings);
  try {
    const mayShare = await mayShareConnections(pool, place, newClient);
    if (mayShare && place.needsOwnConnection === true)
      throw new WritError("postgres-pooled", { server: name.server });
    const missing = await makeTables(pool, place, mayShare);
    if (missing.length > 0)
      await buildIndexes(new pg.Client({ ...settings, query_timeout: 0 }), indexesOf(place));
    return { pool, name, mayShare, client: newClient };
  } catch (error) {
    await pool.end();
    throw failureOf(error, name);
  }
}

function clientFor({ Client: OfPg }: Pg, settings: ClientConfig): Client {
  try {
    return new OfPg(settings);
  } catch (cause) {
    const reason = `it cannot be read: ${messageOf(cause)}. Signs like / # ? of a user or a password are written %2F %23 %3F.`;
    throw new WritError("definition-invalid", { where: "The address of PostgreSQL", reason }, { cause });
  }
}

function nameOf({ host, port, database = "", user = "" }: Client, schema: string): DatabaseName {
  return { server: `${host}:${port}/${database}`, role: user, schema };
}

/** True if a pooler may give each statement another connection. Where the store only needs statements, every pooler counts as one that may. */
async function mayShareConnections(
  pool: Pool,
  { needsOwnConnection = false }: Place,
  newClient: () => Client,
): Promise<boolean> {
  const client = await pool.connect();
  try {
    return (await isPooled(client)) && (!needsOwnConnection || (await isShared(client, newClient())));
  } finally {
    client.release();
  }
}

/** Makes the tables. Returns the indexes that are still to be built. */
async function makeTables(pool: Pool, place: Place, mayShare: boolean): Promise<readonly LaterIndex[]> {
  const client = await pool.connect();
  try {
    if ((await lacking(client, place)) !== "") await makeAlone(client, place);
    let missing = await missingIndexes(client, indexesOf(place));
    if (mayShare && missing.length > 0) {
      await makeAlone(client, place, missing.map(absentIndex).join("")); // the lock of a builder needs a connection of its own
      missing = [];
    }
    client.release();
    return missing;
  } catch (error) {
    client.release(true); // closes the connection, and with it the transaction
    throw error;
  }
}

const indexesOf = ({ schema, tables: { indexes = [] } }: Place): StoreIndexes => ({ schema, indexes });

/** Makes what is missing, and carries out `more`, while no other process does. */
async function makeAlone(client: ClientBase, place: Place, more = ""): Promise<void> {
  await client.query("BEGIN ISOLATION LEVEL READ COMMITTED"); // each statement sees what others made while the lock was waited for
  await client.query("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0"); // those of the role are meant for statements of every day
  await client.query(`SELECT pg_advisory_xact_lock(${makersLock})`);
  await client.query((await lacking(client, place)) + more); // all of it, or nothing
  await client.query("COMMIT");
}

/** The statements that make what is missing. A role without the right to make tables can use existing ones. */
async function lacking(client: ClientBase, { schema, tables }: Place): Promise<string> {
  const { last, make, later = [] } = tables;
  const { rows } = await client.query<{ isMade: boolean; hasSchema: boolean; lacks: number[] }>(
    `SELECT to_regclass($1) IS NOT NULL AS "isMade", to_regnamespace($4) IS NOT NULL AS "hasSchema", ARRAY(
      SELECT nth::int - 1 FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS later (relation, name, nth) WHERE NOT EXISTS (
        SELECT FROM pg_attribute WHERE attrelid = to_regclass(relation) AND attname = name AND NOT attisdropped) ORDER BY nth) AS lacks`,
    [last, later.map(({ relation }) => relation), later.map(({ column }) => column), schema],
  );
  const { isMade, hasSchema, lacks } = rows[0] ?? { isMade: false, hasSchema: false, lacks: [] };
  if (isMade) return lacks.map((nth) => later[nth]?.add).join("");
  return hasSchema ? make : `CREATE SCHEMA ${schema}; ${make}`;
}

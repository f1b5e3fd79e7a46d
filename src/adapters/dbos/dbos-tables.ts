import type * as sdk from "@dbos-inc/dbos-sdk";
import type { DBOSClient } from "@dbos-inc/dbos-sdk";
import type pgTypes from "pg";
import type { Pool } from "pg";
import { setTimeout as sleep } from "node:timers/promises";
import type { DispatchedRun } from "../../durable/dispatcher.ts";
import type { DbosPlace } from "./options.ts";
import { codeOf } from "../../util/thrown.ts";
import { importInstalled, importPeer } from "../peer.ts";
import { postgresDatabase, type PostgresDatabase, prepared, rowsOf } from "../postgres/database.ts";
import { quoted } from "../postgres/options.ts";
import { toKey } from "../stored-text.ts";

/** The package, as it is imported at its first use. */
export type Dbos = Pick<typeof sdk, "DBOS" | "DBOSClient">;

/** The tables of DBOS, through connections of their own. */
export interface DbosTables {
  readonly dbos: Dbos["DBOS"];
  /** The connections of DBOS in this process. */
  readonly pool: Pool;
  readonly client: DBOSClient;
  /** False before the first worker of an agent has made its queue, and the tables. */
  hasQueueOf(agent: string): Promise<boolean>;
  close(): Promise<void>;
}

/** The same in every process, whatever code it has: another version would strand the queued runs. */
export const application = { name: "writ", version: "1" } as const;

/** The name of the only workflow. Its only step carries a run out. */
export const workflowName = "writ-run";

/** The queue of the runs of an agent. */
export const queueOf = (agent: string): string => `writ/${agent}`;

const silent = (): void => undefined;
/** Silences DBOS, which would print each start and each attempt. A final failure rejects. */
export const logger: Readonly<Record<"debug" | "info" | "warn" | "error", () => void>> = {
  debug: silent,
  info: silent,
  warn: silent,
  error: silent,
};

/** The database of DBOS, in which writ needs no tables of its own. */
export function serverOf({ url, schema }: DbosPlace): PostgresDatabase {
  const tables = { make: "", last: "pg_catalog.pg_class" };
  const options = { connections: 1 };
  return postgresDatabase({ url, schema: quoted(schema), tables, options, needsOwnConnection: true });
}

/**
 * Has DBOS make its tables. Processes that do so at once would lock each other out, and one that waits in a statement would delay the indexes, so
 * each tries again until it is alone.
 */
export async function makeAlone(place: DbosPlace, make: () => Promise<void>): Promise<void> {
  const server = serverOf(place);
  const client = await server.connect(silent);
  const take = "SELECT pg_try_advisory_lock(hashtext($1)) AS taken";
  try {
    while ((await rowsOf(client, prepared(take, [place.schema])))[0]?.["taken"] !== true) await sleep(50);
    await make();
  } finally {
    await client.end();
    await server.close();
  }
}

/** Finds the packages, and connects. @throws WritError `peer-missing` */
export async function openTables(place: DbosPlace): Promise<DbosTables> {
  const { DBOS, DBOSClient } = await importPeer(() => importInstalled<Dbos>("@dbos-inc/dbos-sdk"), {
    package: "@dbos-inc/dbos-sdk",
    purpose: "durable runs that DBOS hands out",
  });
  const { Pool } = await importPeer(() => importInstalled<Pick<typeof pgTypes, "Pool">>("pg"), {
    package: "pg",
    purpose: "stores in PostgreSQL",
  });
  const { url, schema } = place;
  // A program that has started its runs may end: these connections do not keep it alive.
  const pool = new Pool({ connectionString: url, allowExitOnIdle: true });
  pool.on("error", silent); // an idle connection broke: the next statement opens another
  const client = await DBOSClient.create({
    systemDatabaseUrl: url,
    systemDatabasePool: pool,
    systemDatabaseSchemaName: schema,
    applicationName: application.name,
    logger,
  });
  const known = new Set<string>();
  return {
    dbos: DBOS,
    pool,
    client,
    async hasQueueOf(agent) {
      if (!known.has(agent) && (await isQueue(client, queueOf(agent)))) known.add(agent);
      return known.has(agent);
    },
    async close() {
      await client.destroy();
      if (!pool.ending) await pool.end();
    },
  };
}

/** The SQLSTATEs of a schema, a table or a column that does not exist (yet). */
const absent = /^(?:3F000|42P01|42703)$/;

async function isQueue(client: DBOSClient, name: string): Promise<boolean> {
  try {
    return (await client.retrieveQueue(name)) !== null;
  } catch (error) {
    if (absent.test(codeOf(error) ?? "")) return false;
    throw error;
  }
}

/** The workflows that have not ended. */
const open = ["ENQUEUED", "DELAYED", "PENDING"] as const;

/** The name of a run in its workflows, by which they are found. */
const named = (id: string): { readonly run: string } => ({ run: toKey(id) });

/** The number of workflows of a run that have not ended: queued, or handed out. */
export async function queuedTimes({ client }: DbosTables, { id }: DispatchedRun): Promise<number> {
  const given = { workflowName, attributes: named(id), status: [...open] };
  return (await client.listWorkflows({ ...given, limit: 2, loadInput: false, loadOutput: false })).length;
}

/** The options for announcing a run later. */
export interface Later {
  readonly delaySeconds?: number;
  /** A name under which a run is queued only once at a time. */
  readonly once?: string;
}

/** Puts a run into the queue of its agent. If there is no queue yet, it does nothing: the first worker searches for ready runs. */
export async function enqueue(
  tables: DbosTables,
  { id, agent }: DispatchedRun,
  { delaySeconds, once }: Later = {},
): Promise<void> {
  if (!(await tables.hasQueueOf(agent))) return;
  await tables.client.enqueue(
    {
      queueName: queueOf(agent),
      workflowName,
      appVersion: application.version,
      attributes: named(id),
      delaySeconds,
      ...(once === undefined
        ? {}
        : { deduplicationID: `${once} ${id}`, duplicationPolicy: "return-existing" }),
    },
    id,
    agent,
  );
}

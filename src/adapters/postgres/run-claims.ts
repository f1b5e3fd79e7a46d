import { hostname } from "node:os";
import { protocol } from "../../durable/protocol.ts";
import type { StoredRun } from "../../durable/run-store.ts";
import { WritError } from "../../error/writ-error.ts";
import { runIn } from "../stored-run.ts";
import { fromKey, toKey } from "../stored-text.ts";
import type { Query, Row } from "./database.ts";
import { heldLocks } from "./held-locks.ts";
import { columns, progressOfRow, type RunTables } from "./run-tables.ts";
import type { Claim } from "./run-steps.ts";
import type { LiveSession } from "./session.ts";

/** A run that this process took. */
export interface Taken extends Claim {
  readonly run: StoredRun;
  /** Releases the run, so that others can take it. */
  readonly release: () => Promise<void>;
}

/** A run whose lock this process has, with the statement that takes its row. */
interface Locked {
  readonly sql: string;
  readonly which: unknown;
  readonly lock: unknown;
}

/** The runs of this process. Each is an advisory lock of its one live session. */
export interface RunClaims {
  /** Undefined if there is no such run. @throws WritError `run-claimed` */
  take(id: string): Promise<Taken | undefined>;
  /** Takes the oldest run of some agents that can go on, or the run of an id. Of the agents in `alone` it takes only runs without a session. */
  takeNext(
    agents: readonly string[],
    id: string | undefined,
    alone: readonly string[],
  ): Promise<Taken | undefined>;
}

/** The number of the oldest runs that one statement tries, because others may take some of them at the same time. */
const tried = 16;

const locking = (free: string): string =>
  `WITH free AS MATERIALIZED (${free}) SELECT number, lock FROM free WHERE pg_try_advisory_lock(lock) LIMIT 1`;

export function runClaims(session: LiveSession, { runs, told, lockOf }: RunTables): RunClaims {
  // A session can take a lock twice, so its own locks are checked as well.
  const lockOne = `SELECT CASE WHEN $1::bigint IN (${heldLocks}) THEN false ELSE pg_try_advisory_lock($1) END AS locked`;
  const isFree = `status IN ('ready', 'running') AND (session IS NULL OR agent <> ALL ($2)) AND protocol <= ${protocol} AND lock NOT IN (${heldLocks})`;
  const oldest = `SELECT number, lock FROM ${runs} WHERE agent = own.name AND ${isFree} ORDER BY number + 0 LIMIT ${tried}`; // in the order of the index of an agent's runs: that of all runs would do for `number`
  const lockNext = locking(
    `SELECT number, lock FROM unnest($1::text[]) AS own (name), LATERAL (${oldest}) AS of_agent ORDER BY number LIMIT ${tried}`, // looks at no run of another agent
  );
  const lockReady = locking(
    `SELECT number, lock FROM ${runs} WHERE id = $3 AND agent = ANY ($1) AND ${isFree}`,
  );
  const unlock = "SELECT pg_advisory_unlock($1)";
  const taking = (
    which: string,
  ): string => `UPDATE ${runs} SET epoch = epoch + 1, owner = $2, woken = false, protocol = greatest(protocol, ${protocol}),
      status = CASE WHEN ended IS NULL THEN 'running' ELSE status END WHERE ${which}
    RETURNING number, epoch, ${columns}, ${told(progressOfRow)}`;
  const takeOne = taking("id = $1 AND status <> 'moved'");
  const takeReady = taking("number = $1 AND status IN ('ready', 'running')");
  const find = `SELECT id, owner FROM ${runs} WHERE id = $1`;
  const mine = JSON.stringify({ host: hostname(), pid: process.pid });

  /** Takes the row of a run whose lock was taken; if that fails, it releases the lock. */
  async function takeRow(query: Query, { sql, which, lock }: Locked): Promise<Taken | undefined> {
    let row: Row | undefined;
    try {
      [row] = await query(sql, [which, mine]);
    } finally {
      if (row === undefined) await query(unlock, [lock]);
    }
    if (row === undefined) return undefined;
    const run = runIn(row);
    return {
      id: run.id,
      number: String(row["number"]),
      epoch: String(row["epoch"]),
      run,
      release: session.hold(String(lock)),
    };
  }

  async function takenNext(
    query: Query,
    agents: readonly (readonly string[])[],
    id: string | undefined,
  ): Promise<Taken | undefined> {
    for (;;) {
      const [found] = await (id === undefined
        ? query(lockNext, agents)
        : query(lockReady, [...agents, toKey(id)]));
      if (found === undefined) return undefined;
      const { number, lock } = found;
      const next = await takeRow(query, { sql: takeReady, which: number, lock });
      if (next !== undefined) return next; // otherwise it has ended, or waits, since it was read
    }
  }

  return {
    take: (id) =>
      session.use(async (query) => {
        const lock = lockOf(id);
        const [tried] = await query(lockOne, [lock]);
        if (tried?.["locked"] !== true)
          throw claimedBy((await query(find, [toKey(id)]))[0] ?? { id: toKey(id) });
        return takeRow(query, { sql: takeOne, which: toKey(id), lock });
      }),
    takeNext: (agents, id, alone) =>
      session.use((query) => takenNext(query, [agents.map(toKey), alone.map(toKey)], id)),
  };
}

/** The error for a run that a live process has. */
export function claimedBy({ id, owner }: Row): WritError<"run-claimed"> {
  return new WritError("run-claimed", {
    id: fromKey(id),
    owner: typeof owner === "string" ? nameOf(owner) : "another process",
  });
}

function nameOf(owner: string): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a process wrote it here
  const { host, pid } = JSON.parse(owner) as { readonly host: string; readonly pid: number };
  return `process ${pid}${host === hostname() ? "" : ` on the machine "${host}"`}`;
}

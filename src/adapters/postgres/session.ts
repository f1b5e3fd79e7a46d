import type { Client } from "pg";
import { setTimeout as sleep } from "node:timers/promises";
import { type PostgresDatabase, prepared, type Query, rowsOf } from "./database.ts";
import { isAway } from "./failures.ts";
import { heldLocks } from "./held-locks.ts";

/**
 * The one connection that holds the claims of this process, and receives the changes of runs. A claim is an advisory lock of this connection: the
 * server releases it when the process dies. If the connection breaks while the process lives, it makes another one, which takes the locks again that
 * no other process has taken meanwhile. Locks only show that a run is taken; the epoch in the run's row keeps others from writing.
 */
export interface LiveSession {
  /** Carries out statements here, and repeats `work` if the connection breaks. */
  use<Result>(work: (query: Query) => Promise<Result>): Promise<Result>;
  /** Notes a lock that was taken here. The returned function releases it. */
  hold(lock: string): () => Promise<void>;
  /** Calls `onNews` with each message, and without one if messages may have been missed, until the returned function is called. */
  listen(onNews: (message?: string) => void): () => void;
  close(): Promise<void>;
}

/** Settings with which a machine that vanished is noticed after some 15 seconds, and an idle connection is never closed. */
const settings = `SELECT set_config(name, wanted, false) FROM pg_settings JOIN (VALUES ('idle_session_timeout', '0'),
  ('tcp_keepalives_idle', '5'), ('tcp_keepalives_interval', '3'), ('tcp_keepalives_count', '3')) AS mine (name, wanted) USING (name)`;

/** Takes a lock once: a connection could take it twice, and would have to release it twice. */
const takeOnce = `SELECT CASE WHEN $1::bigint IN (${heldLocks} AND pid = pg_backend_pid()) THEN true
  ELSE pg_try_advisory_lock($1) END AS taken`;
const giveUp = "SELECT pg_advisory_unlock($1)";

/** A connection, with the function that carries out statements on it, one after the other. */
interface Line {
  readonly client: Client;
  readonly query: Query;
}

/** The pause between two attempts to get a connection or a lock again. */
const pauseMs = 250;

/** @param channel the quoted name of the channel on which others announce changes */
export function liveSession(database: PostgresDatabase, channel: string): LiveSession {
  const held = new Map<string, symbol>();
  const listening = new Set<(message?: string) => void>();
  let line: Promise<Line> | undefined;
  let isClosed = false;

  const tell = (message?: string): void => listening.forEach((onNews) => onNews(message));

  async function begin(onEnd: () => void): Promise<Line> {
    const client = await database.connect(onEnd);
    const query = inTurn(client);
    try {
      client.on("notification", ({ payload }) => tell(payload === "" ? undefined : payload));
      await query(settings);
      await query(`LISTEN ${channel}`);
      await takeAgain(query, held.keys());
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
    settle();
    tell();
    return { client, query };
  }

  /** Takes locks again. One that the server still gives to the old connection, or to another process, is retried until the run is given up. */
  async function takeAgain(query: Query, locks: Iterable<string>): Promise<void> {
    const missing: string[] = [];
    for (const lock of locks) {
      if (!held.has(lock)) continue;
      const [row] = await query(takeOnce, [lock]);
      if (row?.["taken"] !== true) missing.push(lock);
    }
    if (missing.length === 0) return;
    setTimeout(() => void takeAgain(query, missing).catch(() => undefined), pauseMs).unref();
  }

  function current(): Promise<Line> {
    if (line !== undefined) return line;
    const fresh = begin(() => {
      if (isOver(fresh) && !isClosed && held.size + listening.size > 0) void restore();
    });
    fresh.catch(() => isOver(fresh)); // a waiting caller tries again
    line = fresh;
    return fresh;
  }

  /** True if the connection was the one in use. */
  function isOver(ended: Promise<Line>): boolean {
    if (line !== ended) return false;
    line = undefined;
    return true;
  }

  async function restore(): Promise<void> {
    if (isClosed) return;
    await current().catch(() => sleep(pauseMs, undefined, { ref: false }).then(restore));
  }

  /** Keeps the program alive while somebody listens, or waits for the end of the connection. */
  function settle(): void {
    line?.then(
      ({ client }) => keepAwake(client, isClosed || listening.size > 0),
      () => undefined,
    );
  }

  return {
    use: (work) => database.patiently(async () => work((await current()).query)),
    hold(lock) {
      const mine = Symbol(lock); // another journal may have it later
      held.set(lock, mine);
      return async () => {
        if (held.get(lock) !== mine) return;
        held.delete(lock);
        const on = await line?.catch(() => undefined);
        await on?.query(giveUp, [lock]).catch(() => undefined); // a broken connection has released it
      };
    },
    listen(onNews) {
      const own = (message?: string): void => onNews(message); // the same function may listen twice
      listening.add(own);
      void restore().then(settle);
      return () => {
        listening.delete(own);
        settle();
      };
    },
    async close() {
      isClosed = true;
      const on = await line?.catch(() => undefined);
      if (on === undefined) return;
      settle();
      await on.client.end().catch(() => undefined);
    },
  };
}

/**
 * Carries out one statement at a time: a connection can do no more, and `pg` warns otherwise. A connection that does not answer is ended and
 * replaced: the system would report it as broken only after a quarter of an hour.
 */
function inTurn(client: Client): Query {
  let before: Promise<unknown> = Promise.resolve();
  return (sql, values) => {
    const rows = before.then(() => rowsOf(client, prepared(sql, values)));
    before = rows.catch((error: unknown) => {
      if (isAway(error)) client.end().catch(() => undefined);
    });
    return rows;
  };
}

/** Sets whether a connection keeps the program alive. The types of `pg` lack these two functions. */
function keepAwake(client: Client, isWanted: boolean): void {
  if (isWanted && "ref" in client && typeof client.ref === "function") client.ref();
  if (!isWanted && "unref" in client && typeof client.unref === "function") client.unref();
}

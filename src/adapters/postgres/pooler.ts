import type { Client, ClientBase } from "pg";
import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { heldLocks } from "./held-locks.ts";

/** The time that a pooler has to reset the connection of a client that has left, and the pause between two looks. */
const [resetMs, pauseMs] = [3_000, 25];

/** True if a pooler stands before the server: it gives its clients other numbers than those of the server's processes. */
export async function isPooled(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return !("processID" in client) || client.processID !== rows[0]?.pid;
}

/**
 * True if a pooler lends the same connection of the server to several clients, or leaves locks behind when a client goes. `other` takes a lock and ends: the
 * lock has to be there while `other` lives, never belongs to the connection of `client`, and has to go with `other`.
 */
export async function isShared(client: ClientBase, other: Client): Promise<boolean> {
  const lock = randomInt(2 ** 47);
  // A lock of its own is released at once: nobody else would do so.
  const look = `SELECT ${lock} IN (${heldLocks}) AS held, CASE WHEN ${lock} IN (${heldLocks} AND pid = pg_backend_pid())
    THEN pg_advisory_unlock(${lock}) ELSE false END AS mine`;
  const seen = async () => (await client.query<{ held: boolean; mine: boolean }>(look)).rows[0];
  other.on("error", () => undefined); // the statement that follows fails
  try {
    await other.connect();
    await other.query(`SELECT pg_advisory_lock(${lock})`);
    const first = await seen();
    if (first?.held !== true || first.mine) return true;
  } finally {
    await other.end().catch(() => undefined);
  }
  for (const until = performance.now() + resetMs; performance.now() < until; await sleep(pauseMs)) {
    const now = await seen();
    if (now?.held === false) return false;
    if (now?.mine === true) return true;
  }
  return true;
}

import { hash } from "node:crypto";
import type { Query } from "../postgres/database.ts";
import { quoted } from "../postgres/options.ts";
import { liveSession } from "../postgres/session.ts";
import type { DbosPlace } from "./options.ts";
import { type DbosTables, serverOf, workflowName } from "./dbos-tables.ts";

/**
 * Finds dead executors. Each executor holds an advisory lock on one connection, which the server releases when it breaks; the process that then gets the
 * lock returns the executor's workflows to their queues. DBOS itself offers this only as a service.
 */
export interface ExecutorGuard {
  /** Takes the lock of this executor. */
  stand(): Promise<void>;
  /** Returns the workflows of dead executors to some queues. */
  takeOver(tables: DbosTables, queues: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

const lock = "SELECT pg_try_advisory_lock($1) AS taken";
const unlock = "SELECT pg_advisory_unlock($1)";
/** The most workflows that are listed, or returned, at a time. */
const most = 1000;

export function executorGuard(place: DbosPlace, executor: string): ExecutorGuard {
  const { schema } = place;
  const database = serverOf(place);
  const session = liveSession(database, quoted(`${schema} executors`));
  const lockOf = (one: string): string =>
    hash("sha256", `${schema} executor ${one}`, "buffer").readBigInt64BE().toString();

  async function giveBack(
    query: Query,
    dead: string,
    { tables, queueName }: { tables: DbosTables; queueName: string[] },
  ) {
    const [row] = await query(lock, [lockOf(dead)]);
    if (row?.["taken"] !== true) return;
    try {
      const { client } = tables;
      const left = await client.listWorkflows({
        workflowName,
        status: "PENDING",
        executorId: dead,
        queueName,
        limit: most,
      });
      for (const queue of queueName) {
        const ids = left.filter((each) => each.queueName === queue).map(({ workflowID }) => workflowID);
        if (ids.length > 0) await client.resumeWorkflows(ids, { queueName: queue });
      }
    } finally {
      await query(unlock, [lockOf(dead)]);
    }
  }

  return {
    async stand() {
      await session.use((query) => query(lock, [lockOf(executor)]));
      session.hold(lockOf(executor));
    },
    async takeOver(tables, queues) {
      const queueName = [...queues];
      const given = { workflowName, status: "PENDING", queueName, limit: most, loadInput: false } as const;
      const others = new Set<string>();
      let pending: readonly { readonly executorId?: string }[] = [];
      for (let offset = 0; offset === 0 || pending.length === most; offset += most) {
        pending = await tables.client.listWorkflows({ ...given, queueName, offset });
        for (const { executorId = "" } of pending) others.add(executorId);
      }
      others.delete(executor);
      for (const dead of others) await session.use((query) => giveBack(query, dead, { tables, queueName }));
    },
    async close() {
      await session.close();
      await database.close();
    },
  };
}

import type { Dispatcher } from "../../durable/dispatcher.ts";
import { checkShape, closed, fromOne } from "../../error/check-shape.ts";
import { WritError } from "../../error/writ-error.ts";
import { map, optional, shapeOf, string } from "../../util/shape.ts";
import { isServed, serveHere } from "./dbos-serving.ts";
import { type DbosTables, enqueue, openTables } from "./dbos-tables.ts";
import type { DbosOptions, DbosPlace } from "./options.ts";

/** A dispatcher with connections. */
export interface DbosDispatcher extends Dispatcher, AsyncDisposable {
  /**
   * Closes the connections with which runs are announced. It may be closed twice.
   *
   * @throws WritError `definition-invalid` while a worker uses it: drain the worker first
   */
  close(): Promise<void>;
}

/**
 * Hands out durable runs with DBOS (the package `@dbos-inc/dbos-sdk`, an optional peer) in PostgreSQL: bounds hold over all workers of many machines, and
 * its tables list the queued runs. A run that can go on is one workflow of one step, which carries the run out in its store until it ends or
 * waits. The store stays the record: a run that DBOS hands out twice is carried out once. Each process is an executor of its own, and the runs of
 * a dead one go to the others. DBOS runs once in a process: only one worker at a time can use it, and the program cannot launch DBOS itself.
 *
 * @param url like `postgresql://user:password@host:5432/database`, preferably that of the store
 * @throws WritError `definition-invalid`, also from `work()` if this process has another worker of DBOS. If DBOS is absent or fails, it warns:
 * `WRIT_STORE_FAILED`
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { dbosDispatcher } from "writ/dbos";
 * import { durableRuns } from "writ/durable";
 * import { postgresRuns } from "writ/postgres";
 *
 * const url = "postgresql://writ@localhost/agents";
 * const payer = agent({ name: "payer", model: "ollama/qwen2.5:7b" });
 * const dispatcher = dbosDispatcher(url, { queues: { payer: { atOnce: 50, rate: { most: 100, perSeconds: 60 } } } });
 * const runs = durableRuns({ store: postgresRuns(url), dispatcher, agents: [payer] });
 * const worker = runs.work({ concurrency: 20 });
 * process.once("SIGTERM", () => void worker.drain().then(() => process.exit()));
 * ```
 */
export function dbosDispatcher(url: string, options: DbosOptions = {}): DbosDispatcher {
  checkShape("dbosDispatcher()", { url, options }, shape);
  const { schema = "writ_dbos", queues = {} } = options;
  const place: DbosPlace = { url, schema, queues };
  let opened: Promise<DbosTables> | undefined;
  function open(): Promise<DbosTables> {
    opened ??= openTables(place).catch((error: unknown) => {
      opened = undefined; // the next call tries again
      throw error;
    });
    return opened;
  }
  async function close(): Promise<void> {
    const reason = "A worker is at work, which DBOS hands out runs to by these connections. Drain it first.";
    if (isServed(place))
      throw new WritError("definition-invalid", { where: "close() of dbosDispatcher()", reason });
    const tables = await opened?.catch(() => undefined);
    opened = undefined;
    await tables?.close();
  }
  return {
    wake: async (run) => enqueue(await open(), run),
    serve: (workplace) => serveHere(workplace, place, open),
    close,
    [Symbol.asyncDispose]: close,
  };
}

const rate = closed({ most: fromOne, perSeconds: fromOne });
const shape = closed({
  url: shapeOf(
    "an address like postgresql://user@host/database",
    (value): value is string => typeof value === "string" && /^postgres(?:ql)?:/.test(value),
  ),
  options: closed({
    schema: optional(string),
    queues: optional(map(closed({ atOnce: optional(fromOne), rate: optional(rate) }))),
  }),
});

import { checkDurable, type DurableOptions } from "../durable/durable-options.ts";
import { type DurableRuns, durableRunsWith } from "../durable/durable-runs.ts";
import { nodeHost } from "./clock.ts";

/**
 * Makes runs that outlast their process: one process begins them, workers in any process carry them out, and a third answers their questions. A recorded step
 * is not repeated, whatever process dies meanwhile.
 *
 * @throws WritError `definition-invalid`
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { durableRuns } from "writ/durable";
 * import { sqliteRuns } from "writ/sqlite";
 *
 * const payer = agent({ name: "payer", model: "ollama/qwen2.5:7b" });
 * const runs = durableRuns({ store: sqliteRuns("runs.db"), agents: [payer] });
 * const worker = runs.work({ concurrency: 20 });
 * process.once("SIGTERM", () => void worker.drain());
 * await runs.start(payer, "Pay invoice 17", { id: "invoice-17" });
 * const { outcome } = await runs.result("invoice-17");
 * console.log(outcome.type);
 * ```
 */
export function durableRuns(options: DurableOptions): DurableRuns {
  checkDurable(options, "durableRuns()");
  return durableRunsWith(options, nodeHost);
}

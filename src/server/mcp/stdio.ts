import { nodeHost } from "../../adapters/clock.ts";
import { ownOutput, takeOutput, writeOut } from "../../adapters/own-output.ts";
import { checkDurable, type DurableOptions } from "../../durable/durable-options.ts";
import type { WorkOptions } from "../../durable/worker.ts";
import { closed } from "../../error/check-shape.ts";
import { WritError } from "../../error/writ-error.ts";
import { anything, optional, shapeOf } from "../../util/shape.ts";
import { anybody } from "../callers.ts";
import { faultTeller } from "../fault-teller.ts";
import { serveRuns, servingShapes } from "../served-runs.ts";
import { exactLines } from "./exact-lines.ts";
import { loadLibrary, loadStdio } from "./library.ts";
import { offerOf } from "./offer.ts";
import { checkMcp, type McpOffer } from "./options.ts";
import { protocolServer } from "./protocol-server.ts";

/**
 * Options of {@link serveMcpStdio}.
 *
 * @example
 * ```ts
 * import type { McpStdioOptions } from "writ/server";
 * import { sqliteRuns } from "writ/sqlite";
 *
 * export const options: McpStdioOptions = { store: sqliteRuns("runs.db"), offer: { approvals: "wait" } };
 * ```
 */
export interface McpStdioOptions extends DurableOptions {
  readonly offer?: McpOffer;
  /** Carries out the runs in this process. Default: 10 at a time. */
  readonly work?: WorkOptions;
  /** Ends the serving: work under way ends, and runs are handed over. */
  readonly signal?: AbortSignal;
  /** Called with each error that the client was told as an internal error. Default: a process warning. */
  readonly onError?: (error: unknown) => unknown;
}

const shape = closed({
  ...servingShapes,
  offer: optional(anything),
  signal: optional(shapeOf("an AbortSignal", (value) => value instanceof AbortSignal)),
});

/**
 * Serves the Model Context Protocol over standard input and output, to the one client that started this process. Resolves when the client has gone,
 * has sent a message of more than 10 MB, or the signal ends it. Anything that tools or `console` write to standard output meanwhile goes to standard error.
 *
 * @throws WritError `definition-invalid`, `name-taken`, `tool-unknown`, `peer-missing`
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { serveMcpStdio } from "writ/server";
 * import { sqliteRuns } from "writ/sqlite";
 *
 * const clerk = agent({ name: "clerk", description: "Looks after orders", model: "ollama/qwen2.5:7b" });
 * await serveMcpStdio({ store: sqliteRuns(":memory:"), agents: [clerk] });
 * ```
 */
export async function serveMcpStdio(options: McpStdioOptions): Promise<void> {
  checkDurable(options, "serveMcpStdio()", shape);
  const { offer: wanted = {}, work, signal, onError, ...durable } = options;
  const { approvals = "refuse" } = wanted;
  const host = nodeHost;
  checkMcp(wanted, true);
  const offer = offerOf(durable.agents ?? [], wanted);
  const [library, { serveStdio, StdioServerTransport }] = await Promise.all([loadLibrary(), loadStdio()]);
  const { worker, ...around } = serveRuns(durable, { work, host, callers: offer.callers });
  const leaving = new AbortController();
  const serving = {
    library,
    offer,
    atWork: new Set<Promise<unknown>>(),
    around: { ...around, approvals, leaving: leaving.signal },
    onError: faultTeller(onError, host),
  };
  const lines = exactLines(writeOut);
  process.stdin.once("error", (error) => lines.destroy(error)).pipe(lines);
  using _taken = { [Symbol.dispose]: takeOutput() };
  const transport = new StdioServerTransport(lines, ownOutput());
  let broken: unknown;
  const onerror = (error: unknown): void => void (broken = error);
  const connection = serveStdio(() => protocolServer(anybody, serving), { transport, onerror });
  const isBroken = await Promise.race([ended(signal), closedBy(transport)]);
  if (isBroken && process.stdout.writable) serving.onError(broken); // otherwise the client has gone
  if (signal?.aborted === true) leaving.abort(new WritError("server-leaving", {}));
  if (signal?.aborted === true) await Promise.allSettled(serving.atWork); // each call gets an answer before the server leaves
  await connection.close();
  process.stdin.unpipe(lines).pause(); // otherwise it keeps the process alive
  await worker?.drain();
}

/** Waits until the library closes the connection by itself: it reads nothing more then. */
function closedBy(transport: { onclose?: () => void }): Promise<true> {
  const { promise, resolve } = Promise.withResolvers<true>();
  const { onclose } = transport;
  Object.assign(transport, {
    onclose() {
      onclose?.();
      resolve(true);
    },
  });
  return promise;
}

/** Waits until the client has closed its end, or the signal is aborted. */
function ended(signal: AbortSignal | undefined): Promise<false> {
  const { promise, resolve } = Promise.withResolvers<false>();
  const end = (): void => resolve(false);
  for (const event of ["end", "close"]) process.stdin.once(event, end);
  process.stdout.once("error", end);
  signal?.addEventListener("abort", end, { once: true });
  if (signal?.aborted === true) end();
  return promise;
}

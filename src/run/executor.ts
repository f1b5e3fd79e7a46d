import type { ToolResult } from "../message/message.ts";
import type { Effect } from "../tool/tool.ts";
import type { Json } from "../util/json.ts";

/** A call that was judged and may run: it passed allow-list, arguments, policy, hooks, a person's approval and the budget. */
export interface ReadyCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON, as judged after hooks, mending and a person's answer. A copy. */
  readonly arguments: Json;
  /** The arguments as the input schema of the tool parsed them. Lists and plain objects in it are copies. */
  readonly args: unknown;
  readonly effect: Effect;
  /** The same at every attempt and every replay, and different for every other call: for a server that does a thing once. */
  readonly idempotencyKey: string;
}

/** The end of a call that the runtime ran for an executor. The executor returns it unchanged. */
export interface CallRun {
  readonly callId: string;
  /** A copy of the settled result: checked, without secrets, after hooks, labelled. */
  readonly result: ToolResult;
}

/**
 * One result of an executor: what `run` returned; or a `value` in place of the tool's, which is checked, labelled and told the same
 * way; or an `error`, as if the tool had thrown it; or the reason the call was `skipped`: it was not run, here or elsewhere.
 */
export type ExecutorResult =
  | CallRun
  | { readonly callId: string; readonly value: unknown }
  | { readonly callId: string; readonly error: unknown }
  | { readonly callId: string; readonly skipped: string };

/** The surroundings of the calls of one reply. */
export interface ExecutorContext {
  readonly turn: number;
  /** Aborted when the run is stopped or its time is over. */
  readonly signal: AbortSignal;
  /**
   * Runs a call as the runtime would without an executor: its slot, its time, its handles, its recovery, its record in the journal. A second
   * request for the same call gives the result of the first. It never rejects because of the tool: a failure is a result.
   *
   * Calls run side by side, except those that change something (the effects `write` and `irreversible`, or all of them with a
   * `concurrency` of 1): these wait for the calls begun before them, and calls begun after them wait for these.
   *
   * @throws WritError `executor-result-invalid` for a call that the executor was not given, or after it has returned its results
   */
  readonly run: (call: Pick<ReadyCall, "id">) => Promise<CallRun>;
}

/**
 * An executor of the author: carries out the calls of one reply, in any order, together, elsewhere or not at all, and returns one result
 * for each. The runtime decides what a call must pass before it runs, and what happens to each result. A call is recorded when it ends; a
 * replay does not ask the executor.
 *
 * A missing, duplicate or unknown result ends the run as failed (`executor-result-invalid`), and so does an error that the executor throws
 * (`executor-failed`). Calls that `run` carried out keep their results then. Only the time of the run bounds the executor itself.
 *
 * @example
 * ```ts
 * import { agent, tool } from "writ";
 * import type { Executor } from "writ/doors";
 * import { z } from "zod";
 *
 * const dryRun: Executor = {
 *   execute: (calls, { run }) =>
 *     Promise.all(
 *       calls.map((call) => (call.effect === "read" ? run(call) : { callId: call.id, skipped: "this is a dry run" })),
 *     ),
 * };
 *
 * const drop = tool({ name: "drop", description: "Drop a table", inputSchema: z.object({}), effect: "write", execute: () => "dropped" });
 * export const clerk = agent({ name: "clerk", model: () => "Done.", tools: [drop], executor: dryRun });
 * ```
 */
export interface Executor {
  execute(
    calls: readonly ReadyCall[],
    context: ExecutorContext,
  ): readonly ExecutorResult[] | Promise<readonly ExecutorResult[]>;
}

import type { ToolResult } from "../message/message.ts";
import type { Effect } from "../tool/tool.ts";
import type { Json } from "../util/json.ts";

/** A call that was judged and may run: allow-list, arguments, policy, hooks, a person and the budget let it pass. */
export interface ReadyCall {
  readonly id: string;
  /** The name of its tool. */
  readonly name: string;
  /** The arguments as JSON, as they were judged: after hooks, mending and a person. A copy. */
  readonly arguments: Json;
  /** The arguments as the input schema of the tool made them. Lists and plain objects in it are copies. */
  readonly args: unknown;
  /** The effect that the tool declares. */
  readonly effect: Effect;
  /** The same at every attempt and every replay, and of no other call: for a server that does a thing once. */
  readonly idempotencyKey: string;
}

/** The end of a call that the runtime ran for an executor. It is handed on as it is. */
export interface CallRun {
  readonly callId: string;
  /** A copy of the settled result: checked, without secrets, after the hooks, labelled. */
  readonly result: ToolResult;
}

/**
 * One result of an executor: what `run` gave; or a `value` in the place of what the tool would give, which is checked, labelled and told like
 * that; or an `error`, as if the tool had thrown it; or the reason for which the call was `skipped`: it was not run, here or elsewhere.
 */
export type ExecutorResult =
  | CallRun
  | { readonly callId: string; readonly value: unknown }
  | { readonly callId: string; readonly error: unknown }
  | { readonly callId: string; readonly skipped: string };

/** The surroundings of the calls of one reply. */
export interface ExecutorContext {
  readonly turn: number;
  /** Aborted when the run is stopped, or its time is over. */
  readonly signal: AbortSignal;
  /**
   * Runs a call as the runtime would without an executor: its slot, its time, its handles, its recovery, its record in the journal. The second
   * time it gives what the first gave. Never rejects for what a tool does: that is a result.
   *
   * Calls run beside each other, but for those that change something (the effects `write` and `irreversible`, or all of them under a
   * `concurrency` of 1): these wait for the calls that were begun before them, and those that are begun after them wait for these.
   *
   * @throws WritError `executor-result-invalid` for a call that the executor was not given, or after it gave its results
   */
  readonly run: (call: Pick<ReadyCall, "id">) => Promise<CallRun>;
}

/**
 * An executor of the author's own: carries out the calls of one reply, in any order, together, elsewhere or not at all, and gives one result
 * for each. What a call must pass before it runs, and what is done with each result, is the runtime's. A call is recorded when it ends; a
 * replay does not ask the executor.
 *
 * A missing, doubled or unknown result ends the run as failed (`executor-result-invalid`), and so does what the executor throws
 * (`executor-failed`). The calls that `run` carried out keep their results then. Only the time of the run bounds the executor itself.
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

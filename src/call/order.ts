import { causesOf } from "../error/causes.ts";
import type { ErrorCode } from "../error/codes.ts";
import { isWritError, type WritError } from "../error/writ-error.ts";
import type { BudgetField, Excess } from "../policy/account/budget.ts";
import type { ToolResult } from "../message/message.ts";
import type { Ordering } from "../run/context.ts";
import type { Tool } from "../tool/tool.ts";
import type { CallRecord, Fate } from "./call.ts";

/**
 * Tells whether a call of the tool waits for the calls before it, and the calls after it wait for it: by default when the tool changes
 * something. Where a failure ends the run, a tool that does not say what it does may change something too.
 */
export function isOrdered({ effect }: Tool, { concurrency, endOn }: Ordering): boolean {
  if (concurrency !== undefined) return concurrency === 1;
  return (
    effect === "write" ||
    effect === "irreversible" ||
    (effect === "undeclared" && endOn.includes("tool-failure"))
  );
}

/** The calls that are to run, by their places, in groups that run one after another; the calls of a group run beside each other. */
export function groupsOf(fates: readonly Fate[], ordering: Ordering): readonly (readonly number[])[] {
  const groups: number[][] = [];
  let isOpen = false;
  fates.forEach((fate, index) => {
    if (fate.type === "refused") return;
    const isAlone = isOrdered(fate.tool, ordering);
    if (isOpen && !isAlone) groups.at(-1)?.push(index);
    else groups.push([index]);
    isOpen = !isAlone;
  });
  return groups;
}

/** The reason why the calls of a batch that have not begun do not begin any more. */
export interface Halt {
  reason?: string;
  /** The journal failed inside a call: nothing that begins now could be recorded. */
  lost?: { readonly error: unknown };
}

const failures: ReadonlySet<ToolResult["status"]> = new Set(["error", "invalid", "timeout", "unknown"]);

/** Tells whether a call failed, and nobody said that the model is told. */
export function isFailure({ result, escalated = false }: Pick<CallRecord, "result" | "escalated">): boolean {
  return failures.has(result.status) && !escalated;
}

/** The reason why a call that ended so keeps the calls after it from beginning; undefined when it does not. */
export function haltedBy(
  ended: Pick<CallRecord, "result" | "escalated" | "fatal">,
  { endOn }: Ordering,
): string | undefined {
  if (ended.fatal !== undefined) return "an earlier call ended the run";
  return endOn.includes("tool-failure") && isFailure(ended) ? "an earlier call failed" : undefined;
}

/** Why a call ends its run, whatever the model would do with its result. Plain data: a journal keeps it. */
export type Fatal =
  | { readonly type: "failed"; readonly code: FatalCode; readonly reason: string; readonly severity?: string }
  | { readonly type: "exhausted"; readonly excess: Excess };

/** Errors that a tool can throw to end the run. */
export type FatalCode = Extract<ErrorCode, "tool-failed" | "tool-escalated" | "tool-unrecoverable">;

/**
 * Tells whether what a tool threw ends the run: the budget of a run inside it ran out, or a tool of a fixer gave up. Looks into causes, since
 * code between wraps what it catches.
 */
export function fatalOf(thrown: unknown): Fatal | undefined {
  for (const error of causesOf(thrown)) {
    if (isWritError(error, "budget-exhausted")) return { type: "exhausted", excess: excessOf(error) };
    if (isWritError(error, "tool-escalated"))
      return {
        type: "failed",
        code: error.code,
        reason: String(error.data.reason),
        severity: String(error.data.severity),
      };
    if (isWritError(error, "tool-unrecoverable"))
      return { type: "failed", code: error.code, reason: String(error.data.reason) };
  }
  return undefined;
}

/**
 * Tells whether what a tool threw says that a bound on runs inside runs was met: no recovery may swallow it, though the model is told and the
 * run goes on.
 */
export function isDelegationBound(thrown: unknown): boolean {
  return causesOf(thrown).some(
    (error) => isWritError(error, "delegation-exhausted") || isWritError(error, "delegation-too-deep"),
  );
}

/** The run that ends by its budget puts the bound into the cause of its error. */
function excessOf({ cause, data }: WritError<"budget-exhausted">): Excess {
  if (typeof cause === "object" && cause !== null && "field" in cause && "limit" in cause)
    return cause as Excess;
  return { field: String(data.field) as BudgetField, limit: 0, used: 0, message: String(data.reason) };
}

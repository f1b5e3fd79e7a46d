import type { ToolResult } from "../message/message.ts";
import type { Tool } from "../tool/tool.ts";
import type { Fatal } from "./fatal.ts";
import type { Prepared } from "./judge.ts";

/** The order in which the calls of a reply run, and what a failure does to the rest of them. */
export interface Ordering {
  /** How many calls run at a time; undefined: calls that change something run in their order, all others beside each other. */
  readonly concurrency: number | undefined;
  /** Skips the calls of the batch that have not begun when one failed. */
  readonly throwOnToolFailure: boolean;
}

/**
 * Tells whether a call of the tool waits for the calls before it, and the calls after it wait for it: by default when the tool changes
 * something. Where a failure ends the run, a tool that does not say what it does may change something too.
 */
export function isOrdered({ effect }: Tool, { concurrency, throwOnToolFailure }: Ordering): boolean {
  if (concurrency !== undefined) return concurrency === 1;
  return effect === "write" || effect === "irreversible" || (effect === "undeclared" && throwOnToolFailure);
}

/** A call that was decided about: with a result when it does not run. */
interface Decided {
  readonly prepared?: Prepared;
  readonly result?: ToolResult;
}

/** The calls that are to run, by their places, in groups that run one after another; the calls of a group run beside each other. */
export function groupsOf(planned: readonly Decided[], ordering: Ordering): readonly (readonly number[])[] {
  const groups: number[][] = [];
  let isOpen = false;
  planned.forEach(({ prepared, result }, index) => {
    if (result !== undefined || prepared === undefined || prepared.type === "refused") return;
    const isAlone = isOrdered(prepared.tool, ordering);
    if (isOpen && !isAlone) groups.at(-1)?.push(index);
    else groups.push([index]);
    isOpen = !isAlone;
  });
  return groups;
}

/** Why the calls of a batch that have not begun do not begin any more. */
export interface Halt {
  reason?: string;
  /** The journal failed inside a call: nothing that begins now could be recorded. */
  lost?: { readonly error: unknown };
}

const failures: ReadonlySet<ToolResult["status"]> = new Set(["error", "invalid", "timeout", "unknown"]);

/** How a call ended. */
interface Ended {
  readonly result: ToolResult;
  readonly escalated?: boolean;
  readonly fatal?: Fatal;
}

/** Tells whether a call failed, and nobody said that the model is told. */
export function isFailure({ result, escalated = false }: Ended): boolean {
  return failures.has(result.status) && !escalated;
}

/** Why a call that ended so keeps the calls after it from beginning; undefined when it does not. */
export function haltedBy(ended: Ended, { throwOnToolFailure }: Ordering): string | undefined {
  if (ended.fatal !== undefined) return "an earlier call ended the run";
  return throwOnToolFailure && isFailure(ended) ? "an earlier call failed" : undefined;
}

/** The result of a call that does not run because of what came before it. */
export function skippedResult(reason: string): ToolResult {
  return { status: "skipped", text: `Not run: ${reason}.` };
}

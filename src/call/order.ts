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

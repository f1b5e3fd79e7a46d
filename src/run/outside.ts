import { messageOf } from "../error/writ-error.ts";
import type { Label } from "../message/label.ts";
import { effectIn } from "../policy/allow-list.ts";
import { type Act, actsIn, isDeclared } from "../tool/acts.ts";
import type { CallAround } from "../tool/power-port.ts";
import type { Interrupt } from "../util/interrupt.ts";
import { type StopReason, waitsOf } from "./end.ts";
import type { Finished } from "./finished.ts";
import type { Scope } from "./scope.ts";

/** Passes on the end of the call around this run; returns a function that removes the link. */
export function linkOuter(parent: Scope, stop: Interrupt<StopReason>): () => void {
  return parent.stop.onStop(() => stop.stop({ type: "cancelled", reason: reasonText(parent.stop.reason) }));
}

/** Passes on an abort of the caller's signal; returns a function that removes the link. */
export function linkSignal(signal: AbortSignal, stopAs: (reason: string) => void): () => void {
  const cancel = (): void => {
    const { reason } = signal as { reason: unknown };
    stopAs(reasonText(reason));
  };
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  return () => signal.removeEventListener("abort", cancel);
}

/** The reason of a cancelled run in words: from a signal, or from the run around it. */
export function reasonText(reason: unknown): string {
  if (typeof reason !== "object" || reason === null || !("type" in reason)) return messageOf(reason);
  const { type, reason: why } = reason as { readonly type: unknown; readonly reason?: unknown };
  if (type === "cancelled" && typeof why === "string") return why;
  if (type === "duration") return "the time of the run around it was over";
  return type === "failed" ? "the run around it failed" : messageOf(reason); // errors of some libraries have a `type` too
}

/** A run, as it is told to the run around it. */
interface InnerRun {
  readonly agent: string;
  readonly runId: string;
  readonly parent?: Scope;
  /** The call in whose code the run was begun, whether or not it was handed over as `parent`. */
  readonly around?: CallAround;
}

/** Tells the run around this one that this one began. */
export function beginInside({ agent, runId }: InnerRun, parent: Scope): void {
  parent.began({ agent, runId, depth: parent.depth + 1 });
}

/** Tells the run around this one how this one ended, what it saw and what it spent. */
export function endInside(
  { parent, around, agent, runId }: InnerRun,
  finished: Finished,
  label: Label,
): void {
  const { end, usage, ledger } = finished;
  const { costUsd, toolCalls } = ledger;
  const outcome = end.outcome.type;
  if (end.questions !== undefined) parent?.waits(waitsOf(end.questions, end.outcome));
  const spending = { usage, costUsd, toolCalls };
  around?.saw(label);
  parent?.ended({ agent, runId, depth: parent.depth + 1, outcome, usage }, spending, changesOf(finished));
}

/** The calls of a run, and of the runs inside it, that changed something or may have. */
function changesOf({ acts = [], transcript, allowed }: Finished): readonly Act[] {
  const called = allowed === undefined ? [] : actsIn(transcript.messages, effectIn(allowed));
  return [...acts, ...called].filter((act) => isDeclared(act) || act.status === "unknown");
}

import { messageOf } from "../error/writ-error.ts";
import type { Label } from "../message/label.ts";
import { effectIn } from "../policy/allow-list.ts";
import { type Act, actsIn, isDeclared } from "../tool/acts.ts";
import type { CallAround } from "../tool/power-port.ts";
import type { Interrupt } from "../util/interrupt.ts";
import { type StopReason, waitsOf } from "./end.ts";
import type { Finished } from "./finished.ts";
import type { Scope } from "./scope.ts";

/** Passes the end of the call that this run is inside of on; what it returns takes the link back. */
export function linkOuter(parent: Scope, stop: Interrupt<StopReason>): () => void {
  return parent.stop.onStop(() => stop.stop({ type: "cancelled", reason: reasonText(parent.stop.reason) }));
}

/** Passes an abort of the caller's signal on; what it returns takes the link back. */
export function linkSignal(signal: AbortSignal, stopAs: (reason: string) => void): () => void {
  const cancel = (): void => {
    const { reason } = signal as { reason: unknown };
    stopAs(reasonText(reason));
  };
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  return () => signal.removeEventListener("abort", cancel);
}

/** The reason of a cancelled run in words: that of a signal, or that of the run around it. */
export function reasonText(reason: unknown): string {
  if (typeof reason !== "object" || reason === null || !("type" in reason)) return messageOf(reason);
  const { type, reason: why } = reason as { readonly type: unknown; readonly reason?: unknown };
  if (type === "cancelled" && typeof why === "string") return why;
  if (type === "duration") return "the time of the run around it was over";
  return type === "failed" ? "the run around it failed" : messageOf(reason); // errors of some libraries have a type too
}

/** A run, as the one around it is told of it. */
interface InnerRun {
  readonly agent: string;
  readonly runId: string;
  readonly parent?: Scope;
  /** The call in whose code it was begun, whether or not it was handed over as `parent`. */
  readonly around?: CallAround;
}

/** Tells the run around this one that this began. */
export function beginInside({ agent, runId }: InnerRun, parent: Scope): void {
  parent.began({ agent, runId, depth: parent.depth + 1 });
}

/** Tells the run around this one how this ended, what it has seen and what it spent. */
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

/** The calls of a run, and of the runs inside it, that changed something, or of which nobody knows whether they did. */
function changesOf({ acts = [], transcript, allowed }: Finished): readonly Act[] {
  const called = allowed === undefined ? [] : actsIn(transcript.messages, effectIn(allowed));
  return [...acts, ...called].filter((act) => isDeclared(act) || act.status === "unknown");
}

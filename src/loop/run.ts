import type { WritError } from "../error/writ-error.ts";
import type { Outcome } from "../event/outcome.ts";
import type { ExecuteOptions } from "../executor/options.ts";
import { slots } from "../executor/slots.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import { noUsage, type Usage } from "../message/usage.ts";
import { emptyLedger, type Ledger } from "../policy/budget.ts";
import type { Interrupt } from "../util/interrupt.ts";
import { meter } from "./meter.ts";
import type { LoopOptions, StopReason } from "./options.ts";

/** What changes from turn to turn. */
export interface State {
  readonly transcript: ReadyTranscript;
  readonly ledger: Ledger;
  readonly usage: Usage;
  /** Which of the drivers speaks; the later ones are for models without native tools. */
  readonly driver: number;
  readonly violations: number;
  /** The time of the last thing that happened, as recorded. */
  readonly now: number;
  /** Messages before this index were part of an earlier request. */
  readonly sent: number;
}

/** Takes what happens; undefined when nobody watches. */
export type Tell = ExecuteOptions["tell"];

/** How a run ends. `throws`: the world failed, and the generator throws after `run-end`. */
export interface End {
  readonly outcome: Outcome;
  readonly output?: unknown;
  readonly error?: WritError;
  readonly throws?: boolean;
}

/** The state after a turn, and the end if it was the last. */
export interface Step {
  readonly state: State;
  readonly end?: End;
}

/** One run: its options and what lives as long as it does. */
export interface Run extends Omit<LoopOptions, "transcript"> {
  readonly stop: Interrupt<StopReason>;
  readonly startedAt: number;
  readonly tell: Tell;
  readonly execution: ExecuteOptions;
  readonly thrown: ReadonlyMap<string, unknown>;
  readonly inputCharacters: (transcript: ReadyTranscript) => number;
}

/** Passes an abort of the caller's signal on; what it returns takes the link back. */
export function linkSignal(
  signal: AbortSignal | undefined,
  stop: Interrupt<StopReason>,
): (() => void) | undefined {
  if (signal === undefined) return undefined;
  const cancel = (): void => {
    const { reason } = signal as { reason: unknown };
    stop.stop({ type: "cancelled", reason: reason instanceof Error ? reason.message : String(reason) });
  };
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  return () => signal.removeEventListener("abort", cancel);
}

/** What lives as long as the run. */
export function beginRun(options: LoopOptions, begun: Pick<Run, "stop" | "startedAt" | "tell">): Run {
  const thrown = new Map<string, unknown>();
  const { runId, gate, journal, host, limits, approve, onUnknownTool, concurrency } = options;
  const onThrow = (callId: string, error: unknown): unknown => thrown.set(callId, error);
  const execution = {
    ...begun,
    runId,
    gate,
    journal,
    host,
    limits,
    slots: slots(concurrency),
    approve,
    onUnknownTool,
    onThrow,
  };
  return { ...options, ...begun, execution, thrown, inputCharacters: meter() };
}

/** The state before the first turn. */
export function beginState(transcript: ReadyTranscript, now: number): State {
  return { transcript, ledger: emptyLedger, usage: noUsage, driver: 0, violations: 0, now, sent: 0 };
}

import type { CallRecord } from "../call/call.ts";
import type { CallSpan, CallState, InspectedQuestion } from "./view.ts";

/** What the times of a call are made of. */
export interface TimedCall {
  readonly proposedAt: number;
  readonly now: number;
  readonly state: CallState;
  readonly record: CallRecord | undefined;
  readonly question: InspectedQuestion | undefined;
}

/**
 * The stretches of time of a call, as far as they are recorded. When a person answered is not: between the reply of the model and the beginning of such a
 * call lie the wait and the turn of the calls before it, together. A call that never came to its tool took no time.
 */
export function spansOf({ proposedAt, now, state, record, question }: TimedCall): readonly CallSpan[] {
  if (state === "waiting")
    return [
      { phase: "waited", from: question?.since ?? proposedAt, to: Math.max(now, proposedAt), isExact: true },
    ];
  const began = record?.startedAt ?? 0;
  if (record === undefined || began === 0)
    return state === "open" ? [{ phase: "executed", from: proposedAt, to: now, isExact: false }] : [];
  const before = began - proposedAt;
  const phase = question === undefined ? "queued" : "waited";
  return [
    // A call may begin before the reply has ended.
    ...(before >= 1 ? [{ phase, from: proposedAt, to: began, isExact: phase === "queued" } as const] : []),
    { phase: "executed", from: began, to: record.endedAt, isExact: true },
  ];
}

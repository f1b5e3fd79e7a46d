import type { CallRecord } from "../call/call.ts";
import type { RefusalRecord } from "../call/standing-call.ts";
import type { JudgedTimes } from "../call/call-time.ts";
import type { KeptAnswer } from "../call/ask.ts";
import type { CallSpan, CallState, InspectedQuestion } from "./view.ts";

/** The facts that the times of a call are made from. */
export interface TimedCall {
  readonly proposedAt: number;
  readonly now: number;
  readonly state: CallState;
  readonly record: CallRecord | undefined;
  readonly refusal: RefusalRecord | undefined;
  readonly question: InspectedQuestion | undefined;
  readonly answer: KeptAnswer | undefined;
  /** True if its tool waited for a signal or a time. The times of such waits are not recorded. */
  readonly hasWaited: boolean;
}

/**
 * The time spans of a call, one after another, as far as they are recorded. Between them the call queued, or its tool waited. A call that did not reach its tool has only the
 * spans of its judging. Runs of earlier versions do not record the time of a person's answer: one span then covers the wait and the turn of the calls before
 * it, from the decision, or the reply of the model, to the beginning of the call.
 */
export function spansOf(timed: TimedCall): readonly CallSpan[] {
  const { proposedAt, now, state, record, question } = timed;
  if (state === "waiting")
    return [
      { phase: "waited", from: question?.since ?? proposedAt, to: Math.max(now, proposedAt), isExact: true },
    ];
  const began = record?.startedAt ?? 0;
  const judged = judgingSpans(judgedOf(timed));
  const waits = waitOf(timed, judged.at(-1)?.to ?? proposedAt);
  if (began > 0 && record !== undefined) {
    const executed = { phase: "executed", from: began, to: record.endedAt, isExact: true } as const;
    return withQueues(timed, [...judged, ...waits, executed]);
  }
  if (state === "open") {
    const executed = { phase: "executed", from: proposedAt, to: now, isExact: false } as const;
    return withQueues(timed, [...waits, executed]);
  }
  return withQueues(timed, [...judged, ...waits]);
}

/** The time at which a call was decided, if it is recorded. */
export function decidedAtOf(timed: Pick<TimedCall, "record" | "refusal">): number | undefined {
  const { from, checking = from, authorising = checking, decided = authorising } = judgedOf(timed) ?? {};
  return decided;
}

const judgedOf = ({ record, refusal }: Pick<TimedCall, "record" | "refusal">): JudgedTimes | undefined =>
  record?.judged ?? refusal?.judged;

/** The spans of judging: hooks authorise a call before its arguments are checked, hooks and the policy after it. */
function judgingSpans(judged: JudgedTimes | undefined): readonly CallSpan[] {
  if (judged === undefined) return [];
  const { from, checking = from, authorising = checking, decided = authorising } = judged;
  const parts: readonly CallSpan[] = [
    { phase: "authorised", from, to: checking, isExact: true },
    { phase: "checked", from: checking, to: authorising, isExact: true },
    { phase: "authorised", from: authorising, to: decided, isExact: true },
  ];
  return parts.filter((part) => part.to > part.from);
}

/** The wait for a person: as recorded, otherwise all the time until the call began. */
function waitOf({ question, answer, record }: TimedCall, decidedAt: number): readonly CallSpan[] {
  if (answer?.since !== undefined && answer.at !== undefined)
    return [{ phase: "waited", from: answer.since, to: answer.at, isExact: true }];
  const began = record?.startedAt ?? 0;
  if (question === undefined || began - decidedAt < 1) return [];
  return [{ phase: "waited", from: decidedAt, to: began, isExact: false }];
}

/** The spans in order, with the spans between them in which the call queued, or its tool waited. A call that began before the end of the reply did not queue. */
function withQueues({ proposedAt, hasWaited }: TimedCall, spans: readonly CallSpan[]): readonly CallSpan[] {
  const between = hasWaited
    ? ({ phase: "waited", isExact: false } as const)
    : ({ phase: "queued", isExact: true } as const);
  let reached = proposedAt;
  return spans
    .toSorted((one, other) => one.from - other.from)
    .flatMap((span) => {
      const gap = { ...between, from: reached, to: span.from };
      reached = span.to;
      return gap.to - gap.from >= 1 ? [gap, span] : [span];
    });
}

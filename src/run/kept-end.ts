import type { ErrorCode, ErrorData } from "../error/codes.ts";
import { WritError } from "../error/writ-error.ts";
import type { RunEvent } from "../event/event.ts";
import type { Outcome } from "../event/outcome.ts";
import { endKey } from "../journal/record-form.ts";
import type { End, StopReason } from "./end.ts";
import type { OpenQuestion } from "./waits.ts";

/** The key of the record of the nth end that is not for good, counted from 1. */
export function pauseKey(count: number): string {
  return `${endKey}/${count}`;
}

/** The end of a run, as its journal keeps it. The content of an answer is left out: the earlier records give it. */
export interface KeptEnd {
  readonly outcome: Outcome | { readonly type: "answered" };
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The steps that were under way when the run was stopped, or that left no result. */
  readonly open: readonly string[];
  /** For a run that was stopped between two steps: the last step that had ended. Left out before the first. */
  readonly after?: string;
  /** The reason for which the run was stopped from outside its own course. */
  readonly stop?: StopReason;
  readonly error?: KeptError;
  readonly questions?: readonly OpenQuestion[];
  /** The keys of the questions without an answer when the run was stopped: a later answer comes too late. Left out if there were none. */
  readonly unanswered?: readonly string[];
  /** The keys of the steps that a hand-over kept from beginning before the stop, or that gave themselves up for it. Left out if there were none. */
  readonly handedOver?: readonly string[];
  /** The facts that were told by steps without a result. */
  readonly told?: Readonly<Record<string, readonly RunEvent[]>>;
}

interface KeptError {
  readonly code: ErrorCode;
  readonly data: ErrorData[ErrorCode];
  readonly retryable: boolean;
  readonly throws?: true;
}

/** The part of a kept end that comes from the end of the run itself. */
export function keptFrom({
  outcome,
  error,
  throws,
  questions,
}: End): Pick<KeptEnd, "outcome" | "error" | "questions"> {
  return {
    outcome: outcome.type === "answered" ? { type: outcome.type } : outcome,
    ...(questions === undefined ? {} : { questions }),
    ...(error === undefined ? {} : { error: keptError(error, throws) }),
  };
}

/** True if two ends tell the same, about the same questions: a run that waits again can tell it in the same words. */
export function isSameEnd(one: Pick<KeptEnd, "outcome" | "questions">, other: typeof one): boolean {
  const told = ({ outcome, questions = [] }: typeof one): string =>
    JSON.stringify([outcome, questions.map(({ key }) => key)]);
  return told(one) === told(other);
}

function keptError({ code, data, retryable }: WritError, throws?: boolean): KeptError {
  const error = { code, data, retryable };
  return throws === true ? { ...error, throws } : error;
}

/** The error of a kept end; undefined if it had none. */
export function errorIn({ error }: KeptEnd): WritError | undefined {
  if (error === undefined) return undefined;
  const { code, data, retryable } = error;
  return new WritError(code, data, { retryable });
}

/** The end of a run in a replay: the recorded one, in place of the one that its own course came to. */
export function endFrom(kept: KeptEnd, own: End): End {
  const { outcome, error, questions, stop } = kept;
  if (stop !== undefined && error?.throws !== true) return own; // one that was stopped comes to it again, unless its session did not keep it
  if (outcome.type === "answered" && !("content" in outcome)) return own;
  return {
    outcome,
    error: errorIn(kept),
    ...(error?.throws === true ? { throws: true } : {}),
    ...(questions === undefined ? {} : { questions }),
  };
}

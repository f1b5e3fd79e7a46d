import { isWritError, type WritError } from "../error/writ-error.ts";
import type { Outcome } from "../event/outcome.ts";
import type { Label } from "../message/label.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import type { Usage } from "../message/usage.ts";
import type { Ledger } from "../policy/account/budget.ts";
import type { AllowList } from "../policy/allow-list.ts";
import type { Act } from "../tool/acts.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { End } from "./end.ts";
import type { OpenQuestion } from "./waits.ts";

/** The end of the work inside a frame. */
export interface Finished {
  readonly end: End;
  readonly transcript: ReadyTranscript;
  readonly usage: Usage;
  readonly ledger: Ledger;
  readonly checkpoint?: Checkpoint;
  /** Calls that may have changed something but are missing in the transcript: compaction removed them, or they were made inside a call. */
  readonly acts?: readonly Act[];
  /** The tools that it could call. Left out if there were none. */
  readonly allowed?: AllowList;
  /** The join of the labels of what the run has seen. Left out if it read nothing: then the label of its input holds. */
  readonly label?: Label;
}

/**
 * The end of a run of the loop. `error` is the error of any outcome but an answer; `output` is there for an
 * answer.
 */
export interface LoopResult {
  readonly outcome: Outcome;
  readonly output?: unknown;
  readonly error?: WritError;
  readonly transcript: ReadyTranscript;
  readonly usage: Usage;
  /** Dollars of this run and of the runs inside it. Left out if a price is unknown. */
  readonly costUsd?: number;
  readonly turns: number;
  /** The join of the labels of what the run has seen. */
  readonly label: Label;
  /** Present if the run is suspended: it can be resumed from it. */
  readonly checkpoint?: Checkpoint;
  /** Present if the run waits for answers. */
  readonly questions?: readonly OpenQuestion[];
}

/**
 * The error of a run that threw, with how far the run came: its calls are done, and are in the transcript.
 *
 * @example
 * ```ts
 * import { isRunError, type RunError } from "writ";
 *
 * export const tokensOf = ({ usage }: RunError): number => usage.inputTokens + usage.outputTokens;
 * export const isPaid = (error: unknown): boolean => isRunError(error) && tokensOf(error) > 0;
 * ```
 */
export interface RunError extends WritError {
  readonly transcript: ReadyTranscript;
  /** Tokens of the run and of the runs inside it. */
  readonly usage: Usage;
  /** The number of turns that had begun. */
  readonly turns: number;
}

/**
 * Tells whether a value is an error that a run threw, with its transcript, usage and turns. Works across two installed copies of the package.
 *
 * @example
 * ```ts
 * import { agent, isRunError } from "writ";
 * import { scripted } from "writ/testing";
 *
 * const clerk = agent({ name: "clerk", model: scripted([new Error("no line")]) });
 * try {
 *   await clerk.run("Good morning");
 * } catch (error) {
 *   if (isRunError(error)) console.log(error.code, error.transcript.messages.length, error.usage);
 * }
 * ```
 */
export function isRunError(value: unknown): value is RunError {
  return isWritError(value) && "transcript" in value && "usage" in value && "turns" in value;
}

/** Adds to an error how far its run came, hidden from whatever prints errors. */
export function withRun(
  error: WritError,
  { transcript, usage, turns }: Pick<RunError, "transcript" | "usage" | "turns">,
): WritError {
  for (const [field, value] of Object.entries({ transcript, usage, turns }))
    Reflect.defineProperty(error, field, { value, configurable: true, enumerable: false });
  return error;
}

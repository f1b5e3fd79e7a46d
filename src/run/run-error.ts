import { isWritError, type WritError } from "../error/writ-error.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import type { Usage } from "../message/usage.ts";

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

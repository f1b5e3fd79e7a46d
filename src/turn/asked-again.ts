import type { TurnInput } from "../driver/driver.ts";
import type { WritError } from "../error/writ-error.ts";
import { noUsage, priceOf } from "../message/usage.ts";
import { paceWith, retryDelay, spread } from "../model/retry.ts";
import { emptyLedger, spend } from "../policy/account/budget.ts";
import type { FailureNotes } from "./ask-model.ts";
import { withinTokens } from "./paid-model.ts";
import { type Run, type State, tokensLeft } from "./state.ts";

/** A question to the model whose last request failed. */
export interface FailedQuestion {
  readonly state: State;
  readonly input: TurnInput;
  readonly run: Run;
  readonly notes: FailureNotes;
}

/** The milliseconds to wait before a retry; undefined if a retry is useless or forbidden, or would come after the end of the run. */
export function retryIn(
  error: WritError,
  tries: number,
  { notes, state, run }: FailedQuestion,
): number | undefined {
  const pace = notes.acted ? undefined : paceWith(run.options.model, run.options.retry);
  const delayMs = pace === undefined ? undefined : retryDelay(error, tries, pace);
  if (delayMs === undefined) return undefined;
  const spreadMs = spread(delayMs, run.host);
  const usedMs = Math.max(state.elapsedMs, run.host.now() - run.countsFrom);
  const limitMs = Math.max(state.limits.durationMs, run.frame.givenMs ?? 0);
  return spreadMs < limitMs - usedMs ? spreadMs : undefined;
}

/** True if the failed requests of a turn used up the tokens or the dollars of the run, or of one around it. */
export function isUsedUp({ state, run, notes: { usage } }: FailedQuestion): boolean {
  if (usage === noUsage) return false;
  const { ledger, limits } = state;
  const spent = { usage, costUsd: priceOf(usage, run.options) };
  const { tokens, costUsd } = spend(ledger, spent);
  if (tokens >= limits.tokens || (limits.costUsd !== Infinity && costUsd >= limits.costUsd)) return true;
  return run.scope.outer?.turnExcess(spend(emptyLedger, spent)) !== undefined;
}

/** The question for the retry: within the tokens that the failed requests have left. */
export function askedAgain<Question extends FailedQuestion>(asking: Question): Question {
  const { state, run, input, notes } = asking;
  const settings = withinTokens(input.settings, tokensLeft(state, run, notes.usage));
  return { ...asking, input: { ...input, settings } };
}

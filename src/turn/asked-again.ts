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

/** After how many milliseconds the request is made again; undefined when that is no use, may not be, or the run would be over before. */
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

/** True where the requests of a turn that failed used up the tokens or the dollars of the run, or of one around it. */
export function isUsedUp({ state, run, notes: { usage } }: FailedQuestion): boolean {
  if (usage === noUsage) return false;
  const { ledger, limits } = state;
  const spent = { usage, costUsd: priceOf(usage, run.options) };
  const { tokens, costUsd } = spend(ledger, spent);
  if (tokens >= limits.tokens || (limits.costUsd !== Infinity && costUsd >= limits.costUsd)) return true;
  return run.scope.outer?.turnExcess(spend(emptyLedger, spent)) !== undefined;
}

/** The question as it is asked again: within the tokens that the requests which failed have left. */
export function askedAgain<Question extends FailedQuestion>(asking: Question): Question {
  const { state, run, input, notes } = asking;
  const settings = withinTokens(input.settings, tokensLeft(state, run, notes.usage));
  return { ...asking, input: { ...input, settings } };
}

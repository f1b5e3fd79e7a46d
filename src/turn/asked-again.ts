import type { TurnInput } from "../driver/driver.ts";
import type { WritError } from "../error/writ-error.ts";
import type { Journal } from "../journal/journal.ts";
import { addUsage, noUsage, priceOf, type Usage } from "../message/usage.ts";
import { paceWith, retryDelay, spread } from "../model/retry.ts";
import { emptyLedger, spend } from "../policy/account/budget.ts";
import { StepsOfRun } from "../run/steps-of-run.ts";
import type { FailureNotes, ModelRecord } from "./ask-model.ts";
import { outputLeft } from "./output-left.ts";
import { withinTokens } from "./paid-model.ts";
import type { Run, State } from "./state.ts";

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
  const settings = withinTokens(input.settings, outputLeft(state, run, notes.usage));
  return { ...asking, input: { ...input, settings } };
}

/** The record of a paid request that failed, or whose reply hooks are asked about: the step it belongs to may never have a result. */
type FailedRecord = Pick<ModelRecord, "usage">;

/** The key of a question that a driver asks in a turn, numbered from 1. */
export function questionKey(key: string, count: number): string {
  return `${key}/${count}`;
}

function failedKey(key: string, count: number): string {
  return `${key}/failed/${count}`;
}

/** Keeps the usage, since the last record, of requests that failed or wait for their hooks. */
export function keepFailed(
  { notes, journal }: { readonly notes: FailureNotes; readonly journal: Journal },
  key: string,
): Promise<void> | undefined {
  const { unkept: usage } = notes;
  const steps = StepsOfRun.of(journal);
  if (usage === undefined || steps === undefined) return undefined;
  notes.unkept = undefined;
  const count = failedIn(key, journal).length + 1;
  return (notes.keeping = steps.keepBeside([{ key: failedKey(key, count), value: { usage } }]));
}

/** The question after requests for it failed in an earlier process. */
export function afterFailed<Question extends FailedQuestion>(asking: Question, key: string): Question {
  const { notes, run } = asking;
  const failed = sumOf(failedIn(key, run.journal));
  if (failed === noUsage) return asking;
  notes.usage = addUsage(notes.usage, failed);
  return askedAgain(asking);
}

/** Notes the recorded usage of a step without a result, if the run was stopped or is replayed: then only the records are the same in every process. */
export async function noteKept(
  key: string,
  { notes, run: { journal, stop } }: FailedQuestion,
  before: Usage,
): Promise<void> {
  await notes.keeping?.catch(() => undefined);
  const isLate = stop.reason !== undefined || journal.mode === "replay";
  if (!isLate || journal.find === undefined) return;
  const kept = keptUsage(key, journal);
  notes.usage = kept === noUsage ? before : addUsage(before, kept);
}

/** The recorded usage of a step without a result: of its failed requests, and of the questions inside it. */
function keptUsage(key: string, journal: Journal): Usage {
  let usage = sumOf(failedIn(key, journal));
  for (let count = 1; ; count += 1) {
    const question = questionKey(key, count);
    const record = recordAt(question, journal);
    const kept = record === undefined ? failedIn(question, journal) : [record];
    if (kept.length === 0) return usage;
    usage = addUsage(usage, sumOf(kept));
  }
}

function failedIn(key: string, journal: Journal): readonly FailedRecord[] {
  const failed: FailedRecord[] = [];
  for (;;) {
    const next = recordAt(failedKey(key, failed.length + 1), journal);
    if (next === undefined) return failed;
    failed.push(next);
  }
}

function recordAt(key: string, { find }: Journal): FailedRecord | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a request or a question of this key wrote it
  return find?.(key) as FailedRecord | undefined;
}

function sumOf(records: readonly FailedRecord[]): Usage {
  return records.reduce((sum, { usage }) => addUsage(sum, usage), noUsage);
}

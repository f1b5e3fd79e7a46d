import type { CallRecord } from "../call/call.ts";
import type { RefusalRecord } from "../call/standing-call.ts";
import type { JournalRecord } from "../journal/recorded-journal.ts";
import type { KeptAnswer } from "../call/ask.ts";
import type { KeptEnd } from "../run/kept-end.ts";
import type { ModelRecord } from "../turn/ask-model.ts";

/** The records of a run, by subject. Records of runs inside calls, whose keys begin with that of their call, are left out. */
export interface ReadRecords {
  /** The requests, by the number of the turn; for a driver that asked several times, the first question and the last reply. */
  readonly models: ReadonlyMap<number, readonly ModelRecord[]>;
  /** The calls, by key: `turn/1/call/0`. Undefined for a call that began and has no result. */
  readonly calls: ReadonlyMap<string, CallRecord | undefined>;
  /** The reasons why calls did not run, by the key of the call. */
  readonly refusals: ReadonlyMap<string, RefusalRecord>;
  /** The answers, by the key of the question: `turn/1/approval/0`. */
  readonly answers: ReadonlyMap<string, KeptAnswer>;
  /** The keys of the calls whose tool waited for a signal or a time, which is over. */
  readonly waited: ReadonlySet<string>;
  /** The time at which the run began, if it is recorded. */
  readonly begunAt?: number;
  /** The last recorded end. */
  readonly end?: KeptEnd;
}

const modelKey = /^turn\/(\d+)\/model(?:\/\d+)?$/;
const callKey = /^turn\/\d+\/call\/\d+$/;
const refusedKey = /^(turn\/\d+\/call\/\d+)\/refused$/;
const waitKey = /^(turn\/\d+\/call\/\d+)\/(?:wait|sleep)\//;
const answerKey = /^turn\/\d+\/approval\/\d+$/;
const endKeys = /^end(?:\/\d+)?$/;

/** Sorts the records of a run. */
export function readRecords(records: readonly JournalRecord[]): ReadRecords {
  const models = new Map<number, ModelRecord[]>();
  const calls = new Map<string, CallRecord | undefined>();
  const refusals = new Map<string, RefusalRecord>();
  const answers = new Map<string, KeptAnswer>();
  let begunAt: number | undefined;
  let end: KeptEnd | undefined;
  /* oxlint-disable typescript/no-unsafe-type-assertion -- a step of this key wrote it */
  for (const { key, json } of records) {
    const turn = Number(modelKey.exec(key)?.[1]);
    const refused = refusedKey.exec(key)?.[1];
    const kept: unknown = json === undefined ? undefined : JSON.parse(json);
    if (callKey.test(key)) calls.set(key, kept as CallRecord | undefined);
    else if (kept === undefined) continue;
    else if (turn >= 0) models.set(turn, [...(models.get(turn) ?? []), kept as ModelRecord]);
    else if (refused !== undefined) refusals.set(refused, kept as RefusalRecord);
    else if (answerKey.test(key)) answers.set(key, kept as KeptAnswer);
    else if (key === "start") begunAt = (kept as { readonly now?: number }).now;
    else if (endKeys.test(key)) end = kept as KeptEnd;
  }
  /* oxlint-enable typescript/no-unsafe-type-assertion */
  return {
    models,
    calls,
    refusals,
    answers,
    waited: waitedIn(records),
    ...(begunAt === undefined ? {} : { begunAt }),
    ...(end === undefined ? {} : { end }),
  };
}

function waitedIn(records: readonly JournalRecord[]): ReadonlySet<string> {
  const ended = records.filter(({ json }) => json !== undefined);
  return new Set(ended.flatMap(({ key }) => waitKey.exec(key)?.[1] ?? []));
}

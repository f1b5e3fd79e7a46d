import { storedResult } from "../journal/stored-json.ts";
import type { KeptAnswer } from "../call/ask.ts";
import type { CallRecord } from "../call/call.ts";
import { checkShape, closed, fromOne } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import { accountKey, startKey } from "../journal/record-form.ts";
import type { JournalRecord } from "../journal/recorded-journal.ts";
import { endKey } from "../journal/record-form.ts";
import { isJsonObject, type Json } from "../util/json.ts";
import { filled, json, list, map, optional, shapeOf, string } from "../util/shape.ts";
import { forkKey, turnOf } from "./forked-journal.ts";
import { knownRun } from "./readable-run.ts";
import type { ForkOrigin, MovedRun, RunStore, StoredRun } from "./run-store.ts";
import { isTakenSignal } from "./signals.ts";

/** Options of a fork. */
export interface RunForkOptions {
  /** The first turn that the fork does anew, counted from 1: a turn that the run has begun. */
  readonly beforeTurn: number;
  /** The id of the fork. Default: a new id. */
  readonly id?: string;
  /** The agent that carries out the fork in place of the run's own: `clerk.with({ name: "clerk-b", policy, … })`, for changes of code. Workers need it too. */
  readonly agent?: { readonly name: string };
  /** The instructions in place of the agent's. */
  readonly instructions?: string;
  /** The name of the model in place of the agent's: `ollama/qwen2.5:7b`. */
  readonly model?: string;
  /** Values in place of the results of calls, by call key (`turn/2/call/0`). */
  readonly results?: Readonly<Record<string, Json>>;
  /** The names of tools that run again. All others answer as they did in the run; a call that the run did not make is skipped. Default: none. */
  readonly again?: readonly string[];
}

const shape = closed({
  beforeTurn: fromOne,
  id: filled,
  agent: optional(shapeOf("an agent", (value) => typeof Object(value).name === "string")),
  instructions: optional(string),
  model: optional(string),
  results: optional(map(json)),
  again: optional(list(string, "a list of names")),
});

/**
 * A new run from the records of another one, up to a turn.
 *
 * @throws WritError `definition-invalid`, `run-missing`, `turn-missing`, `call-missing`, `stored-unreadable`
 */
export async function forkOf(
  from: string,
  { id, ...options }: RunForkOptions & { readonly id: string },
  { store, now }: { readonly store: Pick<RunStore, "read" | "records">; readonly now: number },
): Promise<MovedRun> {
  checkShape("The options of fork()", { id, ...options }, shape);
  const { beforeTurn, agent, results = {}, instructions, model, again } = options;
  const run = await knownRun(from, store);
  const ended = (await store.records(from)).filter(({ json }) => json !== undefined);
  for (const { key, json = "" } of ended) storedResult(key, json); // a fork must not take over what its run could not
  const last = lastTurn(run, ended);
  if (beforeTurn > last) throw new WritError("turn-missing", { id: from, turn: beforeTurn, last });
  const records = withResults(ended, { id: from, results });
  const name = agent?.name ?? run.agent;
  const copied = records
    .filter((each) => isBefore(each.key, beforeTurn) && !isTakenSignal(each)) // the fork gets signals of its own
    .map((each) => answeredThere(begunAs(each, { runId: id, agent: name })));
  const answers = records.filter(({ key, json = "" }) => callKey.test(key) && wasMade(json));
  const fork: ForkOrigin = {
    run: from,
    beforeTurn,
    ...(agent === undefined ? changesOf(run) : {}), // a fork of a fork keeps the changes of that
    ...(instructions === undefined ? {} : { instructions }),
    ...(model === undefined ? {} : { model }),
    ...(again === undefined ? {} : { again }),
  };
  const { end: _end, endedAt: _endedAt, moves: _moves, fork: _fork, ...begun } = run;
  return {
    run: { ...begun, id, agent: name, status: "ready", begunAt: now, fork },
    records: [...copied, { key: forkKey, fingerprint: "", json: JSON.stringify(answers) }],
    questions: [],
  };
}

/** The changes of a run that is a fork itself. */
function changesOf({ fork }: StoredRun): Pick<ForkOrigin, "instructions" | "model"> {
  const { instructions, model } = fork ?? {};
  return {
    ...(instructions === undefined ? {} : { instructions }),
    ...(model === undefined ? {} : { model }),
  };
}

const callKey = /(?:^|\/)turn\/\d+\/call\/\d+$/;

/** True for the record of a call that reached its tool. */
function wasMade(json: string): boolean {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a call wrote it
  const { result } = JSON.parse(json) as Pick<CallRecord, "result">;
  return result.status !== "denied" && result.status !== "skipped" && result.status !== "cancelled";
}

/** True for records that the fork takes over. It has its own accounts and its own end, and is not saved in a session. */
function isBefore(key: string, beforeTurn: number): boolean {
  const turn = turnOf(key);
  if (turn !== undefined) return turn < beforeTurn;
  return (
    ![accountKey, endKey, forkKey].includes(key) &&
    !key.startsWith(`${endKey}/`) &&
    !key.startsWith("session/save/")
  );
}

/** The last turn that the run has begun. A turn whose model failed has no record: the end of the run counts it. That of a composition counts those of its members. */
function lastTurn({ end }: StoredRun, records: readonly JournalRecord[]): number {
  const recorded = Math.max(0, ...records.map(({ key }) => turnOf(key) ?? 0));
  const begun: unknown = JSON.parse(records.find(({ key }) => key === startKey)?.json ?? "null");
  const isAgents = isJsonObject(begun) && Object.hasOwn(begun, "intent");
  return isAgents ? Math.max(recorded, Math.min(end?.turns ?? 0, recorded + 1)) : recorded;
}

/** @throws WritError `call-missing` */
function withResults(
  records: readonly JournalRecord[],
  { id, results }: { readonly id: string } & Required<Pick<RunForkOptions, "results">>,
): readonly JournalRecord[] {
  const missing = Object.keys(results).find(
    (call) => !records.some(({ key }) => key === call && callKey.test(key)),
  );
  if (missing !== undefined) throw new WritError("call-missing", { id, key: missing });
  return records.map((each) => {
    const value = Object.hasOwn(results, each.key) ? results[each.key] : undefined;
    return value === undefined ? each : { ...each, json: withValue(each.json ?? "", value) };
  });
}

/** The record of a call with another value. Fields that describe the old value, such as a cut, are dropped. */
function withValue(json: string, value: Json): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a call wrote it
  const { cut: _cut, fatal: _fatal, ...record } = JSON.parse(json) as CallRecord;
  const { label } = record.result;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return JSON.stringify({
    ...record,
    result: { status: "ok", text, value, ...(label === undefined ? {} : { label }) },
  });
}

const approvalKey = /(?:^|\/)turn\/\d+\/approval\/\d+$/;

/** The record of a person's answer, marked as given in the original run: the fork is another run, whose calls the person did not see. */
function answeredThere(record: JournalRecord): JournalRecord {
  if (!approvalKey.test(record.key)) return record;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the question wrote it
  const answer = JSON.parse(record.json ?? "null") as KeptAnswer;
  return { ...record, json: JSON.stringify({ ...answer, over: true }) };
}

/** The record of the run's beginning as that of the fork: its id is part of the keys by which services know its calls. */
function begunAs(
  record: JournalRecord,
  { runId, agent }: { readonly runId: string; readonly agent: string },
): JournalRecord {
  if (record.key !== startKey) return record;
  const begun: unknown = JSON.parse(record.json ?? "null");
  return isJsonObject(begun) ? { ...record, json: JSON.stringify({ ...begun, runId, agent }) } : record;
}

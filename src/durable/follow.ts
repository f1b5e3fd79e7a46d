import type { RunResult } from "../agent/runnable.ts";
import { isWritError, type WritError } from "../error/writ-error.ts";
import { type AgentEvent, isFact } from "../event/event.ts";
import type { Outcome } from "../event/outcome.ts";
import { storedResult } from "../journal/stored-json.ts";
import type { Journal, Step } from "../journal/journal.ts";
import { memoryJournal } from "../journal/memory-journal.ts";
import type { JournalRecord } from "../journal/recorded-journal.ts";
import type { Json } from "../util/json.ts";
import { waitForAll } from "../util/wait-for-all.ts";
import type { DurableAround } from "./durable-options.ts";
import { journalOfRun } from "./forked-journal.ts";
import { isTakenOver } from "../run/recorded-end.ts";
import { withEnd } from "./known-end.ts";
import { NewFacts } from "./new-facts.ts";
import { knownRun, runEndingHere } from "./readable-run.ts";
import { SettledFacts } from "./settled-facts.ts";
import { type AskedRun, askedRun } from "./run-of.ts";
import { endOfUnbegun } from "./unbegun.ts";
import type { StoredRun } from "./run-store.ts";
import { untilChanged, untilEnded, type Waiter } from "./until-ended.ts";

/** Options of following a run. */
export interface FollowOptions {
  /** The `seq` of the last known fact; with `inside`, one for each run, by its id. Default 0: all facts are told. */
  readonly after?: number | Readonly<Record<string, number>>;
  /** Tells the facts of agents inside calls too, each with the `runId` of its run and the `parentRunId` of the run around it. Default: false. */
  readonly inside?: boolean;
  /** Ends the following, not the run. */
  readonly signal?: AbortSignal;
}

/** Tells the facts of a run until it ends, past ones first. @throws WritError `run-missing`, `run-agent-missing`; the reason of the signal */
export async function* followRun(
  id: string,
  around: DurableAround,
  { after = 0, inside = false, signal }: FollowOptions,
): AsyncGenerator<AgentEvent, void> {
  const { agent, input, options } = askedRun(await knownRun(id, around.store), around);
  const news = new NewFacts(id, after, inside);
  const left = new AbortController();
  const ending = signal === undefined ? left.signal : AbortSignal.any([left.signal, signal]);
  const following = await followingJournal(id, { ...around, signal: ending });
  const journal: Journal = inside ? { ...following, tellsInside: true } : following;
  const events = agent.stream(input, { ...options, journal, signal: ending });
  let hasBegun = false;
  try {
    for (;;) {
      const next = await events.next().catch(() => undefined); // the last fact of a failed run tells its failure
      signal?.throwIfAborted();
      if (next === undefined && !hasBegun)
        for (const event of await unbegunOf(id, { ...around, signal })) yield* news.take(event);
      if (next === undefined || next.done === true) return;
      hasBegun = true;
      for (const event of news.take(next.value))
        yield event.type === "run-end" && event.runId === id
          ? { ...event, outcome: await outcomeOf(id, around, event.outcome) }
          : event;
    }
  } finally {
    left.abort();
    await events.next().catch(() => undefined); // it ends because its journal has ended
  }
}

/** The facts of a run that cannot begin, once the store has its end. @throws WritError `run-missing`, `run-moved`; the reason of the signal */
async function unbegunOf(id: string, waiter: Waiter): Promise<readonly AgentEvent[]> {
  await untilEnded(id, waiter);
  const run = await waiter.store.read(id);
  return run === undefined ? [] : endOfUnbegun(run);
}

/**
 * Tells the recorded facts that are final, up to the first open question; the last is `run-end` if the run has ended. Returns the result of the
 * run; undefined if the replay threw, because the last fact of a failed run tells its failure.
 *
 * @throws WritError `run-missing`, `run-agent-missing`
 */
export async function* pastOf(
  id: string,
  around: DurableAround,
  after = 0,
): AsyncGenerator<AgentEvent, RunResult<unknown> | undefined> {
  const { agent, input, options, journal } = await recordedRun(await knownRun(id, around.store), around);
  const run = await around.store.read(id); // it may have ended before its records were read
  const events = agent.stream(input, { ...options, journal });
  const facts = new SettledFacts();
  let hasBegun = false;
  for (;;) {
    const next = await events.next().catch(() => undefined);
    if (next === undefined && !hasBegun && run !== undefined)
      yield* endOfUnbegun(run).filter(({ seq }) => seq > after);
    if (next === undefined || next.done === true) return next?.value;
    hasBegun = true;
    const event = next.value;
    if (event.parentRunId !== undefined || !isFact(event)) continue;
    const outcome = event.type === "run-end" ? run?.end?.outcome : undefined;
    if (event.type !== "run-end") yield* facts.take(event).filter(({ seq }) => seq > after);
    else if (outcome !== undefined)
      yield* [...facts.held.splice(0), { ...event, outcome }].filter(({ seq }) => seq > after);
  }
}

/** Replays a run from its records only. @throws WritError `run-missing`, `run-agent-missing`, `journal-ended` for a run that has not ended */
export async function replayRun(id: string, around: DurableAround): Promise<RunResult<unknown>> {
  return replayKnown(await knownRun(id, around.store), around);
}

/** Replays a run that was read before. @throws WritError `run-agent-missing`, `journal-ended` */
export async function replayKnown(run: StoredRun, around: DurableAround): Promise<RunResult<unknown>> {
  const { agent, input, options, journal } = await recordedRun(run, around);
  return agent.run(input, { ...options, journal });
}

/**
 * The recorded facts of a run so far, whether it has ended or not.
 *
 * @throws WritError `run-missing`, `run-agent-missing`; `journal-mismatch`, `journal-longer` for a run of another program
 */
export async function recordedFacts(id: string, around: DurableAround): Promise<readonly AgentEvent[]> {
  const { facts, error } = await replayedFacts(id, around);
  if (isOfAnotherProgram(error)) throw error;
  return facts;
}

/** True for the error of a replay whose records were made by another program: its facts are not those of the run. */
export function isOfAnotherProgram(error: unknown): error is WritError {
  return isWritError(error, "journal-mismatch") || isWritError(error, "journal-longer");
}

/** The recorded facts of a run so far, and the error of the replay: for a run that goes on, that its records end. */
export interface ReplayedFacts {
  readonly facts: readonly AgentEvent[];
  readonly error?: unknown;
}

/** The recorded facts so far, with the error of the replay. @throws WritError `run-missing`, `run-agent-missing` */
export async function replayedFacts(id: string, around: DurableAround): Promise<ReplayedFacts> {
  const { agent, input, options, journal } = await recordedRun(await knownRun(id, around.store), around);
  const facts: AgentEvent[] = [];
  const onEvent = (event: AgentEvent): void => {
    if (event.parentRunId === undefined && isFact(event)) facts.push(event);
  };
  try {
    await agent.run(input, { ...options, journal, onEvent });
    return { facts };
  } catch (error) {
    return { facts, error }; // the last fact of a failed run tells its failure, and a run that goes on has no more facts
  }
}

/** A run with the journal that replays its records. @throws WritError `run-agent-missing` */
export async function recordedRun(
  run: StoredRun,
  around: DurableAround,
): Promise<AskedRun & { readonly journal: Journal }> {
  const asked = askedRun(run, around);
  const records = withEnd(await around.store.records(run.id), run);
  return { ...asked, journal: journalOfRun(memoryJournal(records, { mode: "replay" }), run) };
}

/** The end that the store has: a run that was cancelled while nobody carried it out has no record of the cancel. @throws WritError `run-missing`, `run-moved` */
async function outcomeOf(id: string, { store }: DurableAround, replayed: Outcome): Promise<Outcome> {
  return (await runEndingHere(id, store)).end?.outcome ?? replayed;
}

/** A journal that does nothing itself: each step waits for the record that the run's worker makes. */
async function followingJournal(id: string, waiter: Waiter): Promise<Journal> {
  const known = new Map<string, JournalRecord>();
  let last: string | undefined; // the last key whose place is final: a step that has only begun moves to the end with its result
  const take = (records: readonly JournalRecord[]): void => {
    for (const record of records) {
      known.delete(record.key);
      known.set(record.key, record);
      if (record.json !== undefined) last = record.key;
    }
  };
  /** Takes new records. True once there will be no more of them here. */
  async function look(): Promise<boolean> {
    const run = await waiter.store.read(id); // read first: a run that has ended gets no more records
    take(await waiter.store.records(id, last));
    if (run?.end !== undefined)
      for (const record of withEnd([...known.values()], run)) known.set(record.key, record);
    return run === undefined || run.end !== undefined || run.status === "moved";
  }
  await look();
  /** The record of a step, once it exists; null if it never will. */
  const recordOf = (key: string): Promise<string | null> =>
    untilChanged(id, waiter, async () => {
      const json = known.get(key)?.json;
      if (json !== undefined) return json;
      const isOver = await look();
      return known.get(key)?.json ?? (isOver || isTakenOver(key, { find }) ? null : undefined);
    });
  function find(key: string): Json | undefined {
    const json = known.get(key)?.json;
    return json === undefined ? undefined : storedResult<Json>(key, json);
  }
  async function step<Result>({ key, run }: Step<Result>): Promise<Result> {
    const json = await recordOf(key);
    return json === null ? run() : storedResult<Result>(key, json);
  }
  return {
    mode: "replay",
    step,
    all: (steps) => waitForAll(steps, step),
    find,
    arrived: async (key) => void (await recordOf(key)),
  };
}

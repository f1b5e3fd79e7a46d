import type { SessionHandle } from "../session/session.ts";
import type { RunOptions } from "../agent/run-options.ts";
import type { RunResult } from "../agent/runnable.ts";
import { isWritError } from "../error/writ-error.ts";
import type { Journal } from "../journal/journal.ts";
import { watchedJournal } from "../journal/watched-journal.ts";
import { toJson } from "../util/json.ts";
import { waitForOthers, wakeAfter } from "./after-others.ts";
import type { DurableAround } from "./durable-options.ts";
import { journalOfRun } from "./forked-journal.ts";
import { failed, worldError } from "../run/end.ts";
import { isRunError } from "../run/finished.ts";
import { isPassed } from "../run/recorded-end.ts";
import { tellGivenUp } from "./cancel.ts";
import { onceAtATime } from "./once-at-a-time.ts";
import { askedRun } from "./run-of.ts";
import type { RunEnd, RunJournal } from "./run-store.ts";
import { withPast } from "./past.ts";
import { withdrawingPassed } from "./passed-questions.ts";
import { tellStoreFailed } from "./store-failed.ts";
import { tellUntold, untoldBefore } from "./told-late.ts";
import { toldOfEnd } from "./told-of-end.ts";

/** A run that this process carries out. */
export interface Carrying {
  /** Resolves when the run has ended, waits, or was given up. */
  readonly done: Promise<void>;
  /** Lets calls and replies under way end, then gives the run up. */
  leave(): void;
  /** Checks whether somebody has cancelled or moved the run. */
  look(): void;
  /** True while it stands in line for its session. */
  isInLine(): boolean;
}

/** The milliseconds of the pause after the store failed. */
const pauseMs = 1000;

/** Carries out a run that was taken, until it ends, waits or is given up. Calls `onLine` when it begins to stand in line for its session. */
export function carryOut(journal: RunJournal, around: DurableAround, onLine?: () => void): Carrying {
  const { store } = around;
  const { id } = journal.run;
  const cancelling = new AbortController();
  const leaving = new AbortController();
  const { journal: given, isPast } = withPast(journalOfRun(journal, journal.run));
  let isInLine = false;
  const standing = (isNow: boolean): void => {
    if (isNow === isInLine) return;
    isInLine = isNow;
    if (isNow) onLine?.();
  };
  const look = async (): Promise<void> => {
    const run = await store.read(id);
    const outcome = run?.end?.outcome;
    const isCancelled = outcome?.type === "cancelled";
    if (isCancelled && !isPast()) cancelling.abort(outcome.reason);
    else if (isCancelled || run?.status === "moved") leaving.abort(); // a cancelled run in its past is told from its records, whole
  };
  const mayLook = (): Promise<void> => look().catch(() => undefined); // a store that fails is asked again at the next look
  return {
    done: carry(journal, around, {
      cancelling: cancelling.signal,
      leaving: leaving.signal,
      look: mayLook,
      standing,
      given,
    }),
    isInLine: () => isInLine,
    leave: () => leaving.abort(),
    look: onceAtATime(mayLook), // a slow store is not asked again before it has answered
  };
}

interface Signals {
  /** Checks whether the run was cancelled or moved. */
  readonly look: () => Promise<void>;
  readonly cancelling: AbortSignal;
  readonly leaving: AbortSignal;
  /** Says whether the run stands in line for its session. */
  readonly standing: (isNow: boolean) => void;
  /** The journal as the run uses it. */
  readonly given: Journal;
}

async function carry(journal: RunJournal, around: DurableAround, signals: Signals): Promise<void> {
  const { run } = journal;
  const { store } = around;
  let broken: unknown;
  const watched = watchedJournal(signals.given, (error) => (broken ??= error));
  let left: Left;
  try {
    const own = toldOfEnd(await withdrawingPassed(watched, journal, store), signals.look);
    const { cancelling: signal, leaving: handOver } = signals;
    const storeFailed = (error: unknown): never => {
      broken = error; // not the run
      throw error;
    };
    const waitBehind = await waitForOthers(journal, around).catch(storeFailed);
    if (waitBehind === undefined) {
      const untold = await untoldBefore(journal, around).catch(storeFailed);
      await tellUntold(untold, around, [signal, handOver]);
      const given = { journal: own, signal, handOver };
      left = await leavingAfter(journal, around, { given, standing: signals.standing });
    } else left = { leave: waitBehind };
  } catch (error) {
    left = {
      leave: isJournals(broken) ? () => journal.close() : () => journal.end(failure(error, run.agent)),
    };
    if (isStores(broken)) {
      tellStoreFailed(broken, around.host);
      await pause(around);
    }
  }
  await insisting(left.leave, around);
  const ended = await store.read(run.id).catch(() => undefined);
  if (ended?.end === undefined) return;
  if (left.isOpen === true && ended.status === "cancelled") return tellGivenUp(ended, around);
  await wakeAfter(run, around).catch((error: unknown) => tellStoreFailed(error, around.host)); // they are found later too
}

/** A run, carried out as far as it comes here. */
interface Left {
  readonly leave: () => Promise<void>;
  /** True if the run is to go on: it waits, or is handed over. */
  readonly isOpen?: boolean;
}

/** Carries the run out as far as it comes. Returns how to give it up. */
async function leavingAfter(
  journal: RunJournal,
  around: DurableAround,
  { given, standing }: Pick<Signals, "standing"> & { readonly given: RunOptions },
): Promise<Left> {
  const { agent, input, options } = askedRun(journal.run, around);
  const { onEvent } = around;
  const { session } = options;
  const inLine = session === undefined ? {} : { session: tellingLine(session, standing) };
  return leavingFor(await agent.run(input, { ...options, ...inLine, ...given, onEvent }), journal, around);
}

/** The same session. It tells while its run stands in line for it. */
function tellingLine(session: SessionHandle, standing: Signals["standing"]): SessionHandle {
  const enter: SessionHandle["enter"] = (visit) =>
    session.enter({ ...visit, waits: () => standing(true) }).finally(() => standing(false));
  return { ...session, enter };
}

/** The way to give up a run that came to its end, to a question, or is handed to another worker. */
function leavingFor(result: RunResult<unknown>, journal: RunJournal, { store }: DurableAround): Left {
  const { outcome, questions } = result;
  if (questions === undefined) return { leave: () => journal.end(endOf(result)) };
  const isHandedOver = outcome.type === "suspended" && outcome.field === "handover";
  if (isHandedOver) return { leave: () => journal.close(), isOpen: true };
  const { id, agent } = journal.run;
  const wait = async (): Promise<void> => {
    const open = await store.questions(id).catch((error: unknown) => {
      if (isWritError(error, "stored-unreadable")) return error;
      throw error;
    });
    if (isWritError(open)) return journal.end(failure(open, agent)); // nobody could answer it; a retry asks it anew
    return journal.wait(open.map(({ key }) => key).filter((key) => isPassed(key, journal)));
  };
  return { leave: wait, isOpen: true };
}

/** Codes of errors of the records: they would be the same in every process. */
const ofRecords: ReadonlySet<string> = new Set(["journal-mismatch", "stored-unreadable"]);

/** True if the run stopped because of its journal: it has no end, and this process or another goes on with it later. */
function isJournals(broken: unknown): boolean {
  return broken !== undefined && !(isWritError(broken) && ofRecords.has(broken.code));
}

/** Codes of errors that others caused, or that the records do: the store itself works. */
const notStores: ReadonlySet<string> = new Set([
  ...ofRecords,
  "run-ended",
  "run-missing",
  "run-moved",
  "run-taken",
]);

/** True if the store failed: without a pause it would fail again, after everything unrecorded was repeated. */
function isStores(broken: unknown): boolean {
  return broken !== undefined && !(isWritError(broken) && notStores.has(broken.code));
}

function endOf({ outcome, output, usage, turns }: RunResult<unknown>): RunEnd {
  const json = toJson(output);
  return { outcome, usage, turns, ...(output !== undefined && json.ok ? { output: json.value } : {}) };
}

function failure(cause: unknown, name: string): RunEnd {
  const outcome = failed(worldError(cause, name));
  return isRunError(cause) ? { outcome, usage: cause.usage, turns: cause.turns } : { outcome };
}

/** Gives a run up, and tries again as long as the store fails: nobody else could take the run. */
async function insisting(leave: () => Promise<void>, around: DurableAround): Promise<void> {
  for (;;) {
    try {
      return await leave();
    } catch (error) {
      if (isWritError(error, "run-taken")) return;
      tellStoreFailed(error, around.host);
      await pause(around);
    }
  }
}

function pause({ host }: DurableAround): Promise<void> {
  return new Promise((resolve) => void host.timer(pauseMs, resolve));
}

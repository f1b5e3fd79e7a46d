import type { Runnable, RunResult } from "../agent/runnable.ts";
import type { AgentEvent } from "../event/event.ts";
import type { Host } from "../journal/host.ts";
import { handedOver } from "../run/secrets.ts";
import { wakeAfter } from "./after-others.ts";
import { cancelRun } from "./cancel.ts";
import { checked, checkedId, readErased } from "./check-given.ts";
import type { DurableAround, DurableOptions } from "./durable-options.ts";
import { type FollowOptions, followRun, replayRun } from "./follow.ts";
import { checkEdit, orMoved } from "./answer-record.ts";
import { type RunForkOptions, forkOf } from "./fork.ts";
import { newRunOf, sameRun, type StartOptions } from "./new-run.ts";
import type {
  Erased,
  QuestionAnswer,
  QuestionFilter,
  RunEnd,
  RunFilter,
  RunStore,
  StoredRun,
  WaitingQuestion,
} from "./run-store.ts";
import { settlementOf } from "./settle.ts";
import { checkSignal, readSignal, type SentSignal } from "./signals.ts";
import type { Settlement } from "../tool/after-crash.ts";
import { readRunText, runText } from "./run-text.ts";
import { readable } from "./readable-run.ts";
import { checkGoesOn, type StrandedRun, strandedRuns } from "./stranded.ts";
import { untilEnded } from "./until-ended.ts";
import { wakeById, woken } from "./waking.ts";
import { wantedQuestions } from "./wanted-questions.ts";
import { withdrawQuestions } from "./withdraw.ts";
import { RunsWorker, type RunWorker, type WorkOptions } from "./worker.ts";

/** Runs that outlast their process. Any process that has the store can call these functions. */
export interface DurableRuns {
  /**
   * Begins a run, which a worker carries out. If a run with this id was begun before, returns that one: starting twice is starting once. The run
   * is on disk when this returns.
   *
   * @throws WritError `input-invalid`, `run-option-unusable` for a skill of a composition, `run-differs` if the run with that id has another
   * agent, input, session or other options
   */
  start<Input>(agent: Runnable<Input>, input: Input, options?: StartOptions): Promise<StoredRun>;
  /**
   * Waits until a run has ended, wherever it is carried out, for days if need be; `signal` ends the waiting, not the run.
   *
   * @throws WritError `run-missing`, `run-moved`
   */
  result(id: string, options?: { readonly signal?: AbortSignal }): Promise<RunEnd>;
  /** The open questions of all runs, of one, or the wanted ones, oldest first. */
  waiting(wanted?: string | QuestionFilter): Promise<readonly WaitingQuestion[]>;
  /**
   * Answers a question, once, with the `hash` of the request that was shown. A worker goes on with the run.
   *
   * @throws WritError `question-unknown` if nothing waits there; `run-moved`; `question-answered` if somebody has answered; `question-expired` if its time is over;
   * `question-changed` for another hash; `question-forbidden` if `by` may not answer; `question-stale` if another policy asked than that of the run's agent,
   * if this process has that agent, or than the one that `policy` names; `question-stranded` for a yes if this process has the agent with code that cannot go on
   * with the run; `edit-invalid` for arguments that do not match the tool's input schema
   */
  answer(id: string, key: string, answer: QuestionAnswer): Promise<void>;
  /**
   * Settles a call of a tool with `reconcile: "person"` that was running when its process died, once: it happened, with this value; it did not, and runs
   * now; or it stays unknown. `by` names the person who says so. `call` is its key (`turn/1/call/0`), or that of its question in `waiting`. A worker goes on
   * with the run from there.
   *
   * @throws WritError `run-missing`, `run-moved`, `call-not-unknown`, `question-answered` if somebody has settled it, `question-forbidden`, `definition-invalid`
   */
  settle(id: string, call: string, settled: Settlement & { readonly by?: string }): Promise<void>;
  /**
   * Sends a signal to a run: the oldest `waitFor` of that name in its tools returns the value (default null), and a worker goes on with the run. A signal that
   * nothing waits for yet is kept for the next `waitFor`. `id` names the signal, so that sending it twice counts once. Default: a new one.
   *
   * @throws WritError `signal-invalid` if the value does not fit the schema of the `waitFor`; `run-missing`, `run-ended`, `run-moved`, `definition-invalid`
   */
  signal(id: string, signal: SentSignal): Promise<void>;
  /**
   * Cancels a run for good. The cancel is recorded first; then the worker that has the run stops it. No question is asked any more, no later answer counts, and
   * no call begins that may not happen twice. The session is told what the run did: by the worker that has it, otherwise here, if its agent and `sessions` are
   * here, otherwise where its next run begins. Returns the run: one that had ended before keeps its end.
   *
   * @throws WritError `run-missing`, `run-moved`
   */
  cancel(id: string, reason?: string): Promise<StoredRun>;
  /**
   * Lets a run go on that failed or met a bound. Its effects stay done, and paid replies are not requested again. A run that was answered or
   * cancelled keeps its end.
   *
   * @throws WritError `run-missing`, `run-moved`, `stored-unreadable` if its row still cannot be read
   */
  retry(id: string): Promise<StoredRun>;
  /** The runs, latest first. @throws WritError `run-missing` if the run named in `before` is gone */
  list(wanted?: RunFilter): Promise<readonly StoredRun[]>;
  /** One run; undefined if no run has that id. */
  show(id: string): Promise<StoredRun | undefined>;
  /** Erases a run, or all runs of a session, with all their records. Returns their number. @throws WritError `run-claimed` while a worker has one */
  erase(which: Exclude<Erased, { readonly endedBefore: number }>): Promise<number>;
  /**
   * The facts of a run by their `seq`: first the past ones, then each as it happens, wherever that is; the last is `run-end`. They come from the
   * records: nothing is done again, and the agent's observers are not called. With `inside`, facts of agents inside calls are included. Needs the run's agent.
   *
   * @throws WritError `run-missing`, `run-moved`, `run-agent-missing`; the reason of the signal
   */
  events(id: string, options?: FollowOptions): AsyncGenerator<AgentEvent, void>;
  /**
   * The whole result of an ended run, with its transcript, from its records. Nothing is done again. Needs the agent of the run.
   *
   * @throws WritError `run-missing`, `run-agent-missing`, `journal-ended` if the records do not reach the end of the run, `run-moved` if it goes on in
   * another store; the error of a run whose model failed, with its transcript
   */
  replay(id: string): Promise<RunResult<unknown>>;
  /**
   * Checks, before a deploy, which runs of this process's agents cannot go on with its code: replays each run that has not ended up to where it is.
   * Nothing happens, and workers that carry out runs are not disturbed.
   */
  check(): Promise<readonly StrandedRun[]>;
  /**
   * Begins a new run from the records of another one, up to a turn, to try other instructions, another model, policy or result. Nothing before the
   * turn is done again, and tools answer as they did in the original run, which stays as it is: only tools in `again` have effects.
   * A session is read but not written.
   *
   * @throws WritError `definition-invalid`, `run-missing`, `run-moved`, `turn-missing`, `call-missing`, `run-exists`
   */
  fork(id: string, options: RunForkOptions): Promise<StoredRun>;
  /**
   * Takes a run out of the store, to go on in another one: its records, children, questions and answers as text, one JSON object per line. A worker that has
   * it writes nothing more, and the run stays behind as `moved`. Exporting again returns the same, in case the text was lost. Import it into one store only.
   *
   * @throws WritError `run-missing`
   */
  export(id: string): Promise<string>;
  /**
   * Puts an exported run into the store, once. It goes on from where it was: nothing that was recorded happens again.
   *
   * @throws WritError `run-exists`, `export-broken`, `export-newer`
   */
  import(text: string): Promise<StoredRun>;
  /** Starts a worker that carries out runs of the agents in this process until it is drained. */
  work(options?: WorkOptions): RunWorker;
}

/** Makes durable runs for a host, from checked options. `adapters/durable-runs.ts` makes those for Node, under the name `durableRuns`. */
export function durableRunsWith(options: DurableOptions, host: Host): DurableRuns {
  const { store } = options;
  const around = { ...options, host };
  /** Wakes runs that wait for the end of a run that is gone. If the store fails, they are found later too. */
  const wakeBehind = (run: StoredRun): Promise<void> => wakeAfter(run, around).catch(() => undefined);
  return {
    async start(agent, input, more = {}) {
      const wanted = { ...checked("start", more), id: more.id ?? host.randomId() };
      const run = await newRunOf(agent, { input, options: wanted }, around);
      const begun = sameRun(run, await store.begin(run));
      if (more.whenWaiting === "withdraw")
        for (const id of await withdrawQuestions(begun, store)) await wakeById(id, around);
      return woken(begun, around);
    },
    result: async (id, wanted = {}) =>
      untilEnded(checkedId("result", id), { store, host, signal: checked("result", wanted).signal }),
    waiting: async (wanted) => waitingOf(store, checked("waiting", wanted)),
    answer: async (id, key, given) =>
      answerRun({ id: checkedId("answer", id), key }, handedOver(given, host), around),
    async settle(id, call, settled) {
      const ended = { id: checkedId("settle", id), call, settled };
      const { key, answer } = await settlementOf(store, ended);
      await answerRun({ id, key }, answer, around);
    },
    async signal(id, sent) {
      const run = checkedId("signal", id);
      const signal = handedOver(readSignal(sent, host), host);
      await checkSignal(store, run, signal);
      await store.signal(run, signal);
      await wakeById(run, around);
    },
    cancel: async (id, reason) => {
      const run = checkedId("cancel", id);
      return cancelRun(run, checked("cancel", handedOver(reason, host)) ?? "it was cancelled", around);
    },
    retry: async (id) => woken(readable(await store.reopen(checkedId("retry", id))), around),
    list: async (wanted = {}) => store.list(checked("list", wanted)),
    show: async (id) => store.read(checkedId("show", id)),
    erase: (given) => forget(store, given, wakeBehind),
    events: (id, wanted = {}) => followRun(checkedId("events", id), around, checked("events", wanted)),
    replay: async (id) => replayRun(checkedId("replay", id), around).catch(orMoved(id, store)),
    fork: async (id, wanted) => {
      const from = checkedId("fork", id);
      const given = handedOver(checked("fork", wanted), host);
      const begun = { ...given, id: given.id ?? host.randomId() };
      const fork = await forkOf(from, begun, { store, now: host.now() }).catch(orMoved(from, store));
      return woken(await store.moveIn(fork), around);
    },
    async export(id) {
      const moved = await store.moveOut(checkedId("export", id));
      await wakeBehind(moved.run);
      return runText(moved);
    },
    import: async (text) => woken(await store.moveIn(readRunText(checked("import", text))), around),
    check: () => strandedRuns(around),
    work: (wanted = {}) => new RunsWorker(around, wanted),
  };
}

/** Answers a question of a run, and wakes the run. */
async function answerRun(
  { id, key }: { readonly id: string; readonly key: string },
  given: QuestionAnswer,
  around: DurableAround,
): Promise<void> {
  const { store } = around;
  if (checked("answer", given).approved) await checkGoesOn(id, key, around);
  await checkEdit({ id, key }, given, store);
  await store.answer(id, key, given).catch(orMoved(id, store));
  await wakeById(id, around);
}

function waitingOf(
  store: RunStore,
  wanted: string | QuestionFilter | undefined,
): Promise<readonly WaitingQuestion[]> {
  return typeof wanted === "object" ? wantedQuestions(store, wanted) : store.questions(wanted);
}

/** Erases runs; runs that wait for the end of one of them go on. */
async function forget(
  store: RunStore,
  given: { readonly id?: string; readonly session?: string },
  wakeBehind: (run: StoredRun) => Promise<void>,
): Promise<number> {
  const which = readErased(given);
  const before = "id" in which ? await store.read(which.id) : undefined; // erasing a session leaves none of its other runs to wake
  const count = await store.erase(which);
  if (before !== undefined) await wakeBehind(before);
  return count;
}

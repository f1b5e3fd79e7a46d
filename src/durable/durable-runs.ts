import type { Runnable, RunResult } from "../agent/runnable.ts";
import type { AgentEvent } from "../event/event.ts";
import type { Host } from "../journal/host.ts";
import { wakeAfter } from "./after-others.ts";
import { cancelRun } from "./cancel.ts";
import { checked, readErased } from "./check-given.ts";
import type { DurableOptions } from "./durable-options.ts";
import { type FollowOptions, followRun, replayRun } from "./follow.ts";
import { type RunForkOptions, forkOf } from "./fork.ts";
import { newRunOf, sameRun, type StartOptions } from "./new-run.ts";
import type {
  Erased,
  QuestionAnswer,
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
import { checkPolicy, type StrandedRun, strandedRuns } from "./stranded.ts";
import { untilEnded } from "./until-ended.ts";
import { waking, wakingById } from "./waking.ts";
import { withdrawQuestions } from "./withdraw.ts";
import { RunsWorker, type RunWorker, type WorkOptions } from "./worker.ts";

/** Runs that outlast their process. Each function may be called in any process that has the store. */
export interface DurableRuns {
  /**
   * Begins a run, which a worker carries out. With the id of a run that was begun before it gives that: starting twice is starting once. The run
   * is on the disk when this returns.
   *
   * @throws WritError `input-invalid`, `run-option-unusable` for a skill of agents that are put together, `run-differs` where the run of that id has another
   * agent, input, session or other options
   */
  start<Input>(agent: Runnable<Input>, input: Input, options?: StartOptions): Promise<StoredRun>;
  /**
   * Waits until a run has ended, wherever it is carried out, for days if need be; `signal` ends the waiting and not the run.
   *
   * @throws WritError `run-missing`, `run-moved`
   */
  result(id: string, options?: { readonly signal?: AbortSignal }): Promise<RunEnd>;
  /** The questions that runs wait for, or one run, the oldest first. */
  waiting(id?: string): Promise<readonly WaitingQuestion[]>;
  /**
   * Answers a question, once, with the `hash` of the request that was shown. The run goes on in a worker.
   *
   * @throws WritError `question-unknown` when nothing there waits; `question-answered` when somebody has answered; `question-expired` when its time is over;
   * `question-changed` for another hash; `question-forbidden` when `by` may not answer; `question-stale` when the policy of the run, whose agent is given
   * here, is not the one that asks, or `policy` names another one
   */
  answer(id: string, key: string, answer: QuestionAnswer): Promise<void>;
  /**
   * Settles a call that was at work when its process died, of a tool with `reconcile: "person"`, once: it happened, with this value; it did not, and runs
   * now; or it stays unknown. `by` names who says so. `call` is its key (`turn/1/call/0`), or that of its question in `waiting`. The run goes on from there, in a worker.
   *
   * @throws WritError `run-missing`, `run-moved`, `call-not-unknown`, `question-answered` when somebody has settled it, `question-forbidden`, `definition-invalid`
   */
  settle(id: string, call: string, settled: Settlement & { readonly by?: string }): Promise<void>;
  /**
   * Sends a signal to a run: the oldest `waitFor` of that name in its tools gives the value (default null), and the run goes on in a worker. Sent before anything waits
   * for it, it is kept for the next that does. `id` names the signal, so that one that is sent twice counts once. Default: a new one.
   *
   * @throws WritError `signal-invalid` where what waits has a schema that the value does not fit; `run-missing`, `run-ended`, `run-moved`, `definition-invalid`
   */
  signal(id: string, signal: SentSignal): Promise<void>;
  /**
   * Cancels a run for good. That is kept first; then the worker that has the run stops it. Nobody is asked any more, no later answer counts, and no
   * call begins that may not happen twice. What the run did is told to its session: by the worker that has it, else here, where its agent and `sessions` are.
   * Gives the run: one that had ended before keeps its end.
   *
   * @throws WritError `run-missing`
   */
  cancel(id: string, reason?: string): Promise<StoredRun>;
  /**
   * Lets a run go on that failed, or that met a bound. What it did stays done, and what it paid for is not asked again. A run that was answered or
   * cancelled keeps its end.
   *
   * @throws WritError `run-missing`
   */
  retry(id: string): Promise<StoredRun>;
  /** The runs, the latest first. @throws WritError `run-missing` where the run is gone that they are to be `before` */
  list(wanted?: RunFilter): Promise<readonly StoredRun[]>;
  /** One run; undefined when there is none of that id. */
  show(id: string): Promise<StoredRun | undefined>;
  /** Forgets a run, or all of a session, with all that was recorded of them. Gives their number. @throws WritError `run-claimed` while a worker has one */
  erase(which: Exclude<Erased, { readonly endedBefore: number }>): Promise<number>;
  /**
   * The facts of a run by their `seq`, first those of its past, then each as it happens, wherever that is; the last is `run-end`. They are told from the
   * records: nothing is done again, and no observer of the agent is told. With `inside` those of agents inside calls are among them. Needs the agent of the run.
   *
   * @throws WritError `run-missing`, `run-agent-missing`; the reason of the signal
   */
  events(id: string, options?: FollowOptions): AsyncGenerator<AgentEvent, void>;
  /**
   * The whole result of a run that has ended, with its transcript, from its records. Nothing is done again. Needs the agent of the run.
   *
   * @throws WritError `run-missing`, `run-agent-missing`, `journal-ended` where the records do not reach its end
   */
  replay(id: string): Promise<RunResult<unknown>>;
  /**
   * Looks, before a deploy, which runs of the agents here cannot go on with their code: each one that has not ended is replayed up to where it is.
   * Nothing happens, and whoever carries out a run is not disturbed.
   */
  check(): Promise<readonly StrandedRun[]>;
  /**
   * Begins a new run from the records of another one, before a turn, to see what becomes of it with other instructions, another model, policy or result. What
   * happened before the turn is not done again, and tools answer as they did in the other run, which stays as it is: nothing has an effect but the tools
   * that `again` names. A session is read and not written.
   *
   * @throws WritError `definition-invalid`, `run-missing`, `turn-missing`, `call-missing`, `run-exists`
   */
  fork(id: string, options: RunForkOptions): Promise<StoredRun>;
  /**
   * Takes a run out of the store, to go on in another one: its records, children, questions and answers as text, a JSON object a line. Whoever carries it
   * out writes nothing more, and the run stays behind as `moved`. Exported again it gives the same, for a text that was lost. Do not import one text in two stores.
   *
   * @throws WritError `run-missing`
   */
  export(id: string): Promise<string>;
  /**
   * Puts an exported run into the store, once. It goes on there where it was: nothing that was recorded happens again.
   *
   * @throws WritError `run-exists`, `export-broken`, `export-newer`
   */
  import(text: string): Promise<StoredRun>;
  /** Carries out runs of the agents in this process, until it is drained. */
  work(options?: WorkOptions): RunWorker;
}

/** Makes durable runs for a host, of options that were checked. `adapters/durable-runs.ts` has the one for Node, under the name `durableRuns`. */
export function durableRunsWith(options: DurableOptions, host: Host): DurableRuns {
  const { store } = options;
  const woken = waking(options, host);
  const wake = wakingById(options, host);
  /** Lets runs go on that wait for the end of one which is not here any more. Where the store fails, they are looked for later too. */
  const wakeBehind = (run: StoredRun): Promise<void> =>
    wakeAfter(run, { ...options, host }).catch(() => undefined);
  async function answer(id: string, key: string, given: QuestionAnswer): Promise<void> {
    if (checked("answer", given).approved) await checkPolicy(id, key, { ...options, host });
    await store.answer(id, key, given);
    await wake(id);
  }
  return {
    async start(agent, input, more = {}) {
      const wanted = { ...checked("start", more), id: more.id ?? host.randomId() };
      const run = await newRunOf(agent, { input, options: wanted }, options);
      const begun = sameRun(run, await store.begin(run));
      if (more.whenWaiting === "withdraw")
        for (const id of await withdrawQuestions(begun, store)) await wake(id);
      return woken(begun);
    },
    result: async (id, wanted = {}) =>
      untilEnded(id, { store, host, signal: checked("result", wanted).signal }),
    waiting: async (id) => store.questions(checked("waiting", id)),
    answer,
    async settle(id, call, settled) {
      const { key, answer: given } = await settlementOf(store, { id, call, settled });
      await answer(id, key, given);
    },
    async signal(id, sent) {
      const signal = readSignal(sent, host);
      await checkSignal(store, id, signal);
      await store.signal(id, signal);
      await wake(id);
    },
    cancel: (id, reason = "it was cancelled") => cancelRun(id, reason, { ...options, host }),
    retry: async (id) => woken(await store.reopen(id)),
    list: async (wanted = {}) => store.list(checked("list", wanted)),
    show: (id) => store.read(id),
    erase: (given) => forget(store, given, wakeBehind),
    events: (id, wanted = {}) => followRun(id, { ...options, host }, checked("events", wanted)),
    replay: (id) => replayRun(id, { ...options, host }),
    fork: async (id, wanted) => {
      const given = { ...checked("fork", wanted), id: wanted.id ?? host.randomId() };
      return woken(await store.moveIn(await forkOf(id, given, { store, now: host.now() })));
    },
    async export(id) {
      const moved = await store.moveOut(id);
      await wakeBehind(moved.run);
      return runText(moved);
    },
    import: async (text) => woken(await store.moveIn(readRunText(checked("import", text)))),
    check: () => strandedRuns({ ...options, host }),
    work: (wanted = {}) => new RunsWorker({ ...options, host }, wanted),
  };
}

/** Forgets runs; those that wait for the end of one of them go on. */
async function forget(
  store: RunStore,
  given: { readonly id?: string; readonly session?: string },
  wakeBehind: (run: StoredRun) => Promise<void>,
): Promise<number> {
  const which = readErased(given);
  const before = "id" in which ? await store.read(which.id) : undefined; // of a session no other one is left
  const count = await store.erase(which);
  if (before !== undefined) await wakeBehind(before);
  return count;
}

import { isWritError } from "../error/writ-error.ts";
import type { AgentEvent } from "../event/event.ts";
import { mergeLive } from "../event/merge-live.ts";
import { directJournal } from "../journal/direct-journal.ts";
import type { Host } from "../journal/host.ts";
import type { Journal } from "../journal/journal.ts";
import { accountKey, startKey } from "../journal/record-form.ts";
import { joinLabels, type Label, trustedLabel } from "../message/label.ts";
import { emptyTranscript } from "../message/transcript.ts";
import { noUsage } from "../message/usage.ts";
import { emptyLedger } from "../policy/account/budget.ts";
import type { Intent } from "../policy/knowledge/intent.ts";
import type { CallAround, PowerScope } from "../tool/power-port.ts";
import { type Channel, channel } from "../util/channel.ts";
import { type Interrupt, interrupt, untilStopped } from "../util/interrupt.ts";
import type { Json, JsonObject } from "../util/json.ts";
import type { Maybe } from "../util/maybe.ts";
import type { RunAccounts } from "./accounts.ts";
import { within } from "./around.ts";
import type { MoreTime } from "./bounds.ts";
import type { RunContext } from "./context.ts";
import { type End, endBy, stopped, type StopReason, thrownEnd } from "./end.ts";
import { type Finished, type LoopResult, withRun } from "./finished.ts";
import { beginInside, endInside, linkOuter, linkSignal, reasonText } from "./outside.ts";
import { StepsOfRun } from "./steps-of-run.ts";
import { forwarding, telling, type ToldRun } from "./telling.ts";

/** The time that a run may take. */
interface RunTime {
  readonly durationMs: number;
  /** The milliseconds that earlier parts of the run took. Default 0. */
  readonly elapsedMs?: number;
  readonly host: Host;
}

/** A run as its clock sees it. */
interface TimedRun {
  readonly stop: Interrupt<StopReason>;
  /** Undefined: the run ends when its time is over. */
  readonly moreTime: MoreTime | undefined;
  /** The time that the author gave when it ran out in the middle of a turn. */
  givenMs?: number;
}

/** The options of every run: an agent's turns, a plain function, a composition of agents. */
export interface FrameOptions extends RunTime, ToldRun {
  readonly input: Json;
  readonly signal?: AbortSignal;
  /**
   * True if somebody watches. If nobody watches this run or the run around it, and nobody observes the agent,
   * no events are made.
   */
  readonly watched: boolean;
  readonly accounts?: RunAccounts;
  /** The call in whose code the run was begun, as the call was then. */
  readonly around?: CallAround;
  /** The scope of all code of the run. Left out if it is the scope of the code that begins the run. */
  readonly scope?: PowerScope;
}

/** The frame as the work inside it sees it. */
export interface Frame {
  readonly stop: Interrupt<StopReason>;
  readonly tell: RunContext["tell"];
  /** Takes the events of runs inside this one, which already have their envelope. */
  readonly forward: ((event: AgentEvent) => void) | undefined;
  /** Set by the work once it is known, and part of every later event. */
  intent: Pick<Intent, "hash"> | undefined;
  /** Set by the work. Undefined: the run ends when its time is over. */
  moreTime: MoreTime | undefined;
  /** The time that the author gave when it ran out in the middle of a turn. */
  givenMs?: number;
}

/**
 * Work as a run, which has not begun. It begins once: when somebody waits for its end, or reads its first event. It tells its beginning and end, puts
 * envelopes on its events, and stops when it is cancelled or its time is over. It does not wait for its reader.
 */
export class Framed {
  readonly events: Channel<AgentEvent> | undefined;
  private readonly options: FrameOptions;
  private readonly work: (frame: Frame) => Maybe<Finished>;
  private readonly stop: Interrupt<StopReason> = interrupt<StopReason>();
  private running: Promise<LoopResult> | undefined;

  constructor(options: FrameOptions, work: (frame: Frame) => Maybe<Finished>) {
    this.options = options;
    this.work = work;
    this.events = options.watched ? channel<AgentEvent>(mergeLive) : undefined;
  }

  /**
   * Runs to the end, whether or not its events are read.
   *
   * @throws WritError when the world fails (a provider, the journal), after `run-end` with outcome `failed`.
   */
  end(): Promise<LoopResult> {
    return (this.running ??= this.begin());
  }

  /** Stops a run whose events nobody reads any more, and waits until it has ended and is in its session. */
  async leave(): Promise<void> {
    if (this.running !== undefined) cancelling(this.options, this.stop)("nobody reads the run any more");
    await this.running?.catch(() => undefined);
  }

  private begin(): Promise<LoopResult> {
    const { options, stop, events, work } = this;
    const { host, scope, parent, journal } = options;
    const isAlone = parent === undefined && journal === directJournal; // a journal may number steps in the order in which they begin
    const begin = (): Promise<LoopResult> => runFramed(options, { stop, events }, work);
    const beginNow = scope === undefined ? begin : (): Promise<LoopResult> => within(host, scope, begin);
    const running = isAlone && host.mayBegin?.() === false ? letOthers(host).then(beginNow) : beginNow();
    if (events === undefined) return running;
    const closing = running.finally(() => events.close());
    closing.catch(() => undefined); // the reader gets the error after the events before it
    return closing;
  }
}

interface Running {
  readonly stop: Interrupt<StopReason>;
  readonly events: Channel<AgentEvent> | undefined;
}

/** Holds as little as possible while it waits: with a thousand runs at once, each holds all of it. */
async function runFramed(
  options: FrameOptions,
  running: Running,
  work: (frame: Frame) => Maybe<Finished>,
): Promise<LoopResult> {
  const opened = open(options, running);
  let finished: Finished;
  try {
    if (options.accounts !== undefined) await enterAccounts(options.accounts, options, running.stop);
    const working = work(opened.frame);
    finished = working instanceof Promise ? await working : working;
  } catch (error) {
    finished = broken(error, options, running);
  }
  const steps = stepsOf(options);
  close(opened, steps);
  if (options.accounts !== undefined) await options.accounts.settled();
  if (steps !== undefined) finished = { ...finished, end: await keptBy(steps, finished.end, options) };
  if (steps !== undefined) opened.clock.end();
  return told(finished, options, { ...running, tell: opened.frame.tell });
}

/** A run that has begun, and the resources that end with it. */
interface OpenFrame {
  readonly frame: Frame;
  readonly clock: RunClock;
  readonly unlink: (() => void) | undefined;
  readonly unlinkOuter: (() => void) | undefined;
}

function open(options: FrameOptions, { stop, events }: Running): OpenFrame {
  const isHeard = events !== undefined || options.observe !== undefined;
  const forward = isHeard ? forwarding(events, options) : options.parent?.forward;
  const about: { frame?: Frame } = {};
  const tell = forward === undefined ? undefined : telling(options, forward, about);
  stepsOf(options)?.begin(stop);
  const { signal, parent } = options;
  const unlink = signal && linkSignal(signal, cancelling(options, stop));
  const unlinkOuter = parent && linkOuter(parent, stop);
  const frame: Frame = { stop, tell, forward, intent: undefined, moreTime: undefined };
  about.frame = frame;
  const clock = clockOf(options, frame);
  if (parent !== undefined) beginInside(options, parent);
  tell?.({ type: "run-start", agent: options.agent, input: options.input });
  return { frame, clock, unlink, unlinkOuter };
}

/** Closes a run to everything that stops it. Only its time still counts, for a journal that has to keep its end. */
function close({ clock, unlink, unlinkOuter }: OpenFrame, steps: StepsOfRun | undefined): void {
  if (steps === undefined) clock.end();
  else clock.endWith(steps);
  unlink?.();
  unlinkOuter?.();
}

function broken(error: unknown, { agent }: FrameOptions, { stop }: Running): Finished {
  const end = endBy(error, { gate: { agent }, stop });
  return { transcript: emptyTranscript(), usage: noUsage, ledger: emptyLedger, end };
}

/** Tells the end of a run, and returns its result. @throws WritError when the world failed */
function told(
  finished: Finished,
  options: FrameOptions,
  { stop, events, tell }: Running & Pick<Frame, "tell">,
): LoopResult {
  const { end, usage } = finished;
  tell?.({ type: "run-end", outcome: end.outcome, usage });
  if (options.parent !== undefined || options.around !== undefined)
    endInside(options, finished, labelled(options, finished));
  events?.close(); // nothing is told after `run-end`, even if work goes on outside
  if (end.throws === true && end.error !== undefined) {
    stop.stop({ type: "cancelled", reason: "the run failed" }); // nobody waits for calls that were started early
    throw withRun(end.error, { ...finished, turns: finished.ledger.turns });
  }
  return resultOf(options, finished);
}

function resultOf(options: FrameOptions, finished: Finished): LoopResult {
  const { outcome, output, error, questions } = finished.end;
  const { transcript, usage, ledger, checkpoint } = finished;
  return {
    outcome,
    output,
    error,
    transcript,
    usage,
    ...(Number.isFinite(ledger.costUsd) ? { costUsd: ledger.costUsd } : {}),
    turns: ledger.turns,
    label: labelled(options, finished),
    ...(checkpoint === undefined ? {} : { checkpoint }),
    ...(questions === undefined ? {} : { questions }),
  };
}

function stepsOf({ journal }: FrameOptions): StepsOfRun | undefined {
  return journal === directJournal ? undefined : StepsOfRun.of(journal);
}

/** The milliseconds that an author may take to answer whether there is more time. The run goes on meanwhile, and must not do so for ever. */
const patienceMs = 10_000;

/** The clock of one run: stops it when its time is over, unless the author gives more. */
class RunClock {
  private readonly run: TimedRun;
  private readonly host: Host;
  private stopTimer: (() => void) | undefined;
  private isOver = false;
  /** The steps of a run that has ended and still keeps its end. */
  private late: StepsOfRun | undefined;

  constructor({ durationMs, elapsedMs = 0, host }: RunTime, run: TimedRun) {
    this.run = run;
    this.host = host;
    this.arm(durationMs, durationMs - elapsedMs);
  }

  end(): void {
    this.isOver = true;
    this.stopTimer?.();
  }

  /** The run has ended, and its journal is to keep the end: the time that is left is that of the journal. */
  endWith(steps: StepsOfRun): void {
    this.isOver = true;
    this.late = steps;
  }

  private arm(limit: number, afterMs: number): void {
    if (limit !== Infinity) this.stopTimer = this.host.timer(Math.max(0, afterMs), () => this.expire(limit));
  }

  private expire(limit: number): void {
    const { stop, moreTime } = this.run;
    if (moreTime === undefined || this.isOver) return this.stopAt(limit);
    this.stopTimer = this.host.timer(patienceMs, () => this.stopAt(limit));
    moreTime(limit).then(
      ({ answer: { extend, checkpoint = false } }) => {
        if (this.isOver || stop.reason !== undefined) return;
        this.stopTimer?.();
        if (extend !== undefined && extend > limit) this.arm((this.run.givenMs = extend), extend - limit);
        else stop.stop({ type: "duration", limit, waits: checkpoint });
      },
      (cause: unknown) => stop.stop({ type: "failed", cause }),
    );
  }

  private stopAt(limit: number): void {
    if (this.isOver) this.late?.patient.hurry();
    else this.run.stop.stop({ type: "duration", limit });
  }
}

/** The clock of a run. In a replay no time passes. */
function clockOf(options: FrameOptions, frame: Frame): RunClock {
  const isReplay = options.journal?.mode === "replay";
  return new RunClock(isReplay ? { ...options, durationMs: Infinity } : options, frame);
}

/** The end of a run, as kept in its journal. A failing journal is then the end, unless the world failed already or the run was cancelled meanwhile. */
async function keptBy(steps: StepsOfRun, end: End, { agent, signal }: FrameOptions): Promise<End> {
  const run = { gate: { agent } };
  const unlink = signal && linkSignal(signal, () => steps.patient.hurry());
  try {
    return await steps.keep(end, run);
  } catch (error) {
    if (end.throws === true) return end;
    if (signal?.aborted !== true || !isWritError(error, "run-ended")) return thrownEnd(error, agent);
    if (end.questions !== undefined) return end; // it is told of its calls when it is told of their records
    return stopped(run, { type: "cancelled", reason: reasonText(signal.reason) });
  } finally {
    unlink?.();
  }
}

/** Cancels a run. With a journal, the cancel is recorded first. */
function cancelling(options: FrameOptions, stop: Interrupt<StopReason>): (reason: string) => void {
  const steps = stepsOf(options);
  return (reason) => {
    const why = { type: "cancelled", reason } as const;
    if (steps === undefined) stop.stop(why);
    else void steps.cancel(why);
  };
}

/** Books the run in its accounts, once: a replay does not pay again. */
async function enterAccounts(
  accounts: RunAccounts,
  { journal = directJournal }: FrameOptions,
  stop: Interrupt<StopReason>,
): Promise<void> {
  const entering = journal.step({ key: accountKey, run: () => accounts.enter().then(() => null) });
  if ((await untilStopped(entering, stop)) === "stopped")
    throw new Error("the run was stopped while its account was asked");
}

/** The label of the run's output: no better than the label of its input. */
function labelled({ around }: FrameOptions, { label = trustedLabel }: Finished): Label {
  return around === undefined ? label : joinLabels(around.label, label);
}

/** The fields that a run keeps with its beginning. */
export function beginningIn(journal: Journal): JsonObject {
  return StepsOfRun.of(journal)?.beginning ?? {};
}

/** Keeps the beginning of a run without turns: its journal would not say otherwise what it was asked. */
export async function keepBeginning(journal: Journal): Promise<void> {
  const beginning = StepsOfRun.of(journal)?.beginning;
  if (beginning !== undefined) await journal.step({ key: startKey, run: () => Promise.resolve(beginning) });
}

/** Lets everything else of the process have its turn first. */
export function letOthers(host: Pick<Host, "timer">): Promise<void> {
  return new Promise((resolve) => void host.timer(0, resolve));
}

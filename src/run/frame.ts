import { messageOf, type WritError } from "../error/writ-error.ts";
import { type AgentEvent, type Envelope, isFact, type RunEvent } from "../event/event.ts";
import { mergeLive } from "../event/merge-live.ts";
import { within } from "./around.ts";
import type { Scope } from "./scope.ts";
import { joinLabels, type Label, trustedLabel } from "../message/label.ts";
import { emptyTranscript, type ReadyTranscript } from "../message/transcript.ts";
import type { Outcome } from "../event/outcome.ts";
import { noUsage, type Usage } from "../message/usage.ts";
import { emptyLedger, type Ledger } from "../policy/account/budget.ts";
import { type AllowList, effectIn } from "../policy/allow-list.ts";
import type { Intent } from "../policy/knowledge/intent.ts";
import { type Act, actsIn, isDeclared } from "../tool/acts.ts";
import type { CallAround, PowerScope } from "../tool/power-port.ts";
import { type Channel, channel } from "../util/channel.ts";
import { type Interrupt, interrupt, untilStopped } from "../util/interrupt.ts";
import type { Json } from "../util/json.ts";
import type { Maybe } from "../util/maybe.ts";
import type { Writing } from "../util/writing.ts";
import { directJournal } from "../journal/direct-journal.ts";
import type { Journal } from "../journal/journal.ts";
import type { RunAccounts } from "./accounts.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { type End, endBy, type StopReason, thrownEnd, waitsOf } from "./end.ts";
import { StepsOfRun } from "./steps-of-run.ts";
import type { RunContext } from "./context.ts";
import { withRun } from "./run-error.ts";
import type { OpenQuestion } from "./waits.ts";
import { type MoreTime, RunClock, type RunTime } from "./time.ts";

/** The options of every run: an agent's turns, a plain function, a composition of agents. */
export interface FrameOptions extends RunTime {
  readonly runId: string;
  readonly agent: string;
  readonly input: Json;
  readonly signal?: AbortSignal;
  /**
   * True if somebody watches. If not, and nobody watches the run around it or observes the agent, no event is
   * made at all.
   */
  readonly watched: boolean;
  /** The agent's own observers. They never throw, and are told nothing of a replay. */
  readonly observe?: (event: AgentEvent) => void;
  /** The session that it was given. */
  readonly sessionId?: string;
  /** The run around this one. */
  readonly parent?: Scope;
  /** The accounts that pay for it. */
  readonly accounts?: RunAccounts;
  readonly journal?: Journal;
  /** The call in whose code it was begun, as it was then. */
  readonly around?: CallAround;
  /** The scope of all code of the run. Left out where it is the one around the code that begins it. */
  readonly scope?: PowerScope;
}

/** The frame as the work inside it sees it. */
export interface Frame {
  readonly stop: Interrupt<StopReason>;
  readonly tell: RunContext["tell"];
  /** Takes the events of runs inside this one, which have their envelope already. */
  readonly forward: ((event: AgentEvent) => void) | undefined;
  /** Set by the work when it is known; in every event from then on. */
  intent: Pick<Intent, "hash"> | undefined;
  /** Set by the work; without it the run ends when its time is over. */
  moreTime: MoreTime | undefined;
}

/** The end of the work inside a frame. */
export interface Finished {
  readonly end: End;
  readonly transcript: ReadyTranscript;
  readonly usage: Usage;
  readonly ledger: Ledger;
  readonly checkpoint?: Checkpoint;
  /** Calls that may have changed something and do not stand in the transcript: compaction took them out, or they were made inside a call. */
  readonly acts?: readonly Act[];
  /** The tools that it could call; left out where there were none. */
  readonly allowed?: AllowList;
  /** The join of what the run has seen. Left out where nothing was read: that of what it was given. */
  readonly label?: Label;
}

/**
 * The end of a run of the loop. `error` is the error of an outcome that is not an answer; `output` is there
 * when it is one.
 */
export interface LoopResult {
  readonly outcome: Outcome;
  readonly output?: unknown;
  readonly error?: WritError;
  readonly transcript: ReadyTranscript;
  readonly usage: Usage;
  readonly turns: number;
  /** The join of what the run has seen. */
  readonly label: Label;
  /** There when the run is suspended: it can be resumed from it. */
  readonly checkpoint?: Checkpoint;
  /** There when the run waits for answers. */
  readonly questions?: readonly OpenQuestion[];
}

/** A run that has not begun. It begins once: when somebody waits for its end, or reads its first event. */
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
   * Runs to the end, whether its events are read or not.
   *
   * @throws WritError when the world fails (a provider, the journal), after `run-end` with outcome `failed`.
   */
  end(): Promise<LoopResult> {
    return (this.running ??= this.begin());
  }

  /** Stops the run, whose events nobody reads any more, and waits until it has ended: then it stands in its session. */
  async leave(): Promise<void> {
    if (this.running !== undefined) cancelling(this.options, this.stop)("nobody reads the run any more");
    await this.running?.catch(() => undefined);
  }

  private begin(): Promise<LoopResult> {
    const { options, stop, events, work } = this;
    const { host, scope } = options;
    const begin = (): Promise<LoopResult> => runFramed(options, { stop, events }, work);
    const running = scope === undefined ? begin() : within(host, scope, begin);
    if (events === undefined) return running;
    const closing = running.finally(() => events.close());
    closing.catch(() => undefined); // thrown once the reader has been told what happened before
    return closing;
  }
}

/**
 * Runs work as a run: tells its beginning and its end, puts envelopes on its events, stops it when it is cancelled or its time is over. The
 * run does not wait for its reader.
 */
export function frame(options: FrameOptions, work: (frame: Frame) => Maybe<Finished>): Framed {
  return new Framed(options, work);
}

interface Running {
  readonly stop: Interrupt<StopReason>;
  readonly events: Channel<AgentEvent> | undefined;
}

/** Keeps little over its waiting: whatever stands in it, each of a thousand runs at once holds on to. */
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
  close(opened);
  if (options.accounts !== undefined) await options.accounts.settled();
  const steps = stepsOf(options);
  if (steps !== undefined) finished = { ...finished, end: await keptBy(steps, finished.end, options) };
  return told(finished, options, { ...running, tell: opened.frame.tell });
}

/** A run that has begun, and what ends with it. */
interface OpenFrame {
  readonly frame: Frame;
  readonly clock: RunClock;
  readonly unlink: (() => void) | undefined;
  readonly unlinkOuter: (() => void) | undefined;
}

function open(options: FrameOptions, { stop, events }: Running): OpenFrame {
  const forward = forwarding(events, options);
  const about: { frame?: Frame } = {};
  const tell = forward === undefined ? undefined : telling(options, forward, about);
  stepsOf(options)?.begin(stop);
  const unlink = linkSignal(options.signal, cancelling(options, stop));
  const unlinkOuter = linkOuter(options.parent, stop);
  const frame: Frame = { stop, tell, forward, intent: undefined, moreTime: undefined };
  about.frame = frame;
  const clock = clockOf(options, frame);
  beginInside(options);
  tell?.({ type: "run-start", agent: options.agent, input: options.input });
  return { frame, clock, unlink, unlinkOuter };
}

function close({ clock, unlink, unlinkOuter }: OpenFrame): void {
  clock.end();
  unlink?.();
  unlinkOuter?.();
}

function broken(error: unknown, { agent }: FrameOptions, { stop }: Running): Finished {
  const end = endBy(error, { gate: { agent }, stop });
  return { transcript: emptyTranscript(), usage: noUsage, ledger: emptyLedger, end };
}

/** Tells the end of a run, and gives its result. @throws WritError when the world failed */
function told(
  finished: Finished,
  options: FrameOptions,
  { stop, events, tell }: Running & Pick<Frame, "tell">,
): LoopResult {
  const { end, usage } = finished;
  tell?.({ type: "run-end", outcome: end.outcome, usage });
  endInside(options, finished);
  events?.close(); // nothing is told after `run-end`, whatever still goes on outside
  if (end.throws === true && end.error !== undefined) {
    stop.stop({ type: "cancelled", reason: "the run failed" }); // calls that were started early have nobody to wait for them
    throw withRun(end.error, finished);
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
    turns: ledger.turns,
    label: labelled(options, finished),
    ...(checkpoint === undefined ? {} : { checkpoint }),
    ...(questions === undefined ? {} : { questions }),
  };
}

function stepsOf({ journal }: FrameOptions): StepsOfRun | undefined {
  return journal === directJournal ? undefined : StepsOfRun.of(journal);
}

/** The clock of a run. In one that is replayed no time passes. */
function clockOf(options: FrameOptions, frame: Frame): RunClock {
  const isReplay = options.journal?.mode === "replay";
  return new RunClock(isReplay ? { ...options, durationMs: Infinity } : options, frame);
}

/** The end of a run, kept in its journal. A journal that fails ends the run, unless something else did. */
async function keptBy(steps: StepsOfRun, end: End, { agent }: FrameOptions): Promise<End> {
  try {
    return await steps.keep(end, { gate: { agent } });
  } catch (error) {
    return end.throws === true ? end : thrownEnd(error, agent);
  }
}

/** Cancels a run: one with a journal first there. */
function cancelling(options: FrameOptions, stop: Interrupt<StopReason>): (reason: string) => void {
  const steps = stepsOf(options);
  return (reason) => {
    const why = { type: "cancelled", reason } as const;
    if (steps === undefined) stop.stop(why);
    else void steps.cancel(why);
  };
}

/** Books the run in its accounts, once: a replay of it is paid. */
async function enterAccounts(
  accounts: RunAccounts,
  { journal = directJournal }: FrameOptions,
  stop: Interrupt<StopReason>,
): Promise<void> {
  const entering = journal.step({ key: "account", run: () => accounts.enter().then(() => null) });
  if ((await untilStopped(entering, stop)) === "stopped")
    throw new Error("the run was stopped while its account was asked");
}

/** Tells the run around this one, if there is one, that this began. */
function beginInside({ parent, agent, runId }: FrameOptions): void {
  parent?.began({ agent, runId, depth: parent.depth + 1 });
}

/** Tells the run around this one how this ended, what it has seen and what it spent. */
function endInside(options: FrameOptions, finished: Finished): void {
  const { parent, around, agent, runId } = options;
  const { end, usage, ledger } = finished;
  const { costUsd, toolCalls } = ledger;
  const outcome = end.outcome.type;
  if (end.questions !== undefined) parent?.waits(waitsOf(end.questions, end.outcome));
  const spending = { usage, costUsd, toolCalls };
  around?.saw(labelled(options, finished));
  parent?.ended({ agent, runId, depth: parent.depth + 1, outcome, usage }, spending, changesOf(finished));
}

/** The calls of a run, and of the runs inside it, that changed something, or of which nobody knows whether they did. */
function changesOf({ acts = [], transcript, allowed }: Finished): readonly Act[] {
  const called = allowed === undefined ? [] : actsIn(transcript.messages, effectIn(allowed));
  return [...acts, ...called].filter((act) => isDeclared(act) || act.status === "unknown");
}

/** The label of what a run gives: no better than that of what it was given. */
function labelled({ around }: FrameOptions, { label = trustedLabel }: Finished): Label {
  return around === undefined ? label : joinLabels(around.label, label);
}

/**
 * Forwards the events of this run: to the agent's observers, to its own reader, and to those of the run
 * around it.
 */
function forwarding(
  events: Channel<AgentEvent> | undefined,
  { observe: given, parent, journal }: FrameOptions,
): ((event: AgentEvent) => void) | undefined {
  const observe = journal?.mode === "replay" ? undefined : given;
  if (observe === undefined && events === undefined) return parent?.forward;
  const push = events === undefined ? undefined : (event: AgentEvent) => events.push(event);
  const all = [observe, push, parent?.forward].filter((each) => each !== undefined);
  if (all.length < 2) return all[0];
  return (event) => all.forEach((each) => each(event));
}

/** An event while its envelope is put on. */
type Sealing = RunEvent & Partial<Writing<Envelope>>;

/** Puts the envelope on, field by field: every delta gets one. `seq` counts the facts of this run alone. */
function telling(
  { agent, runId, sessionId, parent, host }: FrameOptions,
  forward: (event: AgentEvent) => void,
  about: { readonly frame?: Frame },
): (event: RunEvent) => void {
  const parentRunId = parent?.runId;
  let seq = 0;
  let ended = false;
  return (event) => {
    if (ended) return;
    ended = event.type === "run-end";
    if (isFact(event)) seq += 1;
    const intent = about.frame?.intent?.hash;
    const told: Sealing = { ...event, seq, agent, runId };
    if (parentRunId !== undefined) told.parentRunId = parentRunId;
    if (sessionId !== undefined) told.sessionId = sessionId;
    if (intent !== undefined) told.intent = intent;
    told.at = host.now();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field that an envelope must have is put on
    forward(told as AgentEvent);
  };
}

/** Passes the end of the call that this run is inside of on; what it returns takes the link back. */
function linkOuter(parent: Scope | undefined, stop: Interrupt<StopReason>): (() => void) | undefined {
  return parent?.stop.onStop(() => stop.stop({ type: "cancelled", reason: reasonText(parent.stop.reason) }));
}

/** Passes an abort of the caller's signal on; what it returns takes the link back. */
function linkSignal(
  signal: AbortSignal | undefined,
  stopAs: (reason: string) => void,
): (() => void) | undefined {
  if (signal === undefined) return undefined;
  const cancel = (): void => {
    const { reason } = signal as { reason: unknown };
    stopAs(reasonText(reason));
  };
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  return () => signal.removeEventListener("abort", cancel);
}

/** The reason of a cancelled run in words: that of a signal, or that of the run around it. */
function reasonText(reason: unknown): string {
  if (typeof reason !== "object" || reason === null || !("type" in reason)) return messageOf(reason);
  const { type, reason: why } = reason as { readonly type: unknown; readonly reason?: unknown };
  if (type === "cancelled" && typeof why === "string") return why;
  return type === "duration" ? "the time of the run around it was over" : "the run around it failed";
}

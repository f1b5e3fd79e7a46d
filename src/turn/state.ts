import { WritError } from "../error/writ-error.ts";
import { learn, type Learned, learnIntent } from "../policy/knowledge/learned.ts";
import { untilStopped, type Interrupt } from "../util/interrupt.ts";
import { after, type Maybe } from "../util/maybe.ts";
import { type End, endBy, exhausted, suspended, type StopReason } from "../run/end.ts";
import type { Frame } from "../run/frame.ts";
import type { LoopOptions } from "./options.ts";
import type { Driver } from "../driver/driver.ts";
import { tellHooks } from "../hook/consult.ts";
import {
  type BudgetField,
  type Excess,
  reserveTurn,
  restored,
  defaultResultBytes,
  emptyLedger,
  type Ledger,
  type Limits,
  spendInside,
} from "../policy/account/budget.ts";
import { meetBound, type Met, metBy, outerBound } from "../run/bounds.ts";
import { boundsOfReplay } from "../run/recorded-end.ts";
import type { Checkpoint, InARow, Repeats } from "../run/checkpoint.ts";
import { addUsage, noUsage, type Usage } from "../message/usage.ts";
import { beginWith, type Gate, readingOn } from "../run/gate.ts";
import type { RunContext } from "../run/context.ts";
import type { Inside } from "../run/inside.ts";
import type { RunScope } from "../run/scope.ts";
import { type Slots, slots } from "../util/slots.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import { plainIntent } from "../policy/knowledge/intent.ts";
import { purse, type Purse } from "../policy/account/purse.ts";
import type { Act } from "../tool/acts.ts";
import { isCut } from "../tool/read-result.ts";
import type { Mode } from "../tool/tool.ts";
import type { AskOnce } from "../run/powers.ts";
import { askingOnce } from "./ask-once.ts";

/** The repeats before the first round. */
export const noRepeats: Repeats = { rounds: [], streaks: [0, 0, 0] };

const nothingInARow: InARow = { repeats: noRepeats, violations: 0, pending: 0 };

/** The part of a run that changes from turn to turn. */
export interface State extends InARow {
  readonly transcript: ReadyTranscript;
  readonly ledger: Ledger;
  /** The current bounds: the author may have raised some. */
  readonly limits: Limits;
  /** The current gate: calls can narrow it. */
  readonly gate: Gate;
  /** The knowledge learned from the conversation. */
  readonly learned: Learned;
  readonly modes: readonly Mode[];
  readonly usage: Usage;
  /** The index of the driver that speaks; later drivers are for models without native tools. */
  readonly driver: number;
  /** The driver of the last reply: another one if the record of that reply names one that is not in the list. */
  readonly speaker?: Driver;
  /** True once the model has called a tool: from then on no call is forced. */
  readonly called: boolean;
  /** Calls that may have changed something but are not in the transcript: compaction removed them, or they were made inside a call. */
  readonly acts: readonly Act[];
  /** The bounds whose threshold was told, with their values then: a bound that was raised since is told again. */
  readonly warned: Partial<Limits>;
  /** The time of the last event, as recorded. */
  readonly now: number;
  /** The milliseconds of work in all processes: asking the model, and running calls. */
  readonly elapsedMs: number;
  /** Messages before this index were part of an earlier request. */
  readonly sent: number;
}

/** Books what happened inside calls. */
export function bookInside(
  { ledger, usage, acts }: Pick<State, "ledger" | "usage" | "acts">,
  inside: readonly Inside[],
): Pick<State, "ledger" | "usage" | "acts"> {
  if (inside.length === 0) return { ledger, usage, acts };
  return {
    ledger: inside.reduce((sum, { spending }) => spendInside(sum, spending), ledger),
    usage: inside.reduce((sum, { spending }) => addUsage(sum, spending.usage), usage),
    acts: [...acts, ...inside.flatMap((each) => each.acts ?? [])],
  };
}

/** The state after a turn, and the end if it was the last. */
export interface NextState {
  readonly state: State;
  readonly end?: End;
}

/** One run: its options, and everything that lives as long as it does. Its fields are copied one by one: a spread of so many costs five times as much. */
export interface Run extends RunContext {
  readonly options: LoopOptions;
  readonly gate: Gate;
  readonly limits: Limits;
  readonly stop: Interrupt<StopReason>;
  /** The time from which this process counts the duration of the run: waiting between two processes is not part of it. */
  readonly countsFrom: number;
  readonly frame: Frame;
  /** The error that the tool of a call threw. */
  readonly thrownBy: (callId: string) => unknown;
  /** True if there is work before the model is asked: asking hooks, compacting, telling bounds. */
  readonly preparesTurns: boolean;
}

/**
 * Begins what lives as long as the run. `runId` is the recorded id of its first part: the idempotency keys of its calls stay the same
 * when the run goes on.
 */
export function beginRun(
  options: LoopOptions,
  frame: Frame,
  { startedAt, runId }: Pick<Run, "startedAt" | "runId">,
): Run {
  const { limits, concurrency, host, from } = options;
  const { stop, tell } = frame;
  const scope = new ScopeOfRun(options, frame);
  const { beforeTurn, onBudgetThreshold } = options.hooks;
  const preparesTurns = [beforeTurn, onBudgetThreshold, options.compact, tell].some(
    (each) => each !== undefined,
  );
  let ask: AskOnce | undefined;
  let turns: Slots | undefined;
  let thrown: Map<string, unknown> | undefined;
  return {
    options,
    gate: options.gate,
    limits,
    host,
    journal: options.journal,
    approve: options.approve,
    onWait: options.onWait,
    approvals: options.approvals,
    leaving: options.leaving,
    hooks: options.hooks,
    endOn: options.endOn,
    concurrency,
    executor: options.executor,
    runId,
    stop,
    tell,
    startedAt,
    countsFrom: host.now() - (from?.elapsedMs ?? 0),
    frame,
    thrownBy: (callId) => thrown?.get(callId),
    preparesTurns,
    ask: (prompt, asking) => (ask ??= askingOnce(options, scope.purse))(prompt, asking),
    enter: (key) => (turns ??= slots(concurrency)).enter(key),
    scope,
    onThrow: (callId, error) => (thrown ??= new Map()).set(callId, error),
  };
}

/** A class because every run has one: its purse is made when a run inside reads it. */
class ScopeOfRun implements RunScope {
  readonly depth: number;
  readonly maxDepth: number;
  readonly accounts: RunScope["accounts"];
  readonly forward: RunScope["forward"];
  readonly outer: RunScope["outer"];
  readonly agents: RunScope["agents"];
  readonly balance: RunScope["balance"] = { now: undefined };
  private made: Purse | undefined;

  constructor({ level, limits, accounts, parent }: LoopOptions, { forward }: Frame) {
    this.depth = level.depth;
    this.maxDepth = Math.min(level.maxDepth, level.depth + limits.depth);
    this.accounts = accounts;
    this.forward = forward;
    this.outer = parent?.purse;
    this.agents = parent && [...(parent.agents ?? []), parent.agent];
  }

  get purse(): Purse {
    return (this.made ??= purse(this.outer, this.balance));
  }
}

/** The beginning of a run without a checkpoint, in the fields that a state takes from one. */
const nothingDone: Pick<Checkpoint, "modes" | "driver" | "elapsedMs" | "acts" | "sent" | "inARow"> = {
  modes: [],
  driver: 0,
  elapsedMs: 0,
};

/** The state before the first turn, or at the checkpoint. */
export function beginState(options: LoopOptions): State {
  const { transcript, journal, gate, drivers, from, spent, modes: narrowed = [] } = options;
  const left: typeof nothingDone = from ?? nothingDone;
  const { modes: earlier, driver, elapsedMs, acts = [], sent = 0, inARow = nothingInARow } = left;
  const { repeats, violations, pending } = inARow; // and no other fields: a checkpoint comes from anywhere
  const modes = narrowed.length === 0 ? earlier : [...earlier, ...narrowed];
  const held = gateFrom(options, modes);
  const learned = learn(learnIntent(gate.intent, held.allowed), transcript.messages, gate.allowed);
  return {
    learned,
    transcript,
    ledger: from === undefined ? (spent?.ledger ?? emptyLedger) : restored(from.ledger),
    limits: journal.mode === "replay" ? boundsOfReplay(journal, options.limits) : options.limits,
    gate: held,
    modes,
    usage: from?.usage ?? spent?.usage ?? noUsage,
    driver: Math.min(driver, drivers.length - 1), // a driver that failed before may no longer be in the list
    speaker: undefined,
    violations,
    pending,
    repeats,
    called: from !== undefined && from.ledger.toolCalls > 0,
    acts,
    warned: {},
    now: 0,
    elapsedMs,
    sent,
  };
}

/** The gate of the first turn: that of the agent, narrowed by the modes that the run begins with. */
function gateFrom(options: LoopOptions, modes: readonly Mode[]): Gate {
  const { gate, executor, limits } = options;
  const begun = modes.length === 0 ? gate : beginWith(gate, modes);
  const mayReadOn = executor === undefined && begun.allowed.tools.size > 0 && readsOn(options);
  return mayReadOn ? readingOn(begun, limits.resultBytes) : begun;
}

/**
 * True if the model can read on in results from the first turn: the author expects results to be cut, a result of an earlier run was cut, or adding a tool
 * later would make the provider read all messages anew.
 */
function readsOn({ drivers, model, limits, transcript: { messages } }: LoopOptions): boolean {
  const { resultBytes } = limits;
  if (resultBytes === Infinity) return false;
  return (
    (drivers[0].passthrough && model.features.fixedTools === true) ||
    resultBytes !== defaultResultBytes ||
    messages.some((message) => message.role === "tool" && isCut(message))
  );
}

/**
 * Does a part of a turn. An error ends the run, or, if the run was stopped meanwhile, the stop does; earlier messages and spending stay. A part that
 * waits for nothing costs no promise.
 */
export function keeping(
  state: State,
  run: Run,
  part: (state: State, run: Run) => Maybe<NextState>,
): Maybe<NextState> {
  try {
    const step = part(state, run);
    return step instanceof Promise ? keepingLate(step, state, run) : step;
  } catch (error) {
    return { state, end: endBy(error, run) };
  }
}

function keepingLate(step: Promise<NextState>, state: State, run: Run): Promise<NextState> {
  return step.catch((error: unknown) => ({ state, end: endBy(error, run) }));
}

/** Reserves one model call. If a bound forbids it, the author may raise the bound or have the run wait; otherwise the run ends. */
export function reserve(state: State, run: Run): NextState | Promise<NextState> {
  const { outer } = run.scope;
  const outerExcess = outer === undefined ? undefined : boundOf(state, run, outer);
  if (outerExcess !== undefined)
    return after(outerExcess, (excess) => ({ state, end: exhausted(run, excess) }));
  const { limits } = state;
  const reservation = reserveTurn(state.ledger, limits, state.elapsedMs);
  if (reservation.ok) {
    const reserved = { ...state, ledger: reservation.ledger };
    run.scope.balance.now = reserved;
    return { state: reserved };
  }
  return reserveMore(reservation.excess, state, run);
}

/** The tokens that the bounds of the run, and of all runs around it, leave for a reply; `used` are those of its turn that are not booked yet. */
export function tokensLeft({ limits, ledger }: State, { scope }: Run, used: Usage = noUsage): number {
  const left = Math.min(limits.tokens - ledger.tokens, scope.outer?.tokensLeft() ?? Infinity);
  return left - used.inputTokens - used.outputTokens;
}

/** The bound of the runs around this one that forbids the next turn, unless an earlier process already took that turn. */
function boundOf(
  { ledger }: State,
  { journal }: Run,
  outer: Purse,
): ReturnType<typeof outerBound> | undefined {
  const key = `turn/${ledger.turns + 1}/bound`;
  return wasTaken(ledger, journal) ? undefined : outerBound(key, journal, () => outer.turnExcess());
}

/**
 * Checks that a run does not end before a turn that its journal has: an earlier process took that turn, and its effects would be forgotten.
 *
 * @throws WritError `journal-longer`
 */
export function checkIsLast({ waits, throws }: End, next: number, { journal, stop, runId }: Run): void {
  if (waits === true || throws === true || stop.reason !== undefined) return;
  const key = `turn/${next}/model`;
  if (journal.find?.(key) !== undefined) throw new WritError("journal-longer", { run: runId, key });
}

/** True if an earlier process took the next turn. */
function wasTaken({ turns }: Ledger, { find }: Run["journal"]): boolean {
  return find?.(`turn/${turns + 1}/model`) !== undefined;
}

async function reserveMore(excess: Excess<BudgetField>, state: State, run: Run): Promise<NextState> {
  const met = await meet(excess, state, run);
  if (met.type === "extended") return reserve({ ...state, limits: met.limits }, run);
  if (wasTaken(state.ledger, run.journal)) return reserveTaken(excess, state, run);
  if (met.type === "checkpoint") return { state, end: suspended(run, excess) };
  return { state, end: exhausted(run, excess) };
}

/** Reserves a turn that an earlier process took: a bound that was lowered since does not stop it. */
async function reserveTaken({ field }: Excess<BudgetField>, state: State, run: Run): Promise<NextState> {
  const { limits } = state;
  const taken = await reserve({ ...state, limits: { ...limits, [field]: Infinity } }, run);
  return { ...taken, state: { ...taken.state, limits } };
}

async function meet(excess: Excess<BudgetField>, { limits, ledger }: State, run: Run): Promise<Met> {
  const { turns: turn } = ledger;
  if (excess.field !== "durationMs") return meetBound(excess, { limits, turn, part: "turn" }, run);
  const asking = run.frame.moreTime?.(limits.durationMs);
  if (asking === undefined) return { type: "stop" };
  const outcome = await untilStopped(asking, run.stop);
  if (outcome === "stopped") throw new Error("the run was stopped while a hook was asked");
  tellHooks({ turn, place: "onBudgetExceeded", by: outcome.by }, run);
  return metBy(outcome.answer, { field: "durationMs", limits, turn }, run);
}

/** The checkpoint of a state. */
export function checkpointOf(state: State, run: Run, end: End | undefined): Checkpoint {
  const { transcript, ledger, usage, driver, modes, acts, elapsedMs, sent } = state;
  const { repeats, violations, pending } = state;
  const outcome = end?.outcome;
  return {
    runId: run.runId,
    agent: run.gate.agent,
    skill: run.gate.allowed.skill,
    input: run.options.input,
    intent: plainIntent(run.gate.intent),
    status: outcome?.type ?? "running",
    ...(outcome?.type === "answered" ? { answer: outcome } : {}),
    transcript: transcript.toJSON(),
    ledger,
    usage,
    driver,
    modes,
    ...(acts.length === 0 ? {} : { acts }),
    elapsedMs,
    ...(sent === 0 ? {} : { sent }),
    ...(end === undefined ? { inARow: { repeats, violations, pending } } : {}),
  };
}

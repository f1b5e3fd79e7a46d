import { type Label, joinLabels, untrustedFrom } from "../message/label.ts";
import type { ToolCall } from "../message/message.ts";
import { addedLabel } from "../policy/knowledge/result-label.ts";
import { openCallScope, type OpenScope } from "../run/scope.ts";
import { GivenScope, isOpen, noNeeds, type OpenCall, openCall, openScope, within } from "../run/around.ts";
import { RunWaits } from "../run/waits.ts";
import { type CallPowers, kindsOf, openPowers } from "../run/powers.ts";
import { errorWithoutSecrets, toldProgress } from "../run/secrets.ts";
import type { CallScope } from "../tool/call-scope.ts";
import { Labelled } from "../tool/labelled.ts";
import type { PowerScope } from "../tool/power-port.ts";
import type { ToolContext } from "../tool/tool.ts";
import type { Waits } from "../tool/waits.ts";
import { checkResult } from "../tool/result.ts";
import type { Host } from "../journal/host.ts";
import { copyOfPlain, type Json } from "../util/json.ts";
import { always, type Maybe, rescue } from "../util/maybe.ts";
import { bookingOf, forbidden } from "./booked.ts";
import {
  type Call,
  type CallRecord,
  fatalOf,
  type Halt,
  type OngoingCall,
  type Ready,
  type Settled,
} from "./call.ts";
import { runWithRecovery } from "./recovery.ts";
import { cancelledResult, skippedResult } from "./refused.ts";
import { haltedBy, settle } from "./settle.ts";
import { idempotencyKeyOf } from "./step.ts";
import { thrownResult } from "./thrown.ts";
import { CallTime } from "./call-time.ts";
import { type Interrupt, untilStopped } from "../util/interrupt.ts";
import { forgetWaits, waitsBegun } from "./waiting.ts";

/**
 * Runs one call: waits for its slot, runs the tool within its time, checks the result. Every end is a result. A value that comes after the
 * time-out, or after the run was stopped, is ignored.
 *
 * @throws only the error of a journal that failed inside the call: the call then has no result
 */
export function runCall(ready: Ready, halt: Halt): Maybe<CallRecord> {
  const { at, tool, args } = ready;
  const { run } = at.batch;
  const work = workOf(ready);
  let entering: Promise<() => void> | undefined;
  try {
    const key = tool.exclusiveKey(args);
    if (key !== undefined || run.concurrency !== undefined) entering = run.enter(key);
  } catch (error) {
    return settle(work, thrownResult(work, error), run.host.now());
  }
  if (entering === undefined) return carryOut(work, halt);
  const { turn } = at.batch;
  const { id: callId } = ready.call;
  run.tell?.({ type: "call-state", turn, callId, state: "waits" });
  return entering.then((leave) => {
    run.tell?.({ type: "call-state", turn, callId, state: "runs" });
    return always(() => carryOut(work, halt), leave);
  });
}

/** Runs the agent of a call again, in a replay, for its events only: the recorded end of the call counts. */
export async function retell(ready: Ready, stop: Interrupt<unknown>): Promise<void> {
  const { tool, args, at } = ready;
  const work = workOf(ready);
  const unlink = stop.onStop(() => work.scope?.stop(stop.reason));
  const run = async (): Promise<unknown> =>
    within(at.batch.run.host, work.within, () => tool.execute(args, new CallContext(work)));
  const close = async (): Promise<unknown> => work.scope?.close();
  await run().catch(ignored);
  unlink();
  work.end();
  await close().catch(ignored);
}

/** The agent was stopped, failed, or reached the end of its records: its events so far are told. */
function ignored(): void {}

/** A call, ready to be carried out. */
export function workOf(ready: Ready): OngoingCall {
  return new CallAtWork(ready);
}

/** A class because every call makes one: the scope of the runs inside it is opened when the first of them asks for it. */
class CallAtWork implements OngoingCall {
  readonly at: Call;
  readonly ready: Ready;
  readonly around: OpenCall;
  readonly within: PowerScope;
  readonly end: () => void;
  readonly run: CallScope;
  scope: OpenScope | undefined;
  time: CallTime | undefined;
  powers: CallPowers | undefined;
  label: Partial<Label> | undefined;
  threw = false;
  isMended = false;

  constructor(ready: Ready) {
    const { at, tool, call } = ready;
    const { gate, run } = at.batch;
    const { needs = noNeeds } = tool;
    this.at = at;
    this.ready = ready;
    this.around = openCall(gate.intent, run.scope, () => joinLabels(at.learned.label, handedOver(this)));
    const powers = gate.powers.concat([needs]);
    const about = { tool: tool.name, callId: call.id, powers, from: this.around };
    const { scope, end } = openScope(about, run.host);
    this.within = scope;
    this.end = end;
    this.run = new GivenScope(at.batch, run, this);
  }

  get opened(): OpenScope {
    if (this.scope !== undefined) return this.scope;
    const { at, ready, around } = this;
    const { turn, gate, transcript, run } = at.batch;
    const { needs = noNeeds } = ready.tool;
    const place = { callId: ready.call.id, key: at.key, around, needs, turn, gate, transcript };
    this.scope = openCallScope(place, run);
    if (!isOpen(this.within)) void this.scope.close(); // the call has ended: nothing begins inside it any more
    return this.scope;
  }
}

/**
 * The label of what the call hands to the runs inside it: the label of its tool's result. An error that the tool
 * threw may hold anybody's words, and what the tool had read.
 */
function handedOver({ ready: { tool }, threw }: OngoingCall): Label {
  const own = addedLabel(tool);
  return threw ? joinLabels(own, untrustedFrom(`tool/${tool.name}`)) : own;
}

function carryOut(work: OngoingCall, halt: Halt): Maybe<CallRecord> {
  if (halt.lost !== undefined) throw halt.lost.error;
  const begun = { work, halt, startedAt: work.at.batch.run.host.now() };
  let ended: Maybe<ToolEnd>;
  try {
    ended = notBegun(work, halt) ?? runPaid(work, halt);
  } catch (error) {
    ended = failed(work, error);
  }
  return ended instanceof Promise ? closedLater(ended, begun) : closed(inTime(work, ended), begun);
}

/** The end of a tool, or the reason it was not waited for. */
type ToolEnd = Settled | "timeout" | "stopped";

/** A call that has begun. */
interface BegunCall {
  readonly work: OngoingCall;
  readonly halt: Halt;
  readonly startedAt: number;
}

/** One function for everything after a tool that is waited for: every running call holds on to its closure. */
async function closedLater(ending: Promise<ToolEnd>, begun: BegunCall): Promise<CallRecord> {
  const { work } = begun;
  let settled: Settled;
  try {
    settled = inTime(work, await ending);
  } catch (error) {
    settled = failed(work, error);
  }
  return closed(settled, begun);
}

/** The record of a call that has ended. If the journal failed inside it, no other call begins. */
function closed(settled: Settled, { work, halt, startedAt }: BegunCall): Maybe<CallRecord> {
  try {
    const record = settle(work, settled, startedAt);
    return record instanceof Promise ? notedLater(record, work, halt) : noted(record, work, halt);
  } catch (error) {
    return lost(error, work, halt);
  }
}

function notedLater(settling: Promise<CallRecord>, work: OngoingCall, halt: Halt): Promise<CallRecord> {
  return settling.then(
    (record) => noted(record, work, halt),
    (error) => lost(error, work, halt),
  );
}

function noted(record: CallRecord, { at }: OngoingCall, halt: Halt): CallRecord {
  halt.reason ??= haltedBy(record, at.batch.run);
  return record;
}

function lost(error: unknown, { at, scope }: OngoingCall, halt: Halt): never {
  if (error instanceof RunWaits) throw error;
  halt.lost ??= { error };
  const inside = scope?.happened;
  if (inside !== undefined) (halt.inside ??= new Map()).set(at.key, inside);
  throw error;
}

/** The end that counts: a result that comes too late is none. */
function inTime(work: OngoingCall, ended: ToolEnd): Settled {
  const { tool } = work.ready;
  if (ended === "stopped") return { result: cancelledResult(tool.name), isOvertaken: true };
  return ended === "timeout" || work.time?.isOver === true ? late(work) : ended;
}

/** The end of a call that threw. */
function failed(work: OngoingCall, error: unknown): Settled {
  if (work.time?.isOver !== true || fatalOf(error) !== undefined) return thrownResult(work, error);
  work.at.batch.run.onThrow(work.ready.call.id, error);
  return late(work);
}

function late({ ready: { tool }, time }: OngoingCall): Settled {
  const text = `Tool '${tool.name}' timed out after ${time?.timeoutMs} ms.`;
  return { result: { status: "timeout", text }, isOvertaken: true };
}

/** The end of a call that may not begin now that it is its turn. */
function notBegun({ at, ready }: OngoingCall, halt: Halt): Settled | undefined {
  if (at.batch.run.stop.reason !== undefined) return { result: cancelledResult(ready.tool.name) };
  return halt.reason === undefined ? undefined : { result: skippedResult(halt.reason) };
}

/** Runs the tool if the accounts of the run allow it; a bound of an account ends the run. */
function runPaid(work: OngoingCall, halt: Halt): Maybe<ToolEnd> {
  const booking = work.at.batch.run.scope.accounts && bookingOf(work.at, halt);
  if (booking === undefined) return runTool(work);
  return booking.then((excess) =>
    excess === undefined ? (notBegun(work, halt) ?? runTool(work)) : forbidden(excess),
  );
}

/** Runs the tool within its time. Checking the result and mending a failure count too: an output schema can also be slow. */
function runTool(work: OngoingCall): Maybe<ToolEnd> {
  const { tool } = work.ready;
  const { run } = work.at.batch;
  const timeoutMs = run.journal.mode === "replay" ? Infinity : (tool.timeoutMs ?? run.limits.toolMs);
  if (timeoutMs !== Infinity) work.time = new CallTime(timeoutMs, run);
  const context = contextOf(work);
  const settling =
    tool.recover?.executionFailed === undefined
      ? runOnce(work, context)
      : runWithRecovery({ work, context, recovery: tool.recover, again: () => runAnew(work, context) });
  if (!(settling instanceof Promise)) return settling;
  return work.time === undefined ? untilStopped(settling, run.stop) : work.time.within(settling);
}

/** The context of a call, with handles for the needs of its tool. */
function contextOf(work: OngoingCall): ToolContext {
  const { tool } = work.ready;
  const { host, ask } = work.at.batch.run;
  const context = new CallContext(work);
  if (tool.needs === undefined || tool.needs.length === 0) return context;
  const kinds = kindsOf(tool.needs);
  work.powers = openPowers({ scope: work.within, kinds, signal: context.signal, ask }, host);
  return Object.assign(context, work.powers.handles);
}

/**
 * The context of a call. A class because every call makes one: the signal and the copy of the call, costly and rarely looked at,
 * are behind getters of the prototype.
 */
class CallContext implements ToolContext {
  readonly callId: string;
  /** A field, and not a getter: a copy of the context that lost it would count as trusted. */
  label: Label;
  readonly run: CallScope;
  readonly progress: (value: Json) => void;
  readonly #work: OngoingCall;

  constructor(work: OngoingCall) {
    const { around, at, ready } = work;
    const { run, turn } = at.batch;
    const { id: callId } = ready.call;
    this.callId = callId;
    this.label = joinLabels(at.learned.label, around.seen);
    around.shown = this;
    this.run = work.run;
    const progress = (value: Json): void => {
      if (run.tell === undefined || !isOpen(work.within)) return;
      run.tell({ type: "tool-progress", turn, callId, value: toldProgress(value, run.host) });
    };
    this.progress = progress;
    this.#work = work;
  }

  get signal(): AbortSignal {
    const { time, at } = this.#work;
    return time?.signal ?? at.batch.run.stop.signal;
  }

  get idempotencyKey(): string {
    return idempotencyKeyOf(this.#work.at.batch.run, this.#work.at.key);
  }

  get waitFor(): Waits["waitFor"] {
    return this.waits.waitFor;
  }

  get sleepUntil(): Waits["sleepUntil"] {
    return this.waits.sleepUntil;
  }

  private get waits(): Waits {
    return waitsBegun(this.#work, () => this.#work.time?.pause() ?? (() => undefined));
  }

  get call(): ToolCall {
    return copyOfPlain(this.#work.ready.call);
  }
}

/** Runs the tool from its beginning: waits that have already ended give their results at once. */
function runAnew(work: OngoingCall, context: ToolContext): Maybe<Settled> {
  forgetWaits(work);
  return runOnce(work, context);
}

/** Runs the tool once. Rethrows its error without secrets: recoveries, fixers and the run's own error see it. */
function runOnce(work: OngoingCall, context: ToolContext): Maybe<Settled> {
  const { tool, args } = work.ready;
  const { host } = work.at.batch.run;
  try {
    const value = within(host, work.within, () => tool.execute(args, context));
    if (isThenable(value)) return checkedLater(work, Promise.resolve(value));
    const settling = checkResult(tool, unlabelled(work, value));
    return settling instanceof Promise ? settling.catch(cleaner(host)) : settling;
  } catch (error) {
    throw errorWithoutSecrets(error, host);
  }
}

function checkedLater(work: OngoingCall, value: Promise<unknown>): Promise<Settled> {
  const clean = cleaner(work.at.batch.run.host);
  const check = (given: unknown): Maybe<Settled> => checkResult(work.ready.tool, unlabelled(work, given));
  return value.then((given) => rescue(() => check(given), clean), clean);
}

/** Rethrows an error without secrets. */
function cleaner(host: Host): (error: unknown) => never {
  return (error) => {
    throw errorWithoutSecrets(error, host);
  };
}

/** The value inside the label that the tool gave it. */
export function unlabelled(work: OngoingCall, value: unknown): unknown {
  if (!(value instanceof Labelled)) return value;
  work.label = value.label;
  return value.value;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

import { callAt, sizeOf } from "../call/batch.ts";
import type { Batch, EarlyCall, Fate, Halt, Ready } from "../call/call.ts";
import { checkCall, constraintAgainst } from "../call/judge.ts";
import { runCall } from "../call/run.ts";
import { isOrdered } from "../call/running.ts";
import { directJournal } from "../journal/direct-journal.ts";
import { heldJournal } from "../journal/held-journal.ts";
import type { ToolCall } from "../message/message.ts";
import { noUsage } from "../message/usage.ts";
import { type Ledger, reserveCall } from "../policy/account/budget.ts";
import type { RunContext } from "../run/context.ts";
import type { Inside } from "../run/inside.ts";
import type { RunScope } from "../run/scope.ts";
import { mayRunAgain } from "../tool/after-crash.ts";
import type { Tool } from "../tool/tool.ts";
import { interrupt } from "../util/interrupt.ts";
import type { Maybe } from "../util/maybe.ts";
import { sameJson } from "../util/same-json.ts";
import type { Run, State } from "./state.ts";

/** The prefix of the keys of calls from replies that broke off. The id of a call never has it. */
const left = "left/";

/** The calls of broken-off replies that the last reply does not make, and the runs inside them. */
export interface LeftCalls {
  readonly left: number;
  readonly inside?: readonly Inside[];
}

/** The calls of a turn that started while the model wrote; none if it wrote no call that may, which is usual. */
export interface EarlyStarts {
  readonly state: State;
  readonly run: Run;
  calls?: EarlyCalls;
}

/** Takes a complete call, even while the model still writes. */
export function takeEarly(starts: EarlyStarts, call: ToolCall): void {
  (starts.calls ??= new EarlyCalls(starts.state, starts.run)).take(call);
}

/** True for a call that started while the model wrote. */
export function hasStarted(starts: EarlyStarts | undefined, { id }: ToolCall): boolean {
  return starts?.calls?.started?.has(id) === true;
}

/**
 * Takes the calls of a reply as they become complete, and starts those that only look or compute while the model still writes. It starts no
 * call that would be forbidden later, and none after a call that the budget forbids.
 */
export class EarlyCalls {
  /** The started calls, by id; undefined while there are none. */
  started: Map<string, EarlyCall> | undefined;
  private readonly state: State;
  private readonly run: Run;
  /** The ledger including the calls so far; undefined once nothing more may start. */
  private ledger: Ledger | undefined;
  private index = -1;

  constructor(state: State, run: Run) {
    this.state = state;
    this.run = run;
    this.ledger = state.ledger;
  }

  take(proposed: ToolCall): void {
    const { state, run } = this;
    this.index += 1;
    const reserved = this.reserved(proposed);
    this.ledger = reserved;
    if (reserved === undefined || run.leaving?.aborted === true || run.journal.recall !== undefined) return;
    const batch: Batch = { ...state, run, turn: state.ledger.turns, calls: [] };
    const tool = state.gate.allowed.tools.get(proposed.name);
    const at = callAt(batch, {
      index: this.index,
      key: `turn/${batch.turn}/call/${this.index}`,
      proposed,
      ledger: state.ledger,
    });
    const mayStart = isLooking(tool, batch) && constraintAgainst(at) === undefined;
    const fate = mayStart ? checkCall(at) : undefined;
    if (holdsUp({ tool, fate }, run)) this.ledger = undefined;
    if (fate === undefined || fate instanceof Promise) return;
    if (fate.type === "refused" || fate.decision.verdict !== "allow" || !mayOverlap(fate)) return;
    const before = this.startedBefore(fate);
    if (before !== undefined) return this.takeUp(before, fate);
    run.scope.outer?.spend({ usage: noUsage, costUsd: 0, toolCalls: 1 });
    run.scope.balance.now = { ledger: reserved, limits: state.limits }; // runs inside the call share it
    this.start(fate);
  }

  /** Ends started calls that are not used: a run must not end before the runs inside it. */
  async giveUp(): Promise<void> {
    const calls = [...(this.started?.values() ?? [])];
    this.started = undefined;
    await Promise.all(calls.map((call) => call.giveUp()));
  }

  /**
   * Ends the calls that were started for broken-off replies and that the last reply does not make: calls in the same places run under the same keys. Returns
   * their number and the runs inside, which are paid for; undefined without any.
   */
  giveUpLeft(): Promise<LeftCalls> | undefined {
    const calls = [...(this.started ?? [])].filter(([key]) => key.startsWith(left));
    if (calls.length === 0) return undefined;
    for (const [key] of calls) this.started?.delete(key);
    return Promise.all(calls.map(([, call]) => call.giveUp())).then((records) => {
      const inside = records.flatMap((record) => record?.inside ?? []);
      return { left: calls.length, ...(inside.length === 0 ? {} : { inside }) };
    });
  }

  /** Prepares for another reply after one broke off. Started calls go on, in case the new reply makes the same call at the same place: none runs twice. */
  beginAgain(): void {
    const calls = [...(this.started?.values() ?? [])];
    if (calls.length > 0) this.started = new Map(calls.map((call, place) => [`${left}${place}`, call]));
    const { ledger } = this.state;
    this.ledger = { ...ledger, toolCalls: ledger.toolCalls + calls.length };
    this.index = -1;
  }

  /** The call that was started at this place for a broken-off reply: runs inside it have the keys of this place, and no other run may have them. */
  private startedBefore({ at }: Ready): [string, EarlyCall] | undefined {
    return [...(this.started ?? [])].find(
      ([key, { ready }]) => key.startsWith(left) && ready.at.key === at.key,
    );
  }

  /** Gives the started call to the call of this reply if both are the same; a different call waits for its batch. */
  private takeUp([key, begun]: [string, EarlyCall], ready: Ready): void {
    const { call } = begun.ready;
    const { id, name, arguments: args } = ready.call;
    if (call.name !== name || !sameJson(call.arguments, args)) return;
    this.started?.delete(key);
    this.started?.set(id, { ...begun, ready });
  }

  /** The ledger including the call; undefined if a bound of this run, or of one around it, forbids the call. */
  private reserved(call: ToolCall): Ledger | undefined {
    const { ledger, state, run } = this;
    if (ledger === undefined || run.scope.outer?.callExcess() !== undefined) return undefined;
    const reservation = reserveCall(ledger, state.limits, sizeOf(call, state.limits));
    return reservation.ok ? reservation.ledger : undefined;
  }

  private start(ready: Ready): void {
    const { at } = ready;
    const { context: beginning, end } = beside(this.run);
    const telling = heldTelling(beginning);
    const { context } = telling;
    const held =
      context.journal === directJournal ? undefined : heldJournal(context.journal, at.key, context.stop);
    const run = held === undefined ? context : { ...context, journal: held.journal };
    const halt: Halt = {};
    const record = Promise.resolve(runCall({ ...ready, at: { ...at, batch: { ...at.batch, run } } }, halt));
    record.catch(() => undefined); // its batch throws the error, if it ever waits for the call
    const giveUp: EarlyCall["giveUp"] = () => {
      end();
      return record.catch(() => undefined);
    };
    const release = (key: string): void => {
      telling.release();
      held?.release(key);
    };
    (this.started ??= new Map()).set(at.proposed.id, { ready, record, release, giveUp, halt });
  }
}

function isLooking(tool: Tool | undefined, { gate }: Pick<Batch, "gate">): boolean {
  if ((tool?.effect !== "none" && tool?.effect !== "read") || !mayRunAgain(tool)) return false;
  return gate.allowed.counted?.has(tool.name) !== true;
}

/** The context of an early call. The end of the run ends it, and so does giving it up. */
interface EarlyContext {
  readonly context: RunContext;
  readonly end: () => void;
}

function beside(run: RunContext): EarlyContext {
  const stop = interrupt<unknown>();
  const unlink = run.stop.onStop(() => stop.stop(run.stop.reason));
  return {
    context: { ...run, stop },
    end() {
      stop.stop({ type: "cancelled", reason: "the reply that made the call was given up" });
      unlink();
    },
  };
}

interface EarlyCheck {
  readonly tool: Tool | undefined;
  readonly fate: Maybe<Fate> | undefined;
}

/** True if later calls wait for this one, or may be skipped: its tool is unknown, or the mending of its arguments can end the run. */
function holdsUp({ tool, fate }: EarlyCheck, run: RunContext): boolean {
  if (tool === undefined) return run.endOn.includes("unknown-tool");
  if (isOrdered(tool, run)) return true;
  const isChecked = fate !== undefined && !(fate instanceof Promise) && fate.type === "ready";
  if (isChecked) return tool.mode?.(fate.args)?.restrictTo !== undefined; // what it leaves is known to the batch
  return tool.recover?.invalidArguments !== undefined;
}

/** True if a call may run before its batch. A call with an exclusive key, or whose key function throws, may not; nor may a planned act, which happens once. */
function mayOverlap({ tool, args, request, at }: Ready): boolean {
  if (at.batch.gate.plan !== undefined && request.knows.plan?.act !== undefined) return false;
  try {
    return tool.exclusiveKey(args) === undefined;
  } catch {
    return false;
  }
}

/** The context of a call whose events are held back. */
export interface HeldTelling {
  readonly context: RunContext;
  /** Sends the events held back, in order; later events are sent at once. */
  readonly release: () => void;
}

/**
 * Holds back the events of a call, and of the runs inside it, until the reply that makes the call is certain. If the call is given up, none of them is
 * sent: another call may get its place, and runs inside it the same ids.
 */
function heldTelling(run: RunContext): HeldTelling {
  const { tell, scope } = run;
  if (tell === undefined && scope.forward === undefined) return { context: run, release: () => undefined };
  let waiting: (() => void)[] | undefined = [];
  const held =
    <Event>(take: (event: Event) => void) =>
    (event: Event): void => {
      if (waiting === undefined) take(event);
      else waiting.push(() => take(event));
    };
  return {
    context: {
      ...run,
      tell: tell && held(tell),
      scope: scopeTelling(scope, scope.forward && held(scope.forward)),
    },
    release() {
      const told = waiting ?? [];
      waiting = undefined;
      for (const each of told) each();
    },
  };
}

function scopeTelling(scope: RunScope, forward: RunScope["forward"]): RunScope {
  const { depth, maxDepth, accounts, agents, balance, outer } = scope;
  const { purse } = scope;
  return { depth, maxDepth, accounts, agents, balance, outer, purse, forward };
}

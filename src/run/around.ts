import type { Host } from "../journal/host.ts";
import type { Capability } from "../tool/capability.ts";
import type { CallAround, InContext, Level, Powers, PowerScope } from "../tool/power-port.ts";
import { joinLabels, type Label, trustedLabel } from "../message/label.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import type { CallScope } from "../tool/call-scope.ts";
import type { Intent } from "../policy/knowledge/intent.ts";

/** The needs of a tool that declares none. */
export const noNeeds: readonly Capability[] = [];

/** The call around code, for runs begun with or without `parent`. */
export interface OpenCall extends CallAround {
  readonly intent: Intent;
  /** The join of the labels that the runs inside have seen so far. */
  readonly seen: Label;
  /** The context of the call: its label takes in what the runs inside see. */
  shown: { label: Label } | undefined;
}

/** Opens what the runs inside a call learn about it. `own` returns the label of what the call's own code hands over; it is read when a run begins. */
export function openCall(intent: Intent, level: Level, own: () => Label): OpenCall {
  return new CallInTheOpen(intent, level, own);
}

/** A class because every call makes one: its members live once, on the prototype. */
class CallInTheOpen implements OpenCall {
  readonly intent: Intent;
  seen: Label = trustedLabel;
  shown: { label: Label } | undefined;
  readonly depth: number;
  readonly maxDepth: number;
  private readonly own: () => Label;

  constructor(intent: Intent, { depth, maxDepth }: Level, own: () => Label) {
    this.intent = intent;
    this.depth = depth;
    this.maxDepth = maxDepth;
    this.own = own;
  }

  get label(): Label {
    return joinLabels(this.own(), this.seen);
  }

  get saw(): (label: Label) => void {
    return (label) => {
      this.seen = joinLabels(this.seen, label);
      if (this.shown !== undefined) this.shown.label = joinLabels(this.shown.label, label);
    };
  }
}

/** The facts of the run that the code of a call may see. */
interface GivenRun {
  readonly gate: { readonly agent: string; readonly allowed: { readonly skill: string } };
  readonly turn: number;
  readonly transcript: ReadyTranscript;
}

/** The run as a tool sees it. The scope behind it is opened when a run inside asks for it: most calls begin no run. */
export class GivenScope implements CallScope {
  readonly runId: string;
  readonly agent: string;
  readonly skill: string;
  readonly turn: number;
  readonly depth: number;
  readonly transcript: ReadyTranscript;
  readonly #behind: { readonly opened: unknown };

  constructor(
    { gate, turn, transcript }: GivenRun,
    { runId, scope }: { readonly runId: string; readonly scope: Pick<Level, "depth"> },
    behind: { readonly opened: unknown },
  ) {
    this.runId = runId;
    this.agent = gate.agent;
    this.skill = gate.allowed.skill;
    this.turn = turn;
    this.depth = scope.depth;
    this.transcript = transcript;
    this.#behind = behind;
    Object.freeze(this);
  }

  /** The scope behind the run that a tool was given; undefined for any other object. */
  static behind(call: CallScope): unknown {
    return #behind in call ? call.#behind.opened : undefined;
  }
}

/** The call whose code is running; undefined outside of all calls. */
export function callAround({ powers }: Pick<Host, "powers">): CallAround | undefined {
  return powers?.current()?.from;
}

/** The level of the call whose code is running, while that call goes on; undefined outside of all calls. */
export function levelAround({ powers }: Pick<Host, "powers">): Level | undefined {
  const scope = powers?.current();
  return scope?.isOpen?.() === false ? undefined : scope?.from;
}

/** Runs work within these powers: code that it calls, now or after an `await`, can have no more. */
export function within<Value>({ powers }: Pick<Host, "powers">, scope: PowerScope, work: () => Value): Value {
  return powers === undefined ? work() : powers.inside(scope, work);
}

/** Returns a function that runs work in the context of this moment and outside of all calls, though the code of one may be running then. */
export function outsideCalls({ powers }: Pick<Host, "powers">): InContext {
  if (powers === undefined) return (work) => work();
  const context = powers.context();
  return (work) => context(() => powers.inside(undefined, work));
}

/** Opens the scope of a call inside the current scope. It ends when `end` is called, or when a scope around it ends. */
export function openScope(
  { tool, callId, powers, from }: PowerScope,
  host: Pick<Host, "powers">,
): { readonly scope: PowerScope; readonly end: () => void } {
  const around = host.powers?.current();
  let isOver = false;
  const isOpenNow = (): boolean => !isOver && (around === undefined || isOpen(around));
  const scope = { tool, callId, powers, from, sessions: around?.sessions, isOpen: isOpenNow };
  return { scope, end: () => void (isOver = true) };
}

/** True while the call of a scope, and all calls around it, go on. */
export function isOpen(scope: PowerScope): boolean {
  return scope.isOpen?.() !== false;
}

/** Runs work of the runtime itself: a model that is asked by a run inside a call does not act for that call. */
export function asRuntime<Value>({ powers }: Pick<Host, "powers">, work: () => Value): Value {
  const scope = powers?.current();
  return scope === undefined || powers === undefined
    ? work()
    : powers.inside({ ...scope, isHandle: true }, work);
}

/** The powers around the running code: those of the tool call that it runs in, and none once that call has ended. Outside of a call nothing bounds it. */
export function surrounding({ powers }: Pick<Host, "powers">): Powers {
  const scope = powers?.current();
  if (scope === undefined) return [];
  return isOpen(scope) ? scope.powers : [noNeeds];
}

/** The powers and the scope around a run. */
export interface RunPowers {
  readonly powers: Powers;
  /** The scope of its own code, if that has less than the scope of the code that begins the run. */
  readonly scope?: PowerScope;
}

/** The name, the call and the ceiling of a run that begins. */
export interface BeginningRun {
  readonly name: string;
  /** The call that the caller named as its parent. */
  readonly call: Pick<PowerScope, "powers"> | undefined;
  /** The powers that its caller leaves to it. */
  readonly ceiling: readonly Capability[] | undefined;
}

/**
 * The powers around a run, before its own grants: never more than those of the code that begins it, those of the
 * call that it is part of, and those that its caller leaves to it.
 */
export function surroundingRun(host: Pick<Host, "powers">, { name, call, ceiling }: BeginningRun): RunPowers {
  const here = surrounding(host);
  const more = call === undefined ? [] : call.powers.filter((list) => !here.includes(list));
  if (more.length === 0 && ceiling === undefined) return { powers: here };
  const powers = [...here, ...more, ...(ceiling === undefined ? [] : [ceiling])];
  return { powers, scope: { tool: name, callId: "run", isHandle: true, ...host.powers?.current(), powers } };
}

/** A generator whose code keeps the surroundings of this call, whoever reads it. */
export function surrounded<Item, Result>(
  { powers }: Pick<Host, "powers">,
  generator: AsyncGenerator<Item, Result>,
): AsyncGenerator<Item, Result> {
  const scope = powers?.current();
  if (powers === undefined || scope === undefined) return generator;
  const step = <Value>(work: () => Value): Value => powers.inside(scope, work);
  return {
    next: () => step(() => generator.next()),
    return: (value) => step(() => generator.return(value)),
    throw: (error) => step(() => generator.throw(error)),
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: () => step(() => generator[Symbol.asyncDispose]()),
  };
}

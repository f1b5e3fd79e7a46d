import { joinLabels, type Label, untrustedFrom } from "../message/label.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import type { Learned } from "../policy/learned.ts";
import { addedLabel } from "../policy/result-label.ts";
import type { CallScope } from "../tool/call-scope.ts";
import type { PowerScope, Powers } from "../tool/power-port.ts";
import type { ToolContext } from "../tool/tool.ts";
import { type OpenCall, openCall } from "../run/call-around.ts";
import {
  addSpending,
  type CallPowers,
  kindsOf,
  noNeeds,
  noSpending,
  openPowers,
  openScope,
} from "../run/powers.ts";
import type { Gate } from "../run/gate.ts";
import type { ExecuteOptions } from "../run/context.ts";
import type { Halt } from "./order.ts";
import type { Runnable } from "./judge.ts";
import { type Inside, openCallScope, type OpenScope } from "../run/scope.ts";

/** The turn that a call stands in. */
export interface Turn {
  readonly turn: number;
  readonly gate: Gate;
  readonly transcript: ReadyTranscript;
  readonly learned: Learned;
}

/** What a call needs of its run and its turn. */
export interface PerformOptions extends Turn {
  readonly run: ExecuteOptions;
  /** What the calls of its batch tell each other. */
  readonly halt: Halt;
}

/** Ends the runs inside a call; what its own questions to the model cost is counted with them. */
export async function closeScope({ scope, powers, around }: Work): Promise<Inside | undefined> {
  const inside = await scope?.close();
  const spent = await powers?.spent();
  if (spent === undefined) return inside;
  const { delegations = [], spending = noSpending } = inside ?? {};
  return { delegations, spending: addSpending(spending, spent), label: around.seen };
}

/** Opens a call that is to be carried out. */
export function workOf(runnable: Runnable, key: string, { run, gate, learned }: PerformOptions): Work {
  const { tool, call } = runnable;
  const around = openCall(gate.intent, () => joinLabels(learned.label, handedOver(work)));
  const powers: Powers = [...gate.powers, tool.needs ?? noNeeds];
  const { scope, end } = openScope({ tool: tool.name, callId: call.id, powers, from: around }, run.host);
  const work: Work = { runnable, key, around, within: scope, end };
  return work;
}

/** What a tool hands to runs inside its call is no better than its result would be; and what it threw, anybody may have said. */
function handedOver({ runnable: { tool }, threw = false }: Work): Label {
  return threw ? untrustedFrom(`tool/${tool.name}`) : addedLabel(tool);
}

/** A call that is being carried out. */
export interface Work {
  readonly runnable: Runnable;
  readonly key: string;
  /** What the runs inside are told of the call. */
  readonly around: OpenCall;
  /** What surrounds all that the tool calls. */
  readonly within: PowerScope;
  /** The call has ended: what its code still does has no powers. */
  readonly end: () => void;
  /** What the tool sees of its run; made when it looks. */
  scope?: OpenScope;
  /** What it may use of the world; opened when its tool declared something. */
  powers?: CallPowers;
  /** What the tool itself said of its result. */
  label?: Partial<Label>;
  /** The tool threw: fixers are given what it said. */
  threw?: boolean;
  /** Something else stands in the place of what the tool gives. */
  isMended?: boolean;
}

/** What the tool sees of its run. */
export function scopeOfCall(work: Work, { run, ...place }: PerformOptions): CallScope {
  const { key, runnable, around } = work;
  const { needs = noNeeds } = runnable.tool;
  work.scope ??= openCallScope({ callId: runnable.call.id, key, around, needs, ...place }, run);
  return work.scope.run;
}

/** Gives the tool's context the handles of what it declared. */
export function addHandles(
  context: ToolContext,
  { work, options }: { readonly work: Work; readonly options: PerformOptions },
): void {
  const { run } = options;
  const kinds = kindsOf(work.runnable.tool.needs ?? []);
  work.powers = openPowers({ scope: work.within, kinds, signal: context.signal, ask: run.ask }, run.host);
  Object.assign(context, work.powers.handles);
}

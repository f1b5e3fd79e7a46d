import { WritError } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import { addUsage, noUsage } from "../message/usage.ts";
import { whyNot } from "../policy/powers.ts";
import type { Spending } from "../policy/account/purse.ts";
import { type Capability, type CapabilityKind, type Resource, resourceText } from "../tool/capability.ts";
import type { AccessRecord, Handles } from "../tool/handles.ts";
import type { PowerScope, Powers } from "../tool/power-port.ts";
import type { Maybe } from "../util/maybe.ts";
import { withoutSecrets } from "./secrets.ts";

/** Asks the run's model once, without tools. Gives up when the signal is aborted; what was spent by then is told all the same. */
export type AskOnce = (
  prompt: string,
  asking: { readonly signal: AbortSignal; readonly spend: (spending: Spending) => void },
) => Promise<string>;

/** The powers of a call while it goes on. */
export interface CallPowers {
  /** The handles in its context. */
  readonly handles: Partial<Handles>;
  /** Each look at whether something may be used. */
  readonly access: readonly AccessRecord[];
  /** Gives the cost of its own questions to the model, once they have ended; closing ends them. */
  readonly spent: () => Maybe<Spending | undefined>;
  readonly close: () => void;
}

/** The scope, the kinds and the means for which powers are opened. */
export interface Opening {
  readonly scope: PowerScope;
  /** The kinds of handles that are made. */
  readonly kinds: ReadonlySet<CapabilityKind>;
  readonly signal: AbortSignal;
  readonly ask?: AskOnce;
}

/** A call that looks at a thousand things is told of the first. */
const maxAccess = 100;

/** Opens the handles of a call. What it may use is looked up at each use, on the thing itself. */
export function openPowers(
  { scope, kinds, signal, ask }: Opening,
  { powers }: Pick<Host, "powers">,
): CallPowers {
  const access: AccessRecord[] = [];
  function use(named: Resource): void {
    const resource = withoutSecrets(resourceText(named), { powers });
    if (!isOpen(scope)) throw new WritError("capability-closed", { resource });
    const reason = whyNot(scope.powers, named);
    const granted = reason === undefined;
    if (access.length < maxAccess) access.push({ resource, granted, ...(granted ? {} : { reason }) });
    if (!granted) throw new WritError("capability-denied", { resource, reason });
  }
  const end = new AbortController();
  const asked = new Set<Promise<string>>();
  let spent: Spending | undefined;
  const spend = (more: Spending): void => {
    spent = spent === undefined ? more : addSpending(spent, more);
  };
  async function askNow(prompt: string): Promise<string> {
    use({ kind: "llm" });
    if (ask === undefined) return noProvider;
    return ask(prompt, { signal: AbortSignal.any([signal, end.signal]), spend });
  }
  function llm(prompt: string): Promise<string> {
    const asking = askNow(prompt);
    asked.add(asking);
    asking.catch(() => undefined); // nobody may wait for it when it ends with its call
    return asking;
  }
  const opened = powers?.open({ scope, kinds, use, signal });
  const handles: Partial<Handles> = { ...opened?.handles, ...(kinds.has("llm") ? { llm } : {}) };
  return {
    handles,
    access,
    spent() {
      return asked.size === 0 ? undefined : Promise.allSettled(asked).then(() => spent);
    },
    close() {
      if (asked.size > 0) end.abort(new WritError("capability-closed", { resource: "llm" }));
      opened?.close();
    },
  };
}

/** The needs of a tool that declares none. */
export const noNeeds: readonly Capability[] = [];

/** The answer without a model. */
const noProvider = "[no llm provider]";

/** The kinds of what a tool declared. */
export function kindsOf(needs: readonly Capability[]): ReadonlySet<CapabilityKind> {
  return new Set(needs.map(({ kind }) => kind));
}

/** All that there are, for a function that is called as one. */
export const allKinds: ReadonlySet<CapabilityKind> = new Set<CapabilityKind>([
  "net",
  "fs.read",
  "fs.write",
  "env",
  "secret",
  "exec",
  "llm",
]);

export function addSpending(first: Spending, second: Spending): Spending {
  return {
    ...first,
    usage: addUsage(first.usage, second.usage),
    costUsd: first.costUsd + second.costUsd,
    toolCalls: first.toolCalls + second.toolCalls,
  };
}

export const noSpending: Spending = { usage: noUsage, costUsd: 0, toolCalls: 0 };

/** Runs work with these powers around it: what it calls, now or after `await`, can have no more. */
export function within<Value>({ powers }: Pick<Host, "powers">, scope: PowerScope, work: () => Value): Value {
  return powers === undefined ? work() : powers.inside(scope, work);
}

/** Begins the scope of a call inside whatever scope there is; it ends when `end` is called, or when one around it does. */
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

function isOpen(scope: PowerScope): boolean {
  return scope.isOpen?.() !== false;
}

/** Runs work of the runtime itself: a model that a run inside a call asks is none of that call's doing. */
export function asRuntime<Value>({ powers }: Pick<Host, "powers">, work: () => Value): Value {
  const scope = powers?.current();
  return scope === undefined || powers === undefined
    ? work()
    : powers.inside({ ...scope, isHandle: true }, work);
}

/** The powers that surround the code that asks: those of the tool call it runs in, if it runs in one; none when that call has ended. */
export function surrounding({ powers }: Pick<Host, "powers">): Powers {
  const scope = powers?.current();
  if (scope === undefined) return [];
  return isOpen(scope) ? scope.powers : [noNeeds];
}

/** The powers and the scope around a run. */
export interface RunPowers {
  readonly powers: Powers;
  /** The scope of its own code, where that leaves less than the scope around the code that begins the run. */
  readonly scope?: PowerScope;
}

/** The name, the call and the ceiling of a run that begins. */
export interface BeginningRun {
  readonly name: string;
  /** The call that it is told to be part of. */
  readonly call: Pick<PowerScope, "powers"> | undefined;
  /** The powers that its caller leaves it. */
  readonly ceiling: readonly Capability[] | undefined;
}

/**
 * The powers around a run, before its own grants: never more than those of the code that begins it, of the
 * call that it is part of, and of what its caller leaves it.
 */
export function surroundingRun(host: Pick<Host, "powers">, { name, call, ceiling }: BeginningRun): RunPowers {
  const here = surrounding(host);
  const more = call === undefined ? [] : call.powers.filter((list) => !here.includes(list));
  if (more.length === 0 && ceiling === undefined) return { powers: here };
  const powers = [...here, ...more, ...(ceiling === undefined ? [] : [ceiling])];
  return { powers, scope: { tool: name, callId: "run", isHandle: true, ...host.powers?.current(), powers } };
}

/** A generator whose code is surrounded by what surrounds this call, whoever reads it. */
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

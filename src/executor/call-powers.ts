import { WritError } from "../error/writ-error.ts";
import { noUsage } from "../message/usage.ts";
import { addUsage } from "../message/usage.ts";
import { whyNot } from "../policy/powers.ts";
import type { Spending } from "../policy/purse.ts";
import { type CapabilityKind, type Capability, type Resource } from "../tool/capability.ts";
import { resourceText } from "../tool/capability.ts";
import type { AccessRecord, Handles } from "../tool/handles.ts";
import type { PowerScope, Powers } from "../tool/power-port.ts";
import type { Host } from "../journal/host.ts";

/** Asks the run's model once, without tools. */
export type AskOnce = (
  prompt: string,
  signal: AbortSignal,
) => Promise<{ readonly text: string; readonly spending: Spending }>;

/** What a call may use of the world while it goes on. */
export interface CallPowers {
  /** What its context has beside the call itself. */
  readonly handles: Partial<Handles>;
  /** Each look at whether something may be used. */
  readonly access: readonly AccessRecord[];
  /** What its own questions to the model cost. */
  readonly spent: () => Spending | undefined;
  readonly close: () => void;
}

/** What powers are opened for. */
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
  let spent: Spending | undefined;
  let isOpen = true;
  function use(resource: Resource): void {
    if (!isOpen) throw new WritError("capability-closed", { resource: resourceText(resource) });
    const missing = whyNot(scope.powers, resource);
    const text = resourceText(resource);
    if (access.length < maxAccess)
      access.push({
        resource: text,
        granted: missing === undefined,
        ...(missing === undefined ? {} : { reason: missing }),
      });
    if (missing !== undefined) throw new WritError("capability-denied", { resource: text, reason: missing });
  }
  async function llm(prompt: string): Promise<string> {
    use({ kind: "llm" });
    if (ask === undefined) return noProvider;
    const { text, spending } = await ask(prompt, signal);
    spent = spent === undefined ? spending : addSpending(spent, spending);
    return text;
  }
  const opened = powers?.open({ scope, kinds, use, signal });
  const handles: Partial<Handles> = { ...opened?.handles, ...(kinds.has("llm") ? { llm } : {}) };
  return {
    handles,
    access,
    spent: () => spent,
    close() {
      isOpen = false;
      opened?.close();
    },
  };
}

/** What is answered when there is no model. */
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

/** Runs work of the runtime itself: a model that a run inside a call asks is none of that call's doing. */
export function asRuntime<Value>({ powers }: Pick<Host, "powers">, work: () => Value): Value {
  const scope = powers?.current();
  return scope === undefined || powers === undefined
    ? work()
    : powers.inside({ ...scope, isHandle: true }, work);
}

/** The powers that surround the code that asks: those of the tool call it runs in, if it runs in one. */
export function surrounding({ powers }: Pick<Host, "powers">): Powers {
  return powers?.current()?.powers ?? [];
}

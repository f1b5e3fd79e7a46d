import { WritError } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import type { Label } from "../message/label.ts";
import { addUsage, noUsage } from "../message/usage.ts";
import { whyNot } from "../policy/powers.ts";
import type { Spending } from "../policy/account/purse.ts";
import {
  type Capability,
  type CapabilityKind,
  capabilityKinds,
  type Resource,
  resourceText,
} from "../tool/capability.ts";
import type { AccessRecord, Handles } from "../tool/handles.ts";
import type { PowerScope } from "../tool/power-port.ts";
import type { Maybe } from "../util/maybe.ts";
import { withoutSecrets } from "./secrets.ts";
import { isOpen } from "./around.ts";

/** Asks the run's model once, without tools. It gives up when the signal is aborted, and still reports what was spent by then. */
export type AskOnce = (prompt: string, asking: AskingCall) => Promise<string>;

/** The call that asks the model. */
interface AskingCall {
  readonly signal: AbortSignal;
  readonly spend: (spending: Spending) => void;
  /** Receives the label of what the provider read for the answer. */
  readonly saw: (label: Label) => void;
}

/** The powers of a call while it goes on. */
export interface CallPowers {
  /** The handles in its context. */
  readonly handles: Partial<Handles>;
  /** Each check of whether something may be used. */
  readonly access: readonly AccessRecord[];
  /** Ends the call's own questions to the model, and returns their cost once they have ended. */
  readonly spent: () => Maybe<Spending | undefined>;
  readonly close: () => void;
}

/** The scope, the kinds and the means with which powers are opened. */
export interface Opening {
  readonly scope: PowerScope;
  /** The kinds of handles to make. */
  readonly kinds: ReadonlySet<CapabilityKind>;
  readonly signal: AbortSignal;
  readonly ask?: AskOnce;
}

/** The number of checks that are recorded for a call: of a thousand, the first. */
const maxAccess = 100;

/** Opens the handles of a call. Each use checks the thing itself. */
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
  const saw = (label: Label): void => scope.from?.saw(label);
  async function askNow(prompt: string): Promise<string> {
    use({ kind: "llm" });
    if (ask === undefined) return noProvider;
    return ask(prompt, { signal: AbortSignal.any([signal, end.signal]), spend, saw });
  }
  function llm(prompt: string): Promise<string> {
    const asking = askNow(prompt);
    asked.add(asking);
    asking.catch(() => undefined); // nobody may be waiting when the question ends with its call
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

/** The answer if the run has no model to ask. */
const noProvider = "[no llm provider]";

/** The kinds of capabilities that a tool declared. */
export function kindsOf(needs: readonly Capability[]): ReadonlySet<CapabilityKind> {
  return new Set(needs.map(({ kind }) => kind));
}

/** All kinds, for a call of a plain function. */
export const allKinds: ReadonlySet<CapabilityKind> = new Set(capabilityKinds);

export function addSpending(first: Spending, second: Spending): Spending {
  return {
    ...first,
    usage: addUsage(first.usage, second.usage),
    costUsd: first.costUsd + second.costUsd,
    toolCalls: first.toolCalls + second.toolCalls,
  };
}

export const noSpending: Spending = { usage: noUsage, costUsd: 0, toolCalls: 0 };

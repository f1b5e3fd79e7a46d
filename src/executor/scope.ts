import type { AgentEvent, Delegation, RunEvent } from "../event/event.ts";
import type { Journal } from "../journal/journal.ts";
import { prefixedJournal } from "../journal/prefixed-journal.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import { addUsage, noUsage } from "../message/usage.ts";
import type { Policy } from "../policy/decision.ts";
import type { Purse, Spending } from "../policy/purse.ts";
import type { CallScope } from "../tool/call-scope.ts";
import type { Interrupt } from "../util/interrupt.ts";
import type { Gate } from "./gate.ts";
import type { Approve } from "./approval.ts";

/** What a run hands to the runs inside it: it is bound by the outer one and can do no more than it. */
export interface Scope {
  readonly runId: string;
  readonly agent: string;
  readonly depth: number;
  readonly maxDepth: number;
  /** Judges the calls of inner runs beside their own policy. */
  readonly policy: Policy;
  readonly approve?: Approve;
  readonly journal: Journal;
  readonly purse: Purse;
  /** The id of the next run inside: the same at every replay. */
  readonly nextRunId: () => string;
  /** Aborted when the run stops. */
  readonly stop: Interrupt<unknown>;
  /** Takes the events of inner runs; undefined when nobody watches. */
  readonly forward?: (event: AgentEvent) => void;
  /** Told when an inner run began. */
  readonly began: (delegation: Pick<Delegation, "agent" | "runId" | "depth">) => void;
  /** Told how an inner run ended and what it spent in all; its purse was told while it went on. */
  readonly ended: (delegation: Delegation, spending: Spending) => void;
}

/** The part of a scope that is the same for all calls of a run. */
export interface RunScope extends Pick<Scope, "depth" | "maxDepth" | "purse" | "forward"> {
  /** The purse of the run around this one. */
  readonly outer?: Purse;
}

/** What the runs inside one call were, and what they spent together. */
export interface Inside {
  readonly delegations: readonly Delegation[];
  readonly spending: Spending;
}

const scopes = new WeakMap<CallScope, Scope>();

/** The scope behind what a tool was given. @throws TypeError for an object that no call was given. */
export function scopeOf(call: CallScope): Scope {
  const scope = scopes.get(call);
  if (scope === undefined) throw new TypeError("`parent` must be the `run` of a tool's context");
  return scope;
}

/** The place of a call in its run. */
export interface CallPlace {
  readonly key: string;
  readonly callId: string;
  readonly turn: number;
  readonly gate: Gate;
  /** What was said before the reply that made the call. */
  readonly transcript: ReadyTranscript;
}

/** What the scope of a call takes from its run. */
export interface ScopeOptions {
  readonly runId: string;
  readonly scope: RunScope;
  readonly tell?: (event: RunEvent) => void;
  readonly approve?: Approve;
  readonly journal: Journal;
  readonly stop: Interrupt<unknown>;
}

/** The scope of a call while it is open. */
export interface OpenScope {
  readonly run: CallScope;
  /** What happened in it so far; undefined when nothing did. */
  readonly inside: () => Inside | undefined;
}

/** Opens the scope of a call. */
export function openCallScope(
  { key, callId, turn, gate, transcript }: CallPlace,
  options: ScopeOptions,
): OpenScope {
  const { runId, scope, tell, approve, journal, stop } = options;
  const { agent, policy } = gate;
  const delegations: Delegation[] = [];
  let spending: Spending = { usage: noUsage, costUsd: 0, toolCalls: 0 };
  let runs = 0;
  const { skill } = gate.allowed;
  const run: CallScope = Object.freeze({ runId, agent, skill, turn, depth: scope.depth, transcript });
  scopes.set(run, {
    ...scope,
    runId,
    agent,
    policy,
    approve,
    stop,
    journal: prefixedJournal(journal, key),
    nextRunId: () => `${runId}/${key}/${(runs += 1)}`,
    began: (delegation) => tell?.({ type: "delegation-start", turn, callId, ...delegation }),
    ended(delegation, spent) {
      delegations.push(delegation);
      spending = {
        usage: addUsage(spending.usage, spent.usage),
        costUsd: spending.costUsd + spent.costUsd,
        toolCalls: spending.toolCalls + spent.toolCalls,
      };
    },
  });
  return { run, inside: () => (delegations.length === 0 ? undefined : { delegations, spending }) };
}

import { WritError } from "../error/writ-error.ts";
import type { AgentEvent, Delegation, RunEvent } from "../event/event.ts";
import type { Host } from "../journal/host.ts";
import type { Journal } from "../journal/journal.ts";
import { prefixedJournal } from "../journal/prefixed-journal.ts";
import { watchedJournal } from "../journal/watched-journal.ts";
import type { Label } from "../message/label.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import type { Policy } from "../policy/decision.ts";
import { purse, type Purse, type Spending } from "../policy/purse.ts";
import type { CallScope } from "../tool/call-scope.ts";
import type { Capability } from "../tool/capability.ts";
import type { CallAround, Powers } from "../tool/power-port.ts";
import { interrupt, type Interrupt } from "../util/interrupt.ts";
import { type Gate, judgeInside } from "./gate.ts";
import type { Approve } from "./approval.ts";
import type { OpenCall } from "./call-around.ts";
import { addSpending, noSpending } from "./powers.ts";

/** What a run hands to the runs inside it: it is bound by the outer one and can do no more than it. */
export interface Scope extends Omit<CallAround, "intent">, Pick<Gate, "intent" | "said"> {
  readonly runId: string;
  readonly agent: string;
  readonly depth: number;
  readonly maxDepth: number;
  /** Judges the calls of inner runs beside their own policy. */
  readonly policy: Policy;
  /** What the call may use of the world. */
  readonly powers: Powers;
  readonly approve?: Approve;
  readonly purse: Purse;
  /** What the next run inside is called and where it is recorded: the same at every replay, and no other run's. */
  readonly nextRun: () => { readonly runId: string; readonly journal: Journal };
  /** Stopped when the run stops, or when the call has ended. */
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
  /** The join of what the runs have seen. */
  readonly label: Label;
}

// Register: the scope that each call's handle stands for.
const scopes = new WeakMap<CallScope, Scope>();

/** The scope behind what a tool was given. @throws WritError `definition-invalid` for an object that no call was given. */
export function scopeOf(call: CallScope): Scope {
  const scope = scopes.get(call);
  if (scope !== undefined) return scope;
  const reason = "it must be the `run` of the context that a tool is given.";
  throw new WritError("definition-invalid", { where: "The option `parent` of a run", reason });
}

/** The place of a call in its run. */
export interface CallPlace {
  readonly key: string;
  readonly callId: string;
  readonly turn: number;
  readonly gate: Gate;
  /** What was said before the reply that made the call. */
  readonly transcript: ReadyTranscript;
  /** What the runs inside are told of it. */
  readonly around: OpenCall;
  /** What the tool of the call declared; undefined where no tool stands between, and nothing is taken away. */
  readonly needs?: readonly Capability[];
}

/** What the scope of a call takes from its run. */
export interface ScopeOptions {
  readonly runId: string;
  readonly scope: RunScope;
  readonly tell?: (event: RunEvent) => void;
  readonly approve?: Approve;
  readonly journal: Journal;
  readonly host: Host;
  readonly stop: Interrupt<unknown>;
}

/** The scope of a call while it is open. */
export interface OpenScope {
  readonly run: CallScope;
  /** The journal failed in a run inside: the call has no result any more, whatever its tool makes of that. */
  readonly hasLostJournal: () => boolean;
  /**
   * Ends the runs that still go on inside, and gives what happened; undefined when nothing did.
   *
   * @throws the error of a journal that failed in one of them
   */
  readonly close: () => Promise<Inside | undefined>;
}

/** What a call waits for runs inside it that were told to end. */
const graceMs = 1000;

/** Opens the scope of a call. */
export function openCallScope(
  { key, callId, turn, gate, transcript, around, needs }: CallPlace,
  options: ScopeOptions,
): OpenScope {
  const { runId, scope, tell, approve, journal, host } = options;
  const delegations: Delegation[] = [];
  const shared = purse(scope.purse);
  let spending = noSpending;
  let lost: { readonly error: unknown } | undefined;
  let runs = 0;
  let open = 0;
  let allEnded: (() => void) | undefined;
  const stop = interrupt<unknown>();
  const unlink = options.stop.onStop(() => stop.stop(options.stop.reason));
  const { agent, allowed } = gate;
  const { skill } = allowed;
  const run: CallScope = Object.freeze({ runId, agent, skill, turn, depth: scope.depth, transcript });
  scopes.set(run, {
    ...scope,
    runId,
    agent,
    purse: shared,
    policy: judgeInside(gate, scope.purse),
    said: gate.said,
    intent: around.intent,
    get label() {
      return around.label;
    },
    saw: around.saw,
    powers: needs === undefined ? gate.powers : [...gate.powers, needs],
    approve,
    stop,
    nextRun() {
      const place = `${key}/${(runs += 1)}`;
      const own = watchedJournal(prefixedJournal(journal, place), (error) => (lost ??= { error }));
      return { runId: `${runId}/${place}`, journal: own };
    },
    began(delegation) {
      open += 1;
      tell?.({ type: "delegation-start", turn, callId, delegation });
    },
    ended(delegation, spent) {
      open -= 1;
      if (open === 0) allEnded?.();
      delegations.push(delegation);
      spending = addSpending(spending, spent);
    },
  });
  async function close(): Promise<Inside | undefined> {
    unlink();
    stop.stop({ type: "cancelled", reason: "the call that it was part of has ended" });
    if (open > 0) await inGrace(host, (end) => (allEnded = end));
    if (lost !== undefined) throw lost.error;
    if (delegations.length === 0) return undefined;
    const counted = allowed.counted === undefined ? spending : withCalls(spending, shared);
    return { delegations: [...delegations], spending: counted, label: around.seen };
  }
  return { run, hasLostJournal: () => lost !== undefined, close };
}

/** What was spent, with the calls that were counted while it was. */
function withCalls(spending: Spending, { counted: calls }: Purse): Spending {
  return calls === undefined ? spending : { ...spending, calls };
}

/** Waits until what is given to `onEnd` is called, but not for ever. */
function inGrace(host: Host, onEnd: (end: () => void) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stopTimer = host.timer(graceMs, resolve);
  onEnd(() => {
    stopTimer();
    resolve();
  });
  return promise;
}

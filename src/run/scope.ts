import { WritError } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import { type KeptBalance, type Spending, purse, type Purse } from "../policy/account/purse.ts";
import type { Capability } from "../tool/capability.ts";
import type { Level, Powers } from "../tool/power-port.ts";
import type { Maybe } from "../util/maybe.ts";
import type { AgentEvent, Delegation, RunEvent } from "../event/event.ts";
import { readLabel } from "../message/label.ts";
import type { Asked, Journal, JournalQuestion } from "../journal/journal.ts";
import { prefixedJournal } from "../journal/prefixed-journal.ts";
import { watchedJournal } from "../journal/watched-journal.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import type { Policy } from "../policy/decision.ts";
import type { Act } from "../tool/acts.ts";
import type { CallScope } from "../tool/call-scope.ts";
import type { OnWait } from "../tool/waits.ts";
import { interrupt, type Interrupt } from "../util/interrupt.ts";
import type { RunAccounts } from "./accounts.ts";
import type { Approve, TermsInRun } from "./approval.ts";
import { callEnded } from "./end.ts";
import { type Gate, judgeInside } from "./gate.ts";
import { addSpending, noSpending } from "./powers.ts";
import type { Inside } from "./inside.ts";
import type { RunWaits } from "./waits.ts";
import { GivenScope, type OpenCall } from "./around.ts";

/**
 * The scope of a call, as the runs inside it see it. The outer run bounds them, and they can do no more than
 * it can.
 */
export interface Scope extends Level, Pick<Gate, "said"> {
  /** The call, as the runs inside it see it. */
  readonly around: OpenCall;
  readonly runId: string;
  readonly agent: string;
  /** Judges the calls of inner runs, in addition to their own policy. */
  readonly policy: Policy;
  readonly powers: Powers;
  readonly approve?: Approve;
  readonly onWait?: OnWait;
  readonly approvals?: TermsInRun;
  readonly purse: Purse;
  /** The accounts that pay for this run and the runs inside it; undefined without any. */
  readonly accounts?: RunAccounts;
  /**
   * Names the next run inside by its kind of work, and opens its journal. Both are the same at every replay, in whatever order runs begin, and unique
   * to that run.
   */
  readonly nextRun: (what: string) => { readonly runId: string; readonly journal: Journal };
  /** The agents of the runs around the run of the call, outermost first. Left out if there are none. */
  readonly agents?: readonly string[];
  /** Aborted when the run is to be handed over. */
  readonly leaving?: AbortSignal;
  /** Stopped when the run stops or the call ends. */
  readonly stop: Interrupt<unknown>;
  /** Takes the events of inner runs; undefined when nobody watches. */
  readonly forward?: (event: AgentEvent) => void;
  /** Called when an inner run began. */
  readonly began: (delegation: Pick<Delegation, "agent" | "runId" | "depth">) => void;
  /** Called with how an inner run ended and what it spent in all; its purse was charged while it went on. */
  readonly ended: (delegation: Delegation, spending: Spending, acts: readonly Act[]) => void;
  /** Asks, in the journal of the run, what the call itself waits for. @throws the error of the journal; the call is lost with it */
  readonly asking: NonNullable<Journal["ask"]>;
  /** Called with what an inner run, or the call itself, waits for, before `ended`. */
  readonly waits: (waiting: RunWaits) => void;
}

/** The part of a scope that is the same for all calls of a run. */
export interface RunScope extends Pick<
  Scope,
  "depth" | "maxDepth" | "purse" | "accounts" | "forward" | "agents"
> {
  /** The current spending and bounds of the run: its purse reads them here. */
  readonly balance: KeptBalance;
  /** The purse of the run around this one. */
  readonly outer?: Purse;
}

/** The scope behind the object that a tool was given. @throws WritError `definition-invalid` for an object that no call was given */
export function scopeOf(call: CallScope): Scope {
  const opened = GivenScope.behind(call);
  if (opened instanceof ScopeOfCall) return opened.made;
  const reason = "it must be the `run` of the context that a tool is given, by this copy of the package.";
  throw new WritError("definition-invalid", { where: "The option `parent` of a run", reason });
}

/** The place of a call in its run. */
export interface CallPlace {
  readonly key: string;
  readonly callId: string;
  readonly turn: number;
  readonly gate: Gate;
  /** The conversation before the reply that made the call. */
  readonly transcript: ReadyTranscript;
  /** The call, as the code inside it sees it. */
  readonly around: OpenCall;
  /**
   * The needs that the tool of the call declared. Undefined if no tool stands between, and nothing is
   * taken away.
   */
  readonly needs?: readonly Capability[];
}

/** The part of a run that its calls need to open their scopes. */
export interface ScopeOptions {
  readonly runId: string;
  readonly scope: RunScope;
  readonly tell?: (event: RunEvent) => void;
  readonly approve?: Approve;
  readonly onWait?: OnWait;
  readonly approvals?: TermsInRun;
  readonly leaving?: AbortSignal;
  readonly journal: Journal;
  readonly host: Host;
  readonly stop: Interrupt<unknown>;
}

/** The scope of a call while it is open. */
export interface OpenScope {
  readonly run: CallScope;
  /** True if the journal failed in a run inside, or one of them waits: the call then has no result, even if its tool returns one. */
  readonly hasLostJournal: boolean;
  /** The runs inside that have ended by now; undefined if there are none. */
  readonly happened: Inside | undefined;
  /** True if a run inside has not ended: nobody knows yet what it did. */
  readonly goesOn: boolean;
  /** Stops the runs inside. */
  stop(reason: unknown): void;
  /**
   * Ends the runs that still go on inside, and returns what happened; undefined if nothing did.
   *
   * @throws the error of a journal that failed in one of them; RunWaits, with what happened, if one of them waits
   */
  close(): Maybe<Inside | undefined>;
}

/** Opens the scope of a call. */
export function openCallScope(place: CallPlace, options: ScopeOptions): OpenScope {
  return new ScopeOfCall(place, options);
}

/** The milliseconds that a call gives the runs inside it to end after it stopped them. */
const graceMs = 1000;

class ScopeOfCall implements OpenScope {
  private given: CallScope | undefined;
  private readonly place: CallPlace;
  private readonly options: ScopeOptions;
  private scope: Scope | undefined;
  private unlink: (() => void) | undefined;
  private isClosed = false;
  private lost: { readonly error: unknown } | undefined;
  private waiting: RunWaits | undefined;
  /** The runs inside that have ended; undefined while there are none. */
  private done: { delegations: Delegation[]; spending: Spending; acts: Act[] } | undefined;
  /** The number of runs begun for each kind of work. */
  private readonly runs = new Map<string, number>();
  private open = 0;
  private allEnded: (() => void) | undefined;

  constructor(place: CallPlace, options: ScopeOptions) {
    this.place = place;
    this.options = options;
  }

  get run(): CallScope {
    return (this.given ??= new GivenScope(this.place, this.options, { opened: this }));
  }

  get made(): Scope {
    return (this.scope ??= this.makeScope());
  }

  get hasLostJournal(): boolean {
    return this.lost !== undefined || this.waiting !== undefined;
  }

  get goesOn(): boolean {
    return this.open > 0;
  }

  stop(reason: unknown): void {
    this.made.stop.stop(reason);
  }

  close(): Maybe<Inside | undefined> {
    this.isClosed = true;
    const { scope } = this;
    if (scope === undefined) return undefined;
    this.unlink?.();
    scope.stop.stop(callEnded);
    return this.open === 0 ? this.whole() : this.inGrace().then(() => this.wholeLate());
  }

  /** The same after the grace. Nobody knows what a run has read that still has not ended, like one whose turns nobody reads on. */
  private wholeLate(): Inside | undefined {
    if (this.open > 0) this.place.around.saw(readLabel(undefined));
    return this.whole();
  }

  private whole(): Inside | undefined {
    if (this.lost !== undefined) throw this.lost.error;
    const inside = this.happened;
    if (this.waiting !== undefined) throw this.waiting.leaving(inside);
    return inside;
  }

  get happened(): Inside | undefined {
    if (this.done === undefined || this.scope === undefined) return undefined;
    const { around, gate } = this.place;
    const { delegations, acts, spending: spent } = this.done;
    const spending = gate.allowed.counted === undefined ? spent : withCalls(spent, this.scope.purse);
    const inside = { delegations: [...delegations], spending, label: around.seen };
    return acts.length === 0 ? inside : { ...inside, acts: [...acts] };
  }

  private makeScope(): Scope {
    const { gate, around, needs, turn, callId } = this.place;
    const { scope, runId, approve, onWait, approvals, leaving, tell, stop: outer } = this.options;
    const { depth, maxDepth, accounts, forward, agents } = scope;
    const stop = interrupt<unknown>();
    if (this.isClosed) stop.stop(callEnded);
    else this.unlink = outer.onStop(() => stop.stop(outer.reason));
    return {
      runId,
      agent: gate.agent,
      depth,
      maxDepth,
      accounts,
      forward,
      agents,
      purse: purse(scope.purse),
      policy: judgeInside(gate, scope.purse),
      said: gate.said,
      around,
      powers: needs === undefined ? gate.powers : [...gate.powers, needs],
      approve,
      onWait,
      approvals,
      leaving,
      stop,
      asking: (question) => this.asking(question),
      nextRun: (what) => this.nextRun(what),
      began: (delegation) => {
        this.open += 1;
        tell?.({ type: "delegation-start", turn, callId, delegation });
      },
      ended: (...end) => this.ended(...end),
      waits: (waiting) => void (this.waiting = waiting.and(this.waiting)),
    };
  }

  private nextRun(what: string): ReturnType<Scope["nextRun"]> {
    const { runId, journal } = this.options;
    const count = (this.runs.get(what) ?? 0) + 1;
    this.runs.set(what, count);
    const place = `${this.place.key}/${what}/${count}`;
    const own = watchedJournal(prefixedJournal(journal, place), (error) => (this.lost ??= { error }));
    return { runId: `${runId}/${place}`, journal: own };
  }

  private asking<Answer>(question: JournalQuestion): Promise<Asked<Answer>> {
    const { ask } = watchedJournal(this.options.journal, (error) => (this.lost ??= { error }));
    if (ask === undefined) throw new TypeError("a run waits only in a journal that keeps questions");
    return ask(question);
  }

  private ended(delegation: Delegation, spent: Spending, acts: readonly Act[]): void {
    const done = (this.done ??= { delegations: [], spending: noSpending, acts: [] });
    done.acts.push(...acts);
    done.delegations.push(delegation);
    done.spending = addSpending(done.spending, spent);
    this.open -= 1;
    if (this.open === 0) this.allEnded?.();
  }

  /** Waits until the runs inside have ended, but not for ever. */
  private inGrace(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stopTimer = this.options.host.timer(graceMs, resolve);
    const allEnded = (): void => {
      stopTimer();
      resolve();
    };
    this.allEnded = allEnded;
    return promise;
  }
}

/** Adds the calls that the purse counted to the spending. */
function withCalls(spending: Spending, { counted: calls }: Purse): Spending {
  return calls === undefined ? spending : { ...spending, calls };
}

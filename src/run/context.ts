import type { Approve, TermsInRun } from "./approval.ts";
import type { RunEvent } from "../event/event.ts";
import type { Hooks } from "../hook/run-hooks.ts";
import { directJournal } from "../journal/direct-journal.ts";
import type { Host } from "../journal/host.ts";
import type { Journal } from "../journal/journal.ts";
import { type Limits, limitsOf } from "../policy/account/budget.ts";
import { type KeptBalance, purse } from "../policy/account/purse.ts";
import { interrupt, type Interrupt } from "../util/interrupt.ts";
import { slots, type Slots } from "../util/slots.ts";
import type { EndCause } from "./end.ts";
import type { Executor } from "./executor.ts";
import type { AskOnce } from "./powers.ts";
import type { OnWait } from "../tool/waits.ts";
import type { RunScope } from "./scope.ts";
import { levelAround } from "./around.ts";

/** The order in which the calls of a reply run, and the causes that keep the rest from running. */
export interface Ordering {
  /**
   * The number of calls that run at a time. Undefined: calls that change something run one by one in order, all
   * others side by side.
   */
  readonly concurrency: number | undefined;
  /** The causes that end the run or a batch of it: see {@link EndCause}. */
  readonly endOn: readonly EndCause[];
}

/** A run as everything in it sees it: made once when the run begins, and handed on by reference. */
export interface RunContext extends Ordering {
  readonly runId: string;
  readonly journal: Journal;
  readonly host: Host;
  readonly stop: Interrupt<unknown>;
  /** The bounds that hold for each call by itself. */
  readonly limits: Pick<Limits, "toolMs" | "resultBytes">;
  /** Waits for the turn of a call. Asked only if calls share a key or their number at a time is bounded. */
  readonly enter: Slots["enter"];
  /** The calls are made by a program, which cannot read on in a long result. */
  readonly isProgram?: true;
  readonly hooks: Hooks;
  readonly scope: RunScope;
  /** Receives the events in order; undefined when nobody watches, and then no event is made. */
  readonly tell: ((event: RunEvent) => void) | undefined;
  /** The time at which the run began, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly approve: Approve | undefined;
  /** Receives the signals that tools wait for in this process. */
  readonly onWait?: OnWait;
  /** The terms of questions that wait in the journal. */
  readonly approvals?: TermsInRun;
  /** Aborted when the run is to be handed over: then nobody waits for a person any more, and no request is retried. */
  readonly leaving?: AbortSignal;
  /** Carries out the calls of a reply in place of the runtime. */
  readonly executor?: Executor;
  /** Asks the run's model on behalf of a tool that may ask it. */
  readonly ask: AskOnce | undefined;
  /** Receives the error that a tool threw, as the cause of the run's own error. */
  readonly onThrow: (callId: string, error: unknown) => void;
}

/** The context of calls that a program makes outside of any run. Runs that a tool starts inside are bound by the default depth only. */
export function programContext(given: Pick<RunContext, "host"> & Partial<RunContext>): RunContext {
  const { host, concurrency } = given;
  const turns = slots(concurrency);
  const balance: KeptBalance = { now: undefined };
  const limits = limitsOf({ resultBytes: Infinity }, "calls");
  return {
    runId: host.randomId(),
    journal: directJournal,
    stop: interrupt<unknown>(),
    limits,
    enter: (key) => turns.enter(key),
    hooks: {},
    scope: {
      ...(levelAround(host) ?? { depth: 0, maxDepth: limits.depth }),
      balance,
      purse: purse(undefined, balance),
    },
    tell: undefined,
    startedAt: host.now(),
    approve: undefined,
    ask: undefined,
    concurrency: undefined,
    endOn: [],
    onThrow: () => undefined,
    isProgram: true,
    ...given,
  };
}

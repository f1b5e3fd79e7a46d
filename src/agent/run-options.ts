import type { AgentEvent } from "../event/event.ts";
import type { Journal } from "../journal/journal.ts";
import type { RetryPace } from "../model/retry.ts";
import type { Account } from "../policy/account/account.ts";
import type { RecordPart } from "../journal/parts.ts";
import type { Approve } from "../run/approval.ts";
import type { SessionHandle } from "../session/session.ts";
import type { CallScope } from "../tool/call-scope.ts";
import type { Capability } from "../tool/capability.ts";
import type { OnWait } from "../tool/waits.ts";

/** Options of one run, beside its input. */
export interface RunOptions {
  /** Cancels the run. */
  readonly signal?: AbortSignal;
  /** Asks a person about calls that the policy is not sure of. Without it they are denied. */
  readonly approve?: Approve;
  /** Gives the signals that tools wait for, in this process. Default: they wait in the journal, where the run can. */
  readonly onWait?: OnWait;
  /** The journal that records the effects of the run, or replays them. Default: none. */
  readonly journal?: Journal;
  /**
   * Hands the run over: effects at work end and are recorded, nothing else begins, and the run is `suspended` with the field `handover`. Another
   * process goes on with its journal. For a worker that is told to go (SIGTERM). A journal is needed.
   */
  readonly handOver?: AbortSignal;
  /** Told each event while `run` goes on. What it throws is a process warning (`WRIT_OBSERVER_FAILED`). With `stream` the reader is told. */
  readonly onEvent?: (event: AgentEvent) => unknown;
  /** The pace at which failed requests to the model are made again, in place of the agent's. `false`: each is made once. */
  readonly retry?: RetryPace | false;
  /** The skill to use, instead of choosing one. */
  readonly skill?: string;
  /**
   * The session of the run: the conversation of earlier runs comes before the input, and this run is kept
   * with them.
   */
  readonly session?: SessionHandle;
  /** The only tools of the skill that may be called in this run. A name that no skill has, and no member of a composition, is `tool-unknown`. */
  readonly tools?: readonly string[];
  /** Told to the model after the agent's own instructions, in this run alone. A plain skill has nobody to tell it to. */
  readonly instructions?: string;
  /**
   * The wish of the user, in the user's own words, for an input that holds more than that (a document, a
   * mail). The rest of the input is then nobody's choice. Default: the input. A run inside another one has
   * the intent of that.
   */
  readonly intent?: string;
  /** The most capabilities that this run may use, whatever the agent grants. */
  readonly ceiling?: readonly Capability[];
  /**
   * The account of somebody over all their runs: this run is paid from it, with the runs inside it. It holds
   * beside the budget and the agent's own account.
   */
  readonly account?: Account;
  /**
   * Parts of what the run is asked, and of its intent, that may differ from what they were when it goes on from a journal or a checkpoint. Bounds
   * always may with a journal, and from a checkpoint when one was met.
   */
  readonly accept?: readonly RecordPart[];
  /** The call that this run is part of (`context.run`): its bounds are shared, its policy holds too, its end ends this run. */
  readonly parent?: CallScope;
  /** Default: a new one; inside another run, one made of its place there. */
  readonly runId?: string;
}

/** The account of an agent, or the function that names one for the options of a run. */
export type AccountChoice = Account | ((options: RunOptions) => Account | undefined);

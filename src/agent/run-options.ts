import type { AgentEvent } from "../event/event.ts";
import type { Journal } from "../journal/journal.ts";
import type { Label } from "../message/label.ts";
import type { RetryPace } from "../model/retry.ts";
import type { Account } from "../policy/account/account.ts";
import type { RecordPart } from "../journal/parts.ts";
import type { Approve } from "../run/approval.ts";
import type { SessionHandle } from "../session/session.ts";
import type { CallScope } from "../tool/call-scope.ts";
import type { Capability } from "../tool/capability.ts";
import type { OnWait } from "../tool/waits.ts";

/** Options of one run, apart from its input. */
export interface RunOptions {
  /** Cancels the run. */
  readonly signal?: AbortSignal;
  /** Asks a person about calls that the policy does not decide. Without it they are denied. */
  readonly approve?: Approve;
  /** Returns the signals that tools wait for, in this process. Default: they wait in the journal, if the run can. */
  readonly onWait?: OnWait;
  /** The journal that records the effects of the run, or replays them. Default: none. */
  readonly journal?: Journal;
  /**
   * Hands the run over: work under way ends and is recorded, no other begins, and the run is `suspended` with the field `handover`. Another
   * process continues with its journal. For a worker that is told to stop (SIGTERM). It needs a journal.
   */
  readonly handOver?: AbortSignal;
  /** Receives each event while `run` goes on. An error is a process warning (`WRIT_OBSERVER_FAILED`). With `stream` the reader gets the events. */
  readonly onEvent?: (event: AgentEvent) => unknown;
  /** The pace of retries of failed requests to the model, in place of the agent's. `false`: each request is made once. */
  readonly retry?: RetryPace | false;
  /** The skill to use, instead of choosing one. */
  readonly skill?: string;
  /**
   * The session of the run: the conversation of earlier runs comes before the input, and this run is saved
   * with them.
   */
  readonly session?: SessionHandle;
  /** The only tools of the skill that this run may call. A name that no skill and no member of a composition has is `tool-unknown`. */
  readonly tools?: readonly string[];
  /** Instructions for the model after the agent's own, in this run only. A plain skill has no model to tell. */
  readonly instructions?: string;
  /**
   * The wish of the user, in the user's own words, if the input holds more than that (a document, a
   * mail). The rest of the input is then not the user's choice. Default: the input. A run inside another one has
   * the intent of that run.
   */
  readonly intent?: string;
  /** The label of the input, if it is not the user's alone, or not for everybody. It is joined with the label that the input has without it. */
  readonly label?: Label;
  /** The most capabilities that this run may use, even if the agent grants more. */
  readonly ceiling?: readonly Capability[];
  /**
   * The account of a user over all their runs: it pays for this run and the runs inside it, and holds
   * in addition to the budget and the agent's own account.
   */
  readonly account?: Account;
  /**
   * The parts of the run's requests, and of its intent, that may differ from before when it continues from a journal or a checkpoint. Bounds
   * may always differ with a journal, and with a checkpoint if one was met.
   */
  readonly accept?: readonly RecordPart[];
  /** The call that this run is part of (`context.run`): the run shares its bounds, is held to its policy, and ends with it. */
  readonly parent?: CallScope;
  /** The id of the run. Default: a new one; inside another run, one made from its place there. */
  readonly runId?: string;
}

/** The account of an agent, or the function that names one for the options of a run. */
export type AccountChoice = Account | ((options: RunOptions) => Account | undefined);

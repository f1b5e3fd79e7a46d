import type { Label } from "../message/label.ts";
import type { ToolCall, ToolResult } from "../message/message.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import type { Ledger, Limits } from "../policy/account/budget.ts";
import type { ToolUse } from "../policy/account/constraints.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import type { CallRequest, Decision } from "../policy/decision.ts";
import type { Learned } from "../policy/knowledge/learned.ts";
import type { Inside } from "../run/inside.ts";
import type { OpenScope } from "../run/scope.ts";
import type { OpenCall } from "../run/around.ts";
import type { RunContext } from "../run/context.ts";
import type { Gate } from "../run/gate.ts";
import type { OpenQuestion } from "../run/waits.ts";
import type { CallPowers } from "../run/powers.ts";
import type { CallScope } from "../tool/call-scope.ts";
import type { AccessRecord } from "../tool/handles.ts";
import type { PowerScope } from "../tool/power-port.ts";
import type { Issue } from "../schema/schema.ts";
import type { Tool } from "../tool/tool.ts";
import type { Fatal } from "./fatal.ts";
import type { CallTime } from "./call-time.ts";
import type { JudgedTimes, JudgingTimes } from "./judging-times.ts";

/** The calls of one reply, and the run that they stand in. */
export interface Batch {
  readonly run: RunContext;
  readonly turn: number;
  readonly calls: readonly ToolCall[];
  readonly gate: Gate;
  readonly ledger: Ledger;
  readonly limits: Limits;
  /** Everything before the reply that made the calls. */
  readonly transcript: ReadyTranscript;
  /** The knowledge that the run has from it. */
  readonly learned: Learned;
  /** Calls that were started while the model wrote, by id. */
  readonly early?: ReadonlyMap<string, EarlyCall>;
  /** The reason why none of the calls may run; undefined when they may. */
  readonly refuse?: string;
}

/** A call at its place in its batch. Hooks, mending and people can put another call in the place of the model's. */
export interface Call {
  readonly batch: Batch;
  readonly index: number;
  /** Its key in the journal. */
  readonly key: string;
  readonly proposed: ToolCall;
  /** The knowledge of the run, joined with what was read while the call was mended. */
  readonly learned: Learned;
  /** Earlier uses of the tools that constraints speak of, the earlier calls of the batch included. */
  readonly uses?: readonly ToolUse[];
  /** Hashes of the calls that a person approved for the whole run. */
  readonly approved?: readonly string[];
  /** The record of an earlier process, of which there is the decision alone; none where it began the call and left no result. */
  readonly before?: { readonly decision?: Decision; readonly hasRun: boolean };
  /** The record of an earlier process by which the call did not run. Without a result where the run went on and has no record of the call. */
  readonly refusal?: Partial<Pick<CallRecord, "result" | "decision">>;
  /** The answer of a person stands in the journal. */
  readonly isAnswered?: boolean;
  /** Planned acts that were carried out. */
  readonly spent?: readonly number[];
  /** The times of judging it. Left out where no journal keeps them. */
  readonly times?: JudgingTimes;
  /** Answers that a person gave with those of earlier calls of the batch. */
  readonly answered?: readonly SetAnswer[];
  /** It is looked at before its turn, to show it with an earlier call: nothing is told of it. */
  readonly isAhead?: true;
  /** Finds the questions of the calls behind it. Left out where it is asked about alone. */
  readonly behind?: (ready: Ready) => readonly QuestionBehind[];
}

/** An answer about a call, by its place in its batch, which a person gave with that of an earlier call. It counts for a call of the same hash alone. */
export interface SetAnswer {
  readonly index: number;
  readonly hash: string;
  readonly approved: boolean;
  readonly reason?: string;
}

/** A call behind the one that a person is asked about, in the same reply, and the question that it would bring. */
export interface QuestionBehind {
  readonly index: number;
  readonly request: ApprovalRequest;
}

/** The fate of a call: refused with its result, or ready to run. */
export type Fate = Refused | Ready;

/** A call that does not run: its result is there already. */
export interface Refused {
  readonly type: "refused";
  readonly call: ToolCall;
  readonly result: ToolResult;
  /** Undefined where nobody decided: the run was stopped, or an earlier call ended the batch. */
  readonly decision?: Decision;
  /** The decision by which a person was asked, who said no. */
  readonly askedBy?: Decision;
  /** The allow-list does not have its tool. */
  readonly isUnknown?: boolean;
  /** The fault of its arguments, and the tool that would have run. */
  readonly wrong?: { readonly tool: Tool; readonly problem: string; readonly issues: readonly Issue[] };
  /** It ends the run, though it never ran. */
  readonly fatal?: Fatal;
  /** The author's recovery chose to tell the model. */
  readonly escalated?: boolean;
  /** Answers that a person gave with this one, for later calls of the batch. */
  readonly answers?: readonly SetAnswer[];
  /** The policy said no, just now. */
  readonly isDenied?: true;
  /** The times of its judging, where a journal keeps them. */
  readonly judged?: JudgedTimes;
  /** The runs inside its mending. */
  readonly inside?: Inside;
}

/** A call that may run: its arguments are parsed. */
export interface Ready {
  readonly type: "ready";
  /** The call as it was judged: hooks, mending and people may have made another one of the model's. */
  readonly at: Call;
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly args: unknown;
  readonly decision: Decision;
  /** The call as policy and people are asked about it. */
  readonly request: CallRequest;
  readonly coerced?: readonly string[];
  /** A person put other arguments in the place of the model's. */
  readonly isEdited?: boolean;
  /** The decision by which that person was asked. */
  readonly askedBy?: Decision;
  /** The hash under which a person approved it for the rest of the run too. */
  readonly approvedAs?: string;
  /** The runs inside its mending. */
  readonly inside?: Inside;
  /** Answers that a person gave with this one, for later calls of the batch. */
  readonly answers?: readonly SetAnswer[];
  /** It was started while its reply was read. */
  readonly early?: EarlyCall;
  /** It may not run before this is answered. */
  readonly waits?: OpenQuestion;
}

/** A call that was started before its reply was complete. */
export interface EarlyCall {
  readonly ready: Ready;
  readonly record: Promise<CallRecord>;
  /** Lets it and the runs inside it tell, and those be recorded: the reply that made the call is, and this is the key of the call in it. */
  readonly release: (key: string) => void;
  /** Ends it, if it still goes on: nobody asks for it any more. Waits until it has ended, and gives its record, if it has one. */
  readonly giveUp: () => Promise<CallRecord | undefined>;
}

/** The capabilities that a tool declares, and of these kinds those that the run grants, as far as a record keeps them. */
export interface KeptPowers {
  readonly needs?: readonly string[];
  readonly granted?: readonly string[];
}

/** The end of one call, as the journal keeps it. Times are milliseconds since 1970. */
export interface CallRecord extends KeptPowers {
  readonly result: ToolResult;
  readonly startedAt: number;
  readonly endedAt: number;
  /** The call ends the run. */
  readonly fatal?: Fatal;
  /** The run was stopped before the call could begin: no beginning was told. */
  readonly held?: true;
  /** The decision of the policy about it, and the times at which it was judged. Left out where no journal keeps them; a call that started early has no such times. */
  readonly decision?: Decision;
  readonly judged?: JudgedTimes;
  /** The author's recovery chose to tell the model: the failure ends no run. */
  readonly escalated?: boolean;
  /** The runs inside the call. */
  readonly inside?: Inside;
  /** The hooks that changed its result. */
  readonly by?: Readonly<Record<string, string>>;
  /** The result was cut after so many bytes, and the model may read on. */
  readonly cut?: number;
  /** Its looks at the world, and whether it might. */
  readonly access?: readonly AccessRecord[];
}

/** The end of a call as its tool left it; what the tool threw is kept until the author's rules for failures were asked. */
export type Settled = Pick<CallRecord, "result" | "fatal" | "escalated"> & {
  /** Its end came while it was at work. */
  readonly isOvertaken?: boolean;
};

/** A call that is being carried out. */
export interface OngoingCall {
  readonly at: Call;
  readonly ready: Ready;
  /** Told to the runs inside. */
  readonly around: OpenCall;
  /** The powers around all that the tool calls. */
  readonly within: PowerScope;
  /** Ends the call: what its code still does has no powers. */
  readonly end: () => void;
  /** The run as the tool sees it. */
  readonly run: CallScope;
  /** The scope of the runs inside; undefined while none has begun. */
  readonly scope: OpenScope | undefined;
  /** Its time; counts from when its tool begins. */
  time?: CallTime | undefined;
  /** Its handles to the world; opened when its tool declared something. */
  powers?: CallPowers;
  /** The label that the tool itself gave its result. */
  label?: Partial<Label>;
  /** The tool threw: fixers are given what it said. */
  threw?: boolean;
  /** Something else stands in the place of what the tool gives. */
  isMended?: boolean;
}

/** The reason why the calls of a batch that have not begun do not begin any more. */
export interface Halt {
  reason?: string;
  /** The journal failed inside a call: nothing that begins now could be recorded. */
  lost?: { readonly error: unknown };
  /** The runs inside calls in which the journal failed, by the keys of these. */
  inside?: Map<string, Inside>;
}

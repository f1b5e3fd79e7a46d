import { causesOf } from "../error/causes.ts";
import type { ErrorCode } from "../error/codes.ts";
import { isWritError } from "../error/writ-error.ts";
import type { Label } from "../message/label.ts";
import type { ToolCall, ToolResult } from "../message/message.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import type { Excess, Ledger, Limits } from "../policy/account/budget.ts";
import type { ToolUse } from "../policy/account/constraints.ts";
import type { CallRequest, Decision } from "../policy/decision.ts";
import type { Learned } from "../policy/knowledge/learned.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import type { OpenCall } from "../run/around.ts";
import type { RunContext } from "../run/context.ts";
import { excessOf } from "../run/end.ts";
import type { Gate } from "../run/gate.ts";
import type { Inside } from "../run/inside.ts";
import type { CallPowers } from "../run/powers.ts";
import type { OpenScope } from "../run/scope.ts";
import type { OpenQuestion } from "../run/waits.ts";
import type { Issue } from "../schema/schema.ts";
import type { CallScope } from "../tool/call-scope.ts";
import type { AccessRecord } from "../tool/handles.ts";
import type { PowerScope } from "../tool/power-port.ts";
import type { Tool } from "../tool/tool.ts";
import { toJson } from "../util/json.ts";
import type { CallTime, JudgedTimes, JudgingTimes } from "./call-time.ts";

/** The calls of one reply, with the run that made them. */
export interface Batch {
  readonly run: RunContext;
  readonly turn: number;
  readonly calls: readonly ToolCall[];
  readonly gate: Gate;
  readonly ledger: Ledger;
  readonly limits: Limits;
  /** The conversation before the reply that made the calls. */
  readonly transcript: ReadyTranscript;
  /** The knowledge that the run has gained from the transcript. */
  readonly learned: Learned;
  /** Calls that were started while the model wrote, by id. */
  readonly early?: ReadonlyMap<string, EarlyCall>;
  /** The reason why none of the calls may run; undefined if they may. */
  readonly refuse?: string;
}

/** A call at its place in its batch. Hooks, mending and people can replace the model's call with another. */
export interface Call {
  readonly batch: Batch;
  readonly index: number;
  /** The key of the call in the journal. */
  readonly key: string;
  readonly proposed: ToolCall;
  /** The knowledge of the run, joined with what was read to mend the call. */
  readonly learned: Learned;
  /** Earlier uses of the tools that constraints name, including earlier calls of the batch. */
  readonly uses?: readonly ToolUse[];
  /** Hashes of the calls that a person approved for the whole run. */
  readonly approved?: readonly string[];
  /** The decision in the record of an earlier process; left out if that process began the call and recorded no result. */
  readonly before?: { readonly decision?: Decision; readonly hasRun: boolean };
  /** The record of a call that an earlier process did not run. It has no result if the run went on without a record of the call. */
  readonly refusal?: Partial<Pick<CallRecord, "result" | "decision">>;
  /** True if the journal has a person's answer to the call. */
  readonly isAnswered?: boolean;
  /** The planned acts that were carried out. */
  readonly spent?: readonly number[];
  /** The times of judging it. Left out if no journal keeps them. */
  readonly times?: JudgingTimes;
  /** The answers that a person gave together with those of earlier calls of the batch. */
  readonly answered?: readonly SetAnswer[];
  /** True if the call is judged before its turn, to show it together with an earlier call: no event tells of it. */
  readonly isAhead?: true;
  /** Finds the questions of the calls after it. Left out if the call is asked about alone. */
  readonly behind?: (ready: Ready) => readonly QuestionBehind[];
}

/** An answer about a call, by its place in its batch, given together with that of an earlier call. It holds only for a call with the same hash. */
export interface SetAnswer {
  readonly index: number;
  readonly hash: string;
  readonly approved: boolean;
  readonly reason?: string;
}

/** A later call of the reply of which a person is asked about one, and the question that it would bring. */
export interface QuestionBehind {
  readonly index: number;
  readonly request: ApprovalRequest;
}

/** The fate of a call: refused with its result, or ready to run. */
export type Fate = Refused | Ready;

/** A call that does not run: it already has a result. */
export interface Refused {
  readonly type: "refused";
  readonly call: ToolCall;
  readonly result: ToolResult;
  /** Undefined if nobody decided: the run was stopped, or an earlier call ended the batch. */
  readonly decision?: Decision;
  /** The decision to ask the person who then said no. */
  readonly askedBy?: Decision;
  /** True if the allow-list does not have its tool. */
  readonly isUnknown?: boolean;
  /** The fault of its arguments, and the tool they were meant for. */
  readonly wrong?: { readonly tool: Tool; readonly problem: string; readonly issues: readonly Issue[] };
  /** The failure by which the call ends the run, although its tool did not run. */
  readonly fatal?: Fatal;
  /** True if the author's recovery chose to tell the model. */
  readonly escalated?: boolean;
  /** The answers that the person gave with this one, for later calls of the batch. */
  readonly answers?: readonly SetAnswer[];
  /** True if the policy of this process denied the call. */
  readonly isDenied?: true;
  /** The times of judging it, if a journal keeps them. */
  readonly judged?: JudgedTimes;
  /** The runs inside its mending. */
  readonly inside?: Inside;
}

/** A call that may run: its arguments are parsed. */
export interface Ready {
  readonly type: "ready";
  /** The call as it was judged, which hooks, mending and people may have changed. */
  readonly at: Call;
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly args: unknown;
  readonly decision: Decision;
  /** The call as policies and people see it. */
  readonly request: CallRequest;
  readonly coerced?: readonly string[];
  /** True if a person replaced the model's arguments. */
  readonly isEdited?: boolean;
  /** The decision to ask that person. */
  readonly askedBy?: Decision;
  /** The hash under which a person approved it for the rest of the run as well. */
  readonly approvedAs?: string;
  /** True if nobody said yes to it in this run: it had begun unasked, or the yes was given in the run that this one is a fork of. It allows no later call. */
  readonly isOver?: true;
  /** The runs inside its mending. */
  readonly inside?: Inside;
  /** The answers that the person gave with this one, for later calls of the batch. */
  readonly answers?: readonly SetAnswer[];
  /** The call as it was started while its reply was read. */
  readonly early?: EarlyCall;
  /** The question that must be answered before the call may run. */
  readonly waits?: OpenQuestion;
}

/** A call that was started before its reply was complete. */
export interface EarlyCall {
  readonly ready: Ready;
  readonly record: Promise<CallRecord>;
  /** Lets the call and the runs inside it send events, and lets those runs be recorded: the reply is recorded by now, and `key` is the call's key in it. */
  readonly release: (key: string) => void;
  /** Ends a call that nobody asks for any more, waits until it has ended, and returns its record, if it has one. */
  readonly giveUp: () => Promise<CallRecord | undefined>;
  readonly halt: Halt;
}

/** The capabilities that the tool of a call declares, and the run's grants of the same kinds: of each at most as many as a record keeps. */
export interface KeptPowers {
  readonly needs?: readonly string[];
  readonly granted?: readonly string[];
}

/** The end of one call, as the journal keeps it. Times are in milliseconds since 1970. */
export interface CallRecord extends KeptPowers {
  readonly result: ToolResult;
  readonly startedAt: number;
  readonly endedAt: number;
  /** The failure by which the call ends the run. */
  readonly fatal?: Fatal;
  /** True if the run was stopped before the call could begin: no event told of its beginning. */
  readonly held?: true;
  /** The policy's decision about it, and the times of judging it. Left out if no journal keeps them; a call that started early has no such times. */
  readonly decision?: Decision;
  readonly judged?: JudgedTimes;
  /** True if the author's recovery chose to tell the model: the failure does not end the run. */
  readonly escalated?: boolean;
  readonly inside?: Inside;
  /** The names of the hooks that changed its result, by field. */
  readonly by?: Readonly<Record<string, string>>;
  /** The bytes after which the result was cut, if the model may read on. */
  readonly cut?: number;
  /** The call's uses of its powers, and whether each was granted. */
  readonly access?: readonly AccessRecord[];
}

/** The end of a call as its tool left it. A thrown error is kept until the author's rules for failures were asked. */
export type Settled = Pick<CallRecord, "result" | "fatal" | "escalated"> & {
  /** True if the end came while the call was running. */
  readonly isOvertaken?: boolean;
};

/** A call that is being carried out. */
export interface OngoingCall {
  readonly at: Call;
  readonly ready: Ready;
  /** The facts about the call that the runs inside it see. */
  readonly around: OpenCall;
  /** The powers around all code that the tool calls. */
  readonly within: PowerScope;
  /** Ends the call: code of it that still runs has no powers. */
  readonly end: () => void;
  /** The run as the tool sees it. */
  readonly run: CallScope;
  /** The scope of the runs inside; undefined until one begins. */
  readonly scope: OpenScope | undefined;
  /** The time of the call, counted from when its tool begins. */
  time?: CallTime | undefined;
  /** The handles to the world; opened if its tool declares needs. */
  powers?: CallPowers;
  /** The label that the tool itself gave its result. */
  label?: Partial<Label>;
  /** True if the tool threw: fixers get its message. */
  threw?: boolean;
  /** True if another value replaced that of the tool. */
  isMended?: boolean;
}

/** The reason why calls of a batch that have not begun do not begin any more. */
export interface Halt {
  reason?: string;
  /** The error of a journal that failed inside a call: nothing that begins now could be recorded. */
  lost?: { readonly error: unknown };
  /** The runs inside those calls in which the journal failed, by the keys of the calls. */
  inside?: Map<string, Inside>;
  /** The last booking of a call in the accounts of its run. */
  booking?: Promise<Excess | undefined>;
  /** The keys of the calls that are booked. */
  booked?: Set<string>;
}

/** A call from a program, in the form of one that was read from a model: arguments that cannot be read are malformed. */
export function readableCall(call: ToolCall): ToolCall {
  if (call.malformed !== undefined) return call;
  const json = toJson(call.arguments);
  return json.ok ? call : { ...call, arguments: "", malformed: json.reason };
}

/** The call with other arguments, which can be read. */
export function withArguments(
  { malformed: _malformed, ...call }: ToolCall,
  args: ToolCall["arguments"],
): ToolCall {
  return { ...call, arguments: args };
}

/**
 * The reason why a call ends its run, whatever the model would do with the result. Plain data, since a
 * journal keeps it.
 */
export type Fatal =
  | { readonly type: "failed"; readonly code: FatalCode; readonly reason: string; readonly severity?: string }
  | { readonly type: "exhausted"; readonly excess: Excess };

/** Errors that a tool can throw to end the run. */
export type FatalCode = Extract<ErrorCode, "tool-failed" | "tool-escalated" | "tool-unrecoverable">;

/**
 * Tells whether a thrown error ends the run: a run inside the tool ran out of budget, or a fixer's tool gave up. It looks into causes, since
 * code in between wraps the errors that it catches.
 */
export function fatalOf(thrown: unknown): Fatal | undefined {
  for (const error of causesOf(thrown)) {
    if (isWritError(error, "budget-exhausted") || isWritError(error, "account-exhausted"))
      return { type: "exhausted", excess: excessOf(error) };
    if (isWritError(error, "tool-escalated"))
      return {
        type: "failed",
        code: error.code,
        reason: String(error.data.reason),
        severity: String(error.data.severity),
      };
    if (isWritError(error, "tool-unrecoverable"))
      return { type: "failed", code: error.code, reason: String(error.data.reason) };
  }
  return undefined;
}

/**
 * Tells whether a thrown error says that a bound on nested runs was met: no recovery may swallow it, but the model is told and the
 * run goes on.
 */
export function isDelegationBound(thrown: unknown): boolean {
  return causesOf(thrown).some(
    (error) => isWritError(error, "delegation-exhausted") || isWritError(error, "delegation-too-deep"),
  );
}

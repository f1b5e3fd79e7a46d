import type { ArgumentFault } from "../call/standing-call.ts";
import type { Decision } from "../policy/decision.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import type { Delegation } from "../event/event.ts";
import type { Outcome } from "../event/outcome.ts";
import type { ForkOrigin, RunStatus } from "../durable/run-store.ts";
import type { FinishReason, ResultStatus } from "../message/message.ts";
import type { Label } from "../message/label.ts";
import type { Usage } from "../message/usage.ts";
import type { JsonSchema } from "../schema/schema.ts";
import type { Json } from "../util/json.ts";

/** A run in the list, all from the store alone. Times are milliseconds since 1970. */
export interface ListedRun {
  readonly id: string;
  readonly agent: string;
  readonly status: RunStatus;
  readonly begunAt: number;
  readonly endedAt?: number;
  readonly session?: string;
  /** The run that it was forked from. */
  readonly forkOf?: string;
  /** Its input and its outcome, one line each. */
  readonly asked: string;
  readonly told: string;
  readonly turns: number;
  readonly calls: number;
  /** Calls that did not reach their tool, without those that wait for an answer. */
  readonly refused: number;
  readonly waiting: number;
  readonly tools: readonly string[];
  readonly tokens?: number;
}

/** A change of the list: runs in their current state, and the ids of erased runs. */
export interface RunChange {
  readonly runs: readonly ListedRun[];
  readonly erased: readonly string[];
}

/** One run as it is shown. `source` names what it was made from: the records alone have less than a replay with the agent's program. */
export interface InspectedRun {
  readonly run: ListedRun;
  readonly input: Json;
  readonly fork?: ForkOrigin;
  readonly source: "records" | "replay";
  /** The gaps: facts that are unknown, with the reason, in whole sentences. */
  readonly notes: readonly string[];
  /** From the first to the last recorded time. */
  readonly from: number;
  readonly to: number;
  readonly turns: readonly InspectedTurn[];
  /** The runs that are its steps; empty if it is not a composition. */
  readonly inside: readonly InspectedInside[];
  /** All messages of the run, in order; a turn has the number of messages in its prompt. */
  readonly messages: readonly SentMessage[];
  readonly budgets: readonly InspectedBudget[];
  /** The capabilities that the agent grants its tools, if its program is there. */
  readonly grants?: readonly string[];
  /** The places where the rules of its policy are written, by name, if its program is there: `policy.json:7`. */
  readonly places?: Readonly<Record<string, string>>;
  /** The keys of the spans on the critical path, in order. */
  readonly critical: readonly string[];
  /** The outcome as text: for an answer its text, otherwise the reason why there is none. */
  readonly outcome?: { readonly type: string; readonly text: string };
  readonly usage?: Usage;
  readonly costUsd?: number;
  /** Facts about the run beside its turns: hooks, budget warnings, compactions, retries. */
  readonly remarks: readonly Remark[];
}

/** Something that happened in a turn, without a time of its own. */
export interface Remark {
  readonly turn: number;
  readonly text: string;
}

/** One turn: a question to the model, and the calls of its reply. */
export interface InspectedTurn {
  /** `turn/1`; in a run inside, after the key of that run. */
  readonly key: string;
  readonly number: number;
  readonly model?: ModelSpan;
  /** The number of messages before its reply, and the number of the first ones that a compaction removed. */
  readonly promptLength: number;
  readonly dropped: number;
  readonly calls: readonly InspectedCall[];
}

/** A run inside a call, or a step of a composition, from its records. */
export interface InspectedInside {
  /** Its place: `turn/1/call/0/reader~1nqvvummxqw/1`. */
  readonly key: string;
  readonly agent: string;
  /** Left out if no end is recorded. */
  readonly outcome?: Outcome["type"];
  readonly usage?: Usage;
  readonly from: number;
  readonly to: number;
  readonly turns: readonly InspectedTurn[];
  readonly inside: readonly InspectedInside[];
  /** Its messages in order, without instructions. Its input comes first if it is known: an argument of the call around it, or the value before the step. */
  readonly messages: readonly SentMessage[];
}

/** The question to the model, as recorded. */
export interface ModelSpan {
  readonly key: string;
  /** From the first request to the end of the reply. */
  readonly from: number;
  readonly to: number;
  /** The time of the request that was answered; later than `from` if requests failed before it. */
  readonly askedAt: number;
  /** The time of the first piece of the reply, if it was streamed and this is recorded. */
  readonly firstAt?: number;
  /** The earlier requests that failed, as far as they are recorded. */
  readonly tries: readonly { readonly from: number; readonly to: number }[];
  readonly driver: string;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  readonly costUsd?: number;
  /** The text that the model wrote beside its calls. */
  readonly text: string;
  readonly reasoning?: string;
  /** The text of the reply as the model wrote it, if a driver read its calls from text. */
  readonly raw?: string;
  /** The repairs without which the reply could not be read. */
  readonly repairs: readonly string[];
  readonly retries: readonly string[];
}

/**
 * The state of a call. `done`: its tool ran and returned a result. `failed`: it ran and returned none. `refused`: it did not reach its tool. `waiting`: a
 * person is asked. `open`: it began, and has no result. `unknown`: it began, its process ended, and its fate is unknown. `pending`: nothing of it is recorded
 * yet.
 */
export type CallState = "done" | "failed" | "unknown" | "refused" | "waiting" | "open" | "pending";

/**
 * A time span of a call. `checked`: its arguments were checked against the schema, and corrected. `authorised`: hooks and the policy decided. `isExact` is
 * false if the records have its ends only together with another span.
 */
export interface CallSpan {
  readonly phase: "checked" | "authorised" | "waited" | "queued" | "executed";
  readonly from: number;
  readonly to: number;
  readonly isExact: boolean;
}

/** One call: the model's proposal, the decision about it and its reason, and the result. */
export interface InspectedCall {
  /** Its key in the journal: `turn/1/call/0`. */
  readonly key: string;
  /** The key of the run inside that made it; left out for the run's own calls. */
  readonly within?: string;
  readonly callId: string;
  readonly turn: number;
  readonly index: number;
  readonly tool: string;
  readonly state: CallState;
  readonly status?: ResultStatus;
  /** The arguments as the model sent them; raw text if it was not JSON, and then `malformed` has the fault. */
  readonly proposed: Json;
  readonly malformed?: string;
  /** The places at which they do not fit the schema of the tool. */
  readonly faults?: readonly ArgumentFault[];
  /** The arguments that were judged and ran, if they are known and differ from the proposed ones. */
  readonly judged?: Json;
  readonly coerced: readonly string[];
  /** The end of the reply that proposed it. */
  readonly proposedAt: number;
  readonly spans: readonly CallSpan[];
  /** The time of the decision, if it is recorded. A call that started before the end of its reply has none. */
  readonly decidedAt?: number;
  readonly decision?: Decision;
  /** The decision in words for people. */
  readonly explanation?: string;
  /** The question to a person, and the answer. */
  readonly question?: InspectedQuestion;
  readonly effect?: string;
  /** The capabilities that the tool declares, as far as they are known; null if it declares none. */
  readonly needs?: readonly string[] | null;
  /** The grants of the run of these kinds, as recorded. */
  readonly granted?: readonly string[];
  readonly looks: readonly CapabilityAsked[];
  readonly label?: Label;
  readonly result?: InspectedResult;
  readonly delegations: readonly Delegation[];
  readonly inside?: readonly InspectedInside[];
  /** The fields of its result that hooks changed, each with the name of the hook. */
  readonly hooked?: Readonly<Record<string, string>>;
}

/** A use of a capability that a call asked for. */
export interface CapabilityAsked {
  readonly resource: string;
  readonly granted: boolean;
  readonly reason?: string;
}

/** A result: `text` is what the model was given, `value` what the tool returned where the text tells another, `note` what people are told beside it. */
export interface InspectedResult {
  readonly text: string;
  readonly value?: Json;
  readonly note?: string;
  /** The number of bytes after which it was cut. */
  readonly cut?: number;
}

/** A question to a person, and the answer if there is one. */
export interface InspectedQuestion {
  readonly key: string;
  /** Left out if only the answer is recorded. */
  readonly request?: ApprovalRequest;
  readonly since?: number;
  readonly until?: number;
  readonly by?: readonly string[];
  readonly answer?: {
    readonly approved: boolean;
    readonly reason?: string;
    readonly by?: string;
    /** The time of the answer. Left out in runs of earlier versions. */
    readonly at?: number;
    readonly edited?: Json;
    readonly for?: string;
    readonly expired?: boolean;
  };
}

/** The comparison of a run with its replay by the given program. Without a difference, the replay agrees with the records. */
export interface ReplayedRun {
  readonly facts: number;
  readonly calls: number;
  /** False for a run that goes on: it was replayed as far as it has come. */
  readonly hasEnded: boolean;
  readonly difference?: ReplayDifference;
}

/** The first difference between a replay and the records, in words. */
export interface ReplayDifference {
  readonly at: string;
  /** The key of the call, if the difference is in one. */
  readonly call?: string;
  readonly recorded: string;
  readonly replayed: string;
}

/** A message of the transcript. */
export interface PromptMessage {
  readonly role: "system" | "user" | "model" | "tool";
  readonly text: string;
  /** The turn that it belongs to; left out for messages that the run began with. */
  readonly turn?: number;
  /** The tool whose result it is. */
  readonly name?: string;
  readonly status?: ResultStatus;
  readonly label?: Label;
}

/** A message as a page gets it: of a result the key of its call, which has the text. `conversationsIn` puts both together. */
export type SentMessage = PromptMessage | { readonly role: "tool"; readonly call: string };

/** A bound of the run, with its use. */
export interface InspectedBudget {
  readonly field: string;
  readonly used: number;
  /** Left out if only the program knows it. */
  readonly limit?: number;
}

/** A tool of an agent, for a form. */
export interface PlayableTool {
  readonly name: string;
  readonly effect?: string;
  readonly schema: JsonSchema;
}

/** A call that a person tries on an agent, with the facts that its run is to know. */
export interface PlayedCall {
  readonly tool: string;
  readonly arguments: Json;
  /** The user's text: values in it are the user's choice. */
  readonly asked: string;
  /** The text of a stranger that the model has read before. */
  readonly stranger?: string;
  /** `judge`: the call is decided, and nothing is carried out. `run`: its tool runs. `approve`: the same, and a person says yes. */
  readonly mode: "judge" | "run" | "approve";
}

/** A call of a run, with the decision of another policy. */
export interface TriedCall {
  readonly turn: number;
  readonly callId: string;
  readonly tool: string;
  readonly was: Decision;
  readonly would: Decision;
  /** True if the verdict differs. */
  readonly differs: boolean;
}

import type { ArgumentFault } from "../call/keep-refusals.ts";
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

/** A run in the list. All of it is known from the store alone. Times are milliseconds since 1970. */
export interface ListedRun {
  readonly id: string;
  readonly agent: string;
  readonly status: RunStatus;
  readonly begunAt: number;
  readonly endedAt?: number;
  readonly session?: string;
  /** The run that it was forked from. */
  readonly forkOf?: string;
  /** Its input and its outcome, in a line each. */
  readonly asked: string;
  readonly told: string;
  readonly turns: number;
  readonly calls: number;
  /** Calls that did not come to their tool; those that wait for an answer are not among them. */
  readonly refused: number;
  readonly waiting: number;
  readonly tools: readonly string[];
  readonly tokens?: number;
}

/** A change of the list: runs as they stand now, and the ids of those that were erased. */
export interface RunChange {
  readonly runs: readonly ListedRun[];
  readonly erased: readonly string[];
}

/** One run, as it is shown. `source` says what it was made of: the records alone know less than a replay with the agent's program. */
export interface InspectedRun {
  readonly run: ListedRun;
  readonly input: Json;
  readonly fork?: ForkOrigin;
  readonly source: "records" | "replay";
  /** The gaps: facts that are not known, and why, in whole sentences. */
  readonly notes: readonly string[];
  /** From the first to the last time that is recorded. */
  readonly from: number;
  readonly to: number;
  readonly turns: readonly InspectedTurn[];
  /** The runs that are its steps; none where it is no composition. */
  readonly inside: readonly InspectedInside[];
  /** All messages of the run, in order; a turn says how many of them its prompt had. */
  readonly messages: readonly PromptMessage[];
  readonly budgets: readonly InspectedBudget[];
  /** The capabilities that the agent gives its tools, where its program is given. */
  readonly grants?: readonly string[];
  /** The places where the rules of its policy are written, by their names, where its program is given: `policy.json:7`. */
  readonly places?: Readonly<Record<string, string>>;
  /** The keys of the spans on the critical path, in order. */
  readonly critical: readonly string[];
  /** The outcome in words: of an answer its text, else the reason why there is none. */
  readonly outcome?: { readonly type: string; readonly text: string };
  readonly usage?: Usage;
  readonly costUsd?: number;
  /** Things that were told of the run beside its turns: hooks, budget warnings, compactions, retries. */
  readonly remarks: readonly Remark[];
}

/** Something that happened in a turn, without a time of its own. */
export interface Remark {
  readonly turn: number;
  readonly text: string;
}

/** One turn: a question to the model, and the calls of its reply. */
export interface InspectedTurn {
  /** `turn/1`; of a run inside behind the key of that. */
  readonly key: string;
  readonly number: number;
  readonly model?: ModelSpan;
  /** The number of messages that stood before its reply, and how many of the first were taken out by a compaction. */
  readonly promptLength: number;
  readonly dropped: number;
  readonly calls: readonly InspectedCall[];
}

/** A run inside a call, or a step of a composition, as its records say it. */
export interface InspectedInside {
  /** Its place: `turn/1/call/0/reader~1nqvvummxqw/1`. */
  readonly key: string;
  readonly agent: string;
  /** Left out where no end of it is recorded. */
  readonly outcome?: Outcome["type"];
  readonly usage?: Usage;
  readonly from: number;
  readonly to: number;
  readonly turns: readonly InspectedTurn[];
  readonly inside: readonly InspectedInside[];
  /** Its messages in order, without instructions. Its input comes first where it is known: it is an argument of the call around it, or what came before the step. */
  readonly messages: readonly PromptMessage[];
}

/** The question to the model, as it is recorded. */
export interface ModelSpan {
  readonly key: string;
  /** From the first request to the end of the reply. */
  readonly from: number;
  readonly to: number;
  /** The time of the request that was answered; later than `from` where some failed before it. */
  readonly askedAt: number;
  /** The time at which the first piece of the reply came, where it was streamed and that is recorded. */
  readonly firstAt?: number;
  /** The requests that failed before, as far as that is recorded. */
  readonly tries: readonly { readonly from: number; readonly to: number }[];
  readonly driver: string;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  readonly costUsd?: number;
  /** The text that the model wrote beside its calls. */
  readonly text: string;
  readonly reasoning?: string;
  /** The text of the reply as the model wrote it, where a driver read its calls out of text. */
  readonly raw?: string;
  /** Mendings without which the reply could not be read. */
  readonly repairs: readonly string[];
  readonly retries: readonly string[];
}

/**
 * The state of a call. `done`: its tool ran and gave a result. `failed`: it ran and did not. `refused`: it never came to its tool. `waiting`: somebody is
 * asked. `open`: it began, and has no result. `unknown`: it began, its process ended, and nobody can say what became of it. `pending`: nothing of it is recorded
 * yet.
 */
export type CallState = "done" | "failed" | "unknown" | "refused" | "waiting" | "open" | "pending";

/**
 * A stretch of time of a call. `checked`: its arguments were held against the schema, and mended. `authorised`: hooks and the policy decided. `isExact` is
 * false where the records know its ends only together with another one.
 */
export interface CallSpan {
  readonly phase: "checked" | "authorised" | "waited" | "queued" | "executed";
  readonly from: number;
  readonly to: number;
  readonly isExact: boolean;
}

/** One call: what the model proposed, what was decided about it and by what, and what came of it. */
export interface InspectedCall {
  /** Its key in the journal: `turn/1/call/0`. */
  readonly key: string;
  /** The key of the run inside that made it; left out for the run's own. */
  readonly within?: string;
  readonly callId: string;
  readonly turn: number;
  readonly index: number;
  readonly tool: string;
  readonly state: CallState;
  readonly status?: ResultStatus;
  /** The arguments as the model sent them; raw text where it was not JSON, and then `malformed` says the fault. */
  readonly proposed: Json;
  readonly malformed?: string;
  /** The places at which they do not fit the schema of the tool. */
  readonly faults?: readonly ArgumentFault[];
  /** The arguments that were judged and ran, where they are known and differ from the proposed ones. */
  readonly judged?: Json;
  readonly coerced: readonly string[];
  /** The end of the reply that proposed it. */
  readonly proposedAt: number;
  readonly spans: readonly CallSpan[];
  /** The time at which it was decided about, where that is recorded. A call that started before its reply had ended has none. */
  readonly decidedAt?: number;
  readonly decision?: Decision;
  /** The decision in words, as people read it. */
  readonly explanation?: string;
  /** A person was asked, with these words, and what they said. */
  readonly question?: InspectedQuestion;
  readonly effect?: string;
  /** The capabilities that the tool declares, as far as that is known; null where it does not say. */
  readonly needs?: readonly string[] | null;
  /** The grants of the run of these kinds, as it is recorded. */
  readonly granted?: readonly string[];
  readonly looks: readonly CapabilityAsked[];
  readonly label?: Label;
  readonly result?: InspectedResult;
  readonly delegations: readonly Delegation[];
  readonly inside?: readonly InspectedInside[];
  /** Its result was changed by hooks: the fields, each with the name of the hook. */
  readonly hooked?: Readonly<Record<string, string>>;
}

/** A look of a call at something of the world. */
export interface CapabilityAsked {
  readonly resource: string;
  readonly granted: boolean;
  readonly reason?: string;
}

/** A result: `text` is what the model was told, `value` what the tool gave, `note` what people are told beside it. */
export interface InspectedResult {
  readonly text: string;
  readonly value?: Json;
  readonly note?: string;
  /** It was cut after so many bytes. */
  readonly cut?: number;
}

/** A question to a person, and the answer where there is one. */
export interface InspectedQuestion {
  readonly key: string;
  /** Left out where only the answer is recorded. */
  readonly request?: ApprovalRequest;
  readonly since?: number;
  readonly until?: number;
  readonly by?: readonly string[];
  readonly answer?: {
    readonly approved: boolean;
    readonly reason?: string;
    readonly by?: string;
    readonly edited?: Json;
    readonly for?: string;
    readonly expired?: boolean;
  };
}

/** The comparison of a run with its replay by the given program. Without a difference all is as it is recorded. */
export interface ReplayedRun {
  readonly facts: number;
  readonly calls: number;
  /** False for a run that goes on: it was replayed as far as it has come. */
  readonly hasEnded: boolean;
  readonly difference?: ReplayDifference;
}

/** The first place at which a replay was not as recorded, in words. */
export interface ReplayDifference {
  readonly at: string;
  /** The key of the call, where it is one. */
  readonly call?: string;
  readonly recorded: string;
  readonly replayed: string;
}

/** A message as the transcript has it. */
export interface PromptMessage {
  readonly role: "system" | "user" | "model" | "tool";
  readonly text: string;
  /** The turn that it came of; left out for what the run began with. */
  readonly turn?: number;
  /** The tool whose result it is. */
  readonly name?: string;
  readonly status?: ResultStatus;
  readonly label?: Label;
}

/** A bound of the run, and how much of it is used. */
export interface InspectedBudget {
  readonly field: string;
  readonly used: number;
  /** Left out where only the program knows it. */
  readonly limit?: number;
}

/** A tool of an agent, as a form needs it. */
export interface PlayableTool {
  readonly name: string;
  readonly effect?: string;
  readonly schema: JsonSchema;
}

/** A call that somebody tries on an agent, and what the run is to know that makes it. */
export interface PlayedCall {
  readonly tool: string;
  readonly arguments: Json;
  /** The user's words: values in them are the user's choice. */
  readonly asked: string;
  /** The words of a stranger that the model has read before. */
  readonly stranger?: string;
  /** `judge`: it is decided about, and nothing is carried out. `run`: its tool runs. `approve`: the same, and a person says yes. */
  readonly mode: "judge" | "run" | "approve";
}

/** A call of a run, and what another policy says of it. */
export interface TriedCall {
  readonly turn: number;
  readonly callId: string;
  readonly tool: string;
  readonly was: Decision;
  readonly would: Decision;
  /** The verdict is another one. */
  readonly differs: boolean;
}

import type { Outcome } from "../../event/outcome.ts";
import type { ResultStatus } from "../../message/message.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import type { Json, JsonObject } from "../../util/json.ts";

/**
 * One case of an evaluation: the input of an agent, and the expectations about its run. Plain JSON, so that a
 * file can hold it. Without `expect` the agent must answer, with any text.
 */
export interface EvalCase {
  /** The name in reports. Two cases of an evaluation may not have the same name. */
  readonly name: string;
  /**
   * A text, the object that the agent's input schema takes, or a conversation whose last message is the
   * user's.
   */
  readonly input: string | JsonObject | readonly CaseMessage[];
  readonly expect?: Expectations;
  /**
   * The results of tools, which then do not run: a value by the name of its tool, or a list, in which the first entry
   * that fits a call is its result. Policy, schemas and approvals apply to such a call as to any other.
   */
  readonly results?: JsonObject | readonly FixedResult[];
  /** The replies of a script, one for each request, which replaces the model. */
  readonly replies?: readonly (string | CaseReply)[];
  /**
   * The answer to each question of the policy: yes to all (`true`), to these tools only, or to none (the default).
   */
  readonly approve?: boolean | readonly string[];
  /** The number of runs. Default 1. */
  readonly runs?: number;
  /** The share of the runs that must pass, from 0 to 1. Default 1. */
  readonly atLeast?: number;
  /** The path of the file of the case, as `readCases` sets it. */
  readonly file?: string;
  /** The recording of `writ eval agent --record`, one entry for each run. It replaces the models. */
  readonly recorded?: readonly RecordedRun[];
}

/** A message of the conversation that a case begins with. */
export interface CaseMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** The result of a tool in a case: `result`, or `error` for a tool that fails. */
export interface FixedResult {
  readonly tool: string;
  /** The arguments of calls with this result, as in {@link ExpectedCall}. Default: any. */
  readonly with?: JsonObject;
  readonly result?: Json;
  readonly error?: string;
}

/** A reply of a script. `arguments` is a value, or the raw text that a model would write. */
export interface CaseReply {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly arguments?: Json }[];
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number };
}

/** A reply of a model, with a fingerprint of the request that it answers. */
export interface RecordedReply extends CaseReply {
  readonly asked: string;
  readonly finishReason?: "stop" | "length" | "tool-calls" | "content-filter" | "pause" | "error" | "other";
}

/**
 * The replies of the models of one run, the agent's, those of agents inside and the judge's, and the end of the run. Replies of a script
 * are not recorded.
 */
export interface RecordedRun {
  readonly agent?: RecordedModel;
  /** Agents inside, by the names of their tools (`ask/look_up`). */
  readonly inside?: Readonly<Record<string, RecordedModel>>;
  readonly judge?: RecordedModel;
  readonly snapshot?: RunSnapshot;
}

/** The end of a run that was recorded. */
export interface RunSnapshot {
  readonly outcome: Outcome["type"];
  readonly answer: string;
  readonly calls: readonly {
    readonly tool: string;
    readonly arguments: Json;
    readonly status: ResultStatus;
    readonly result: string;
  }[];
}

/** The replies of one model, and its features. */
export interface RecordedModel {
  readonly features: JsonObject;
  readonly replies: readonly RecordedReply[];
}

/** The expectations of a case. A run passes if all of them hold. */
export interface Expectations {
  /** Default `answered`. */
  readonly outcome?: Outcome["type"];
  readonly answer?: ExpectedAnswer;
  /** These calls, in any order, each matched by a call of its own. Further calls are allowed. A text is the name of a tool. */
  readonly calls?: readonly (string | ExpectedCall)[];
  /** These calls, one after the other. Other calls may come between. */
  readonly order?: readonly (string | ExpectedCall)[];
  /** None of these calls. */
  readonly never?: readonly (string | ExpectedCall)[];
  readonly atMost?: CostBounds;
  /** A rubric in words, by which a model judges the run. */
  readonly judge?: string | ExpectedJudgement;
  /**
   * A run that plays a recording makes the same calls, with the same results, and gives the same
   * answer. Live runs are not compared.
   */
  readonly snapshot?: boolean;
}

/** Expectations on the answer. */
export interface ExpectedAnswer {
  /** The whole answer: a text, compared without surrounding blanks, or a JSON value. */
  readonly equals?: Json;
  /** Texts that the answer contains, in upper or lower case. */
  readonly contains?: string | readonly string[];
  /** Texts that the answer does not contain, in upper or lower case. */
  readonly omits?: string | readonly string[];
  /**
   * A regular expression that matches some part of the answer. It is matched in linear time, so without look-behind and back
   * references.
   */
  readonly matches?: string;
  /**
   * JSON that the answer has: more fields are allowed, and `{ matches }` in place of a text is a regular
   * expression.
   */
  readonly json?: Json;
  /** A JSON Schema that the answer, read as JSON, matches. */
  readonly schema?: JsonSchema;
}

/**
 * A call of a tool. Without `status` it was carried out, successfully or not: a call that was refused, or whose
 * arguments were wrong, does not count.
 */
export interface ExpectedCall {
  readonly tool: string;
  /**
   * Arguments that the call has: more are allowed, and `{ matches }` in place of a text is a regular
   * expression.
   */
  readonly with?: JsonObject;
  /** The end of the call, like `denied`; `any` for every call that the model proposed. */
  readonly status?: ResultStatus | "any";
  /** The exact number of such calls. Only in `calls`. */
  readonly times?: number;
}

/**
 * Bounds on the use of a run, named as in a budget. The use of agents inside counts too. A bound that is passed does not
 * end the run: the run fails the case.
 */
export interface CostBounds {
  readonly turns?: number;
  /** Calls of tools, including refused ones. */
  readonly toolCalls?: number;
  /** Tokens in and out. */
  readonly tokens?: number;
  /** Dollars. A run whose model has no price fails. */
  readonly costUsd?: number;
  readonly durationMs?: number;
}

/** A rubric in words, with the model that judges by it. */
export interface ExpectedJudgement {
  readonly rubric: string;
  /** The model that judges, like `ollama/qwen2.5:7b`. Default: the judge of the whole evaluation. */
  readonly model?: string;
  /** True if the verdict is reported but fails no run. Default: it counts. */
  readonly advisory?: boolean;
}

import type { AnswerIn, DriverChoice } from "../driver/choose.ts";
import type { WorkedExample } from "../driver/driver.ts";
import type { AgentEvent, Listeners } from "../event/event.ts";
import type { Hook } from "../hook/hook.ts";
import type { ConversationMessage } from "../message/conversation.ts";
import type { InputPart } from "../message/foreign-parts.ts";
import type { FilePart } from "../message/message.ts";
import type { Model, ModelSettings, ToolChoice } from "../model/model.ts";
import type { RetryPace } from "../model/retry.ts";
import type { ModelTimeout } from "../model/timeout.ts";
import type { ModelFunction } from "../model/function-model.ts";
import type { ModelName } from "../model/provider-names.ts";
import type { Budget } from "../policy/account/budget.ts";
import type { Tools } from "../policy/allow-list.ts";
import type { Policy } from "../policy/decision.ts";
import type { InferInput, InferOutput, SchemaSource } from "../schema/to-schema.ts";
import type { CompactionOptions } from "../session/compaction.ts";
import type { MemoryBank } from "../session/memory-bank.ts";
import type { Approvals } from "../run/approval.ts";
import type { EndCause } from "../run/end.ts";
import type { Executor } from "../run/executor.ts";
import type { Capability } from "../tool/capability.ts";
import type { RecoveryRules } from "../tool/recovery-rules.ts";
import type { JsonObject } from "../util/json.ts";
import type { AccountChoice } from "./run-options.ts";
import type { Skill, ToolList } from "./skill.ts";

/** The choice between several skills if a function does not choose. */
export type Routing =
  | "first"
  | {
      /** The least confidence of the model, from 0 to 1. Default 0. */
      readonly threshold?: number;
      /** The skill that is used if the model is less sure, or names an unknown one. Without it the run fails. */
      readonly otherwise?: string;
    };

/** An AI SDK model object, as far as writ reads it: of any of its provider specifications V2, V3 and V4. */
export interface AiSdkModelLike {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
}

/**
 * A model as authors pass it: a model, a function, an AI SDK model object, or a name such as `openai/gpt-5` or
 * `ollama/qwen2.5:7b`. For a name that comes from outside, use `modelNamed` of `writ/models`.
 */
export type ModelSource = Model | ModelFunction | AiSdkModelLike | ModelName;

/** The input of an agent: a question, or a value that its input schema takes. */
export type InputOf<In> = In extends SchemaSource ? InferInput<In> : Question;

/**
 * The question to an agent without an input schema: a text; a message, or its parts (texts, `image()`, `file()`); the messages of a
 * conversation, the last of which is the question; or an object, which the model gets as JSON.
 *
 * @example
 * ```ts
 * import type { Question } from "writ/doors";
 * import { image } from "writ/tools";
 *
 * export const question: Question = ["What does it show?", image("https://example.com/a.png")];
 * ```
 */
export type Question =
  | string
  | JsonObject
  | FilePart
  | ConversationMessage
  | readonly InputPart[]
  | readonly ConversationMessage[];

/**
 * The output of an agent: that of its output schema, otherwise that of its skills, otherwise an answer in the form of
 * its driver: text or JSON.
 */
export type OutputOf<
  Out,
  Skills extends readonly Skill[] = readonly [],
  Driver extends DriverChoice = "auto",
> = Out extends SchemaSource
  ? InferOutput<Out>
  : [Skills[number]] extends [never]
    ? AnswerIn<Driver>
    : OwnOutput<Skills[number], AnswerIn<Driver>>;

type OwnOutput<Each, Answer> =
  Each extends Skill<infer Made> ? ([Made] extends [never] ? Answer : Made) : Answer;

/** The values that a skill may make for an agent with this output: its schema's input or output. */
export type MadeFor<Out> = Out extends SchemaSource ? InferInput<Out> | InferOutput<Out> : never;

/** The definition of an agent. */
export interface AgentDefinition<
  In extends SchemaSource | undefined,
  Out extends SchemaSource | undefined,
  Skills extends readonly Skill[] = readonly Skill[],
  Driver extends DriverChoice = DriverChoice,
> {
  /** Its name in events, errors and stores, and as a tool of others. */
  readonly name: string;
  /** A sentence for people, and for the model that may call it as a tool. */
  readonly description?: string;
  /** The author's instructions, which the model reads before everything else. */
  readonly instructions?: string;
  /** `"openai/gpt-5"`, `"ollama/qwen2.5:7b"`, an object of the AI SDK, or a function. Left out if all skills are plain. */
  readonly model?: ModelSource;
  /**
   * The form of calls between runtime and model. Default `auto`: native calls for models that have them, the JSON
   * protocol for others.
   */
  readonly driver?: Driver;
  /** The agent's tools. Without `skills` they make its only skill. With `skills` they are the tools that skills list by name, which is deprecated. */
  readonly tools?: ToolList;
  /** Tools of the agent that do not belong to one skill: every agentic skill may call them, listed after its own. */
  readonly autoTools?: Tools;
  /** The ways of working, one of which a run uses, each with tools of its own. */
  readonly skills?: Skills;
  /** Chooses one of several skills for an input; undefined leaves the choice to `routing`. */
  readonly selectSkill?: (input: unknown) => string | undefined;
  /**
   * The choice between several skills that take the input, if a function does not choose. Default: one turn of
   * the model chooses; without a model, the first skill.
   */
  readonly routing?: Routing;
  /**
   * The memory that the agent reads and writes across runs, with the tools `memory_read`, `memory_write`
   * and `memory_search`. Its slot has the name of the agent.
   */
  readonly memory?: MemoryBank;
  /** Takes the oldest turns out of what is sent to the model when there is too much. Default: nothing is taken out. */
  readonly compaction?: CompactionOptions;
  /**
   * Receives each event of every run of the agent, and of the runs inside them, before the run goes on. It changes nothing: its events are copies, and
   * an error that it throws is a process warning (`WRIT_OBSERVER_FAILED`).
   */
  readonly onEvent?: (event: AgentEvent) => unknown;
  /** Receives, like `onEvent`, the events of one type each. */
  readonly on?: Listeners;
  /** Code that may change what happens in a run. */
  readonly hooks?: readonly Hook[];
  /** The recovery of calls that fail, for tools without rules of their own. */
  readonly recover?: RecoveryRules;
  /** The bounds of each run: `{ turns: 20, costUsd: 0.5 }`. Default: 8 turns. */
  readonly budget?: Budget;
  /** The account that pays for all runs of this agent, or a function that names one for the options of a run. */
  readonly account?: AccountChoice;
  /** Decides about each call that the allow-list permits. Default: `sensible`. */
  readonly policy?: Policy;
  /**
   * The time that a question of the policy stands, and the people who may answer, in a run that waits in its journal: `{ within: "2d", by: ["kim"] }`, or a
   * function of the question and of its run. Agents inside have the terms of the agent around them, unless they have their own. Default: it stands until anybody answers.
   */
  readonly approvals?: Approvals;
  /** The capabilities, of those that its tools declare, that they may use. Default: none. */
  readonly grants?: readonly Capability[];
  /**
   * `isolated`: the agent takes only tools that {@link Agent.enforcement} calls `isolated`, and refuses all others when it is made: functions of this
   * process, with or without needs, including knowledge and plain skills; tools of servers; isolated tools that run unenforced on this machine;
   * compositions, and agents that do not enforce it themselves. Tools of the runtime (`memory_read`, `escalate`, `find_tools`, `load_skill`, ...)
   * are accepted. Default: every tool is accepted.
   */
  readonly enforce?: "isolated";
  /**
   * True: untrusted results are marked as such for the model. A mark costs a few tokens and enforces
   * nothing by itself. Default true.
   */
  readonly markResults?: boolean;
  /** Settings of the model: `{ temperature: 0, maxOutputTokens: 500 }`. */
  readonly settings?: ModelSettings;
  /**
   * The number and pace of requests to a model whose provider cannot be reached, is overloaded, or breaks off
   * its reply. Default: 3 requests in all. `false`: one request. A model that retries by itself (`withRetry`)
   * is left alone.
   */
  readonly retry?: RetryPace | false;
  /** Bounds on the silence of the model, before its reply and in it. After that it is asked again, as `retry` says. */
  readonly timeout?: ModelTimeout;
  /** The calls that the model must make: `"required"`, `{ tool: "add" }`. */
  readonly toolChoice?: ToolChoice;
  /** Examples of tasks done well. Shown to weak models (driver `lines`), which learn more from them than from instructions. */
  readonly examples?: readonly WorkedExample[];
  /** `answer`: in the last turn of the budget the model may not call tools, so that it answers. Default `tools`. */
  readonly lastTurn?: "tools" | "answer";
  /**
   * The number of calls of one turn that run at a time. Default: calls that change something (the effects
   * `write` and `irreversible`) run in their order, after the calls before them and before the calls after them;
   * all others run side by side.
   */
  readonly concurrency?: number;
  /**
   * Carries out the calls of a reply in place of the runtime, which still judges them before, and checks their results like
   * those of a tool. No call starts while the model still writes. Default: the runtime runs the calls.
   */
  readonly executor?: Executor;
  /**
   * The causes that end the run, as {@link EndCause} describes: `unknown-tool`, `tool-failure` and finish reasons
   * such as `length` end it; `blocked-call` skips the rest of a turn's calls, and the run goes on. Default: none: the
   * model is told, and goes on.
   */
  readonly endOn?: readonly EndCause[];
  /** The author's own notes, which writ does not read. */
  readonly metadata?: JsonObject;
  /** The schema of the input. Default: text. The model gets the input as JSON. */
  readonly input?: In;
  /**
   * The schema of the output, whichever skill made it. Default: that of its skills, otherwise text. An answer that
   * does not match is sent back to the model.
   */
  readonly output?: Out;
}

/** Any agent definition, whatever its types. */
export type AnyDefinition = AgentDefinition<SchemaSource | undefined, SchemaSource | undefined>;

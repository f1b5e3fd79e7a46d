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

/** The choice between several skills when a function does not choose. */
export type Routing =
  | "first"
  | {
      /** The least confidence of the model, from 0 to 1. Default 0. */
      readonly threshold?: number;
      /** The skill that is used when the model is less sure, or names none that there is. Without it the run fails then. */
      readonly otherwise?: string;
    };

/** An AI SDK model object, as far as it is looked at here: any of its provider specifications V2, V3 and V4. */
export interface AiSdkModelLike {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
}

/**
 * A model as authors give it: a model, a function, an AI SDK model object, or a name like `openai/gpt-5` or
 * `ollama/qwen2.5:7b`. For a name from outside, `writ/models` has `modelNamed`.
 */
export type ModelSource = Model | ModelFunction | AiSdkModelLike | ModelName;

/** The input of an agent: a question, or a value that its input schema takes. */
export type InputOf<In> = In extends SchemaSource ? InferInput<In> : Question;

/**
 * The question to an agent without an input schema: a text; a message, or its parts (texts, `image()`, `file()`); the messages of a
 * conversation, of which the last is the question; an object, which is told as JSON.
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
 * The output of an agent: that of its output schema, else that of its skills, else an answer in the form of
 * its driver: text, or JSON.
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

/** The values that a skill may make for an agent with this output: those that its schema takes, or gives. */
export type MadeFor<Out> = Out extends SchemaSource ? InferInput<Out> | InferOutput<Out> : never;

/** The definition of an agent. */
export interface AgentDefinition<
  In extends SchemaSource | undefined,
  Out extends SchemaSource | undefined,
  Skills extends readonly Skill[] = readonly Skill[],
  Driver extends DriverChoice = DriverChoice,
> {
  readonly name: string;
  readonly description?: string;
  /** The first words to the model, before everything else. */
  readonly instructions?: string;
  readonly model?: ModelSource;
  /**
   * The form of calls between runtime and model. Default `auto`: native for models that can, the JSON
   * protocol for others.
   */
  readonly driver?: Driver;
  /** The agent's tools. Without `skills` they are its one skill; with them, the tools that skills list by name, which is deprecated. */
  readonly tools?: ToolList;
  /** Tools that belong to the agent, and not to one way of working: every agentic skill may call them, after its own. */
  readonly autoTools?: Tools;
  readonly skills?: Skills;
  /** Chooses one of several skills for an input; undefined leaves the choice to the others. */
  readonly selectSkill?: (input: unknown) => string | undefined;
  /**
   * The choice between several skills that take the input, when a function does not choose. Default: by one
   * turn of the model; without a model, the first.
   */
  readonly routing?: Routing;
  /**
   * The memory that the agent reads and writes across runs, through the tools `memory_read`, `memory_write`
   * and `memory_search`. Its slot is the name of the agent.
   */
  readonly memory?: MemoryBank;
  /** Takes the oldest turns out of what the model is sent when there is too much. Default: nothing is taken out. */
  readonly compaction?: CompactionOptions;
  /**
   * Told each event of every run of the agent, and of the runs inside them, before the run goes on. It changes nothing: its events are copies, and what
   * it throws is a process warning (`WRIT_OBSERVER_FAILED`).
   */
  readonly onEvent?: (event: AgentEvent) => unknown;
  /** Told as `onEvent` is, each of the events of one type. */
  readonly on?: Listeners;
  /** Code that may change what happens in a run. */
  readonly hooks?: readonly Hook[];
  /** The recovery of calls that fail, for tools without rules of their own. */
  readonly recover?: RecoveryRules;
  readonly budget?: Budget;
  /** The payer of all runs of this agent: an account, or the function that names one for the options of a run. */
  readonly account?: AccountChoice;
  /** Decides about each call that the allow-list lets pass. Default: it may run. */
  readonly policy?: Policy;
  /**
   * The time for which a question of the policy stands, and who may answer it, in a run that waits in its journal: `{ within: "2d", by: ["kim"] }`, or a
   * function of the question. Agents inside have those of the agent around them, unless they have their own. Default: it stands until anybody answers.
   */
  readonly approvals?: Approvals;
  /** The capabilities that its tools may use, of those that they declare. Default: nothing. */
  readonly grants?: readonly Capability[];
  /**
   * `isolated`: the agent takes only tools that {@link Agent.enforcement} calls `isolated`, and refuses all others when it is made: functions of this
   * process, with needs or without, knowledge and plain skills among them; tools of servers; isolated tools that run unenforced on this machine;
   * compositions, and agents that do not enforce it themselves. Tools of the runtime (`memory_read`, `escalate`, `find_tools`, `load_skill`, ...)
   * are let in. Default: every tool is taken.
   */
  readonly enforce?: "isolated";
  /**
   * True: results that are not trusted are marked as such for the model. A mark costs a few tokens and holds
   * nothing by itself. Default true.
   */
  readonly markResults?: boolean;
  readonly settings?: ModelSettings;
  /**
   * The number and pace of requests to a model whose provider cannot be reached, is overloaded, or breaks off
   * its reply. Default: 3 requests in all. `false`: one request. A model that retries by itself (`withRetry`)
   * is left alone.
   */
  readonly retry?: RetryPace | false;
  /** Bounds of the time for which the model may be silent, before its reply and in it. Past one it is asked again, as `retry` says. */
  readonly timeout?: ModelTimeout;
  readonly toolChoice?: ToolChoice;
  /** Tasks as they should go. Shown to weak models (driver `lines`), which learn more from them than from instructions. */
  readonly examples?: readonly WorkedExample[];
  /** `answer`: in the last turn of the budget the model may call no tools, so that it answers. Default `tools`. */
  readonly lastTurn?: "tools" | "answer";
  /**
   * The number of calls of one turn that run at a time. Default: calls that change something (the effects
   * `write` and `irreversible`) run in their order, after the calls before them and before those after them;
   * all others run beside each other.
   */
  readonly concurrency?: number;
  /**
   * Carries out the calls of a reply in the place of the runtime, which still judges them before and holds their results to all that it
   * holds a tool's to. No call starts while the model still writes. Default: the runtime runs them.
   */
  readonly executor?: Executor;
  /**
   * The causes that end the run, each as {@link EndCause} says: `unknown-tool`, `tool-failure` and finish reasons
   * like `length` end it; `blocked-call` skips the rest of a turn's calls, and the run goes on. Default: none, the
   * model is told and goes on.
   */
  readonly endOn?: readonly EndCause[];
  /** The author's own notes. Nothing here reads them. */
  readonly metadata?: JsonObject;
  /** The schema of the input. Default: text. The model is given the input as JSON. */
  readonly input?: In;
  /**
   * The schema of the output, whichever skill made it. Default: that of its skills, else text. An answer that
   * does not match is sent back to the model.
   */
  readonly output?: Out;
}

/** Any agent definition, whatever its types. */
export type AnyDefinition = AgentDefinition<SchemaSource | undefined, SchemaSource | undefined>;

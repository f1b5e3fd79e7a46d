import { WritError } from "../error/writ-error.ts";
import type { Tools } from "../policy/allow-list.ts";
import type { InferInput, InferOutput, SchemaSource } from "../schema/to-schema.ts";
import { isKnowledge, type Knowledge } from "../tool/knowledge.ts";
import { checkName, type Tool } from "../tool/tool.ts";
import { checkShape, closed } from "../error/check-shape.ts";
import {
  anything,
  boolean,
  callable,
  list,
  named,
  object,
  optional,
  record,
  type Shape,
  string,
} from "../util/shape.ts";

/**
 * Tools as a skill lists them: values from `tool()`, and collections of them. The name of a tool of the agent is deprecated: it works, and a process
 * warning (`WRIT_TOOL_BY_NAME`) says once what to list instead.
 */
export type ToolList = readonly (Tool | Tools | string)[];

/**
 * The type that a skill makes, for TypeScript only: the field never exists. It is a method so that a skill fits an agent
 * if its values can be the agent's.
 */
interface Making<Made> {
  readonly types?: { makes(value: Made): void };
}

/** A skill that the model carries out with the listed tools, and no others. */
export interface AgenticSkill<Made = never> extends Making<Made> {
  readonly type: "agentic";
  readonly name: string;
  readonly description: string;
  readonly instructions?: string;
  readonly tools: ToolList;
  /** The knowledge that the model may read. The model calls each by name like a tool, and only then is it loaded. */
  readonly knowledge?: readonly Knowledge[];
  readonly output?: SchemaSource;
  readonly parse?: (text: string) => unknown;
  readonly input?: SchemaSource;
  readonly memory?: boolean;
  readonly modelDescription?: string;
}

/** A skill that is a function and asks no model. */
export interface PlainSkill<Made = never> extends Making<Made> {
  readonly type: "plain";
  readonly name: string;
  readonly description: string;
  /** The knowledge of the skill. `skillContext()` loads all of it, because there is no model to call it. */
  readonly knowledge?: readonly Knowledge[];
  readonly input?: SchemaSource;
  readonly output?: SchemaSource;
  readonly modelDescription?: string;
  readonly trusted?: boolean;
  readonly execute: (input: unknown) => unknown;
}

/** A named way of working. `Made` is the type of its output; `never` for a skill with the output of its agent. */
export type Skill<Made = never> = AgenticSkill<Made> | PlainSkill<Made>;

/**
 * The type that a skill makes: that of its output schema, otherwise that of its `parse` or `execute`. `never`
 * stands for that of its agent.
 */
export type MadeBy<Output extends SchemaSource | undefined, Result> = Output extends SchemaSource
  ? InferOutput<Output>
  : Awaited<Result>;

/** The definition of a skill: with `tools` for the model, or with `execute` as a plain function. */
export type SkillDefinition<
  Output extends SchemaSource | undefined = SchemaSource | undefined,
  Result = unknown,
  Input extends SchemaSource | undefined = SchemaSource | undefined,
> =
  | (SkillAbout<Input> & {
      /** Instructions for the model, added to the agent's, while it works this way. */
      readonly instructions?: string;
      /** The tools that the model may call. An empty list: it works without tools. */
      readonly tools: ToolList;
      /**
       * The schema of the answer. Its values must fit the agent's `output`. Default: the agent's `output`,
       * otherwise text.
       */
      readonly output?: Output;
      /** Makes the output from the answer's text; the model is told an error that it throws, and answers again. `output`, if given, checks the result. */
      readonly parse?: (text: string) => Result;
      /** True: the agent's memory tools may be called. Default: true for an agent with a memory. */
      readonly memory?: boolean;
    })
  | (SkillAbout<Input> & {
      /** Gets the input as its schema accepts it; without a schema of the skill, anything. */
      execute(input: [Input] extends [SchemaSource] ? InferInput<Input> : unknown): Result;
      /** The schema of its output, which must fit the agent's `output`; a result that does not match ends the run. Default: the agent's `output`. */
      readonly output?: Output;
      /** True: its output is as trusted as its input. Default false: a function can fetch what strangers wrote, and its answer counts as theirs. */
      readonly trusted?: boolean;
    });

/** The fields of every definition of a skill. */
interface SkillAbout<Input> {
  readonly name: string;
  /** Tells the model, which chooses among skills, when to use it. */
  readonly description: string;
  /**
   * The knowledge to read. A model calls it by name and gets its current content; `skillContext()` loads all of
   * it for a plain function.
   */
  readonly knowledge?: readonly Knowledge[];
  /**
   * The schema of its input. A skill that does not take an input is not chosen for it.
   * Default: anything.
   */
  readonly input?: Input;
  /** A description in place of the Markdown that `describeSkill()` makes. */
  readonly modelDescription?: string;
}

/**
 * Defines a skill. Its list of tools is enforced when a call is made, whatever the model was told.
 *
 * @throws WritError `name-invalid`, `name-taken`, `definition-invalid`
 * @example
 * ```ts
 * import { skill } from "writ";
 *
 * export const shout = skill({ name: "shout", description: "Upper case", trusted: true, execute: (input) => String(input).toUpperCase() });
 * ```
 */
export function skill<
  Output extends SchemaSource | undefined = undefined,
  Result = never,
  Input extends SchemaSource | undefined = undefined,
>(definition: SkillDefinition<Output, Result, Input>): Skill<MadeBy<Output, Result>> {
  checkShape("skill()", definition, definitionLike);
  checkName(definition.name, "A skill");
  checkShape(`Skill "${definition.name}"`, definition, known);
  const { name, description, knowledge, input, modelDescription } = definition;
  checkKnowledge(name, knowledge);
  const about = { name, description, knowledge, input, modelDescription };
  if ("execute" in definition) {
    if ("tools" in definition)
      throw mixed(name, "has both `tools` and `execute`; it is agentic or plain, not both.");
    const other = agenticAlone.find((field) => field in definition);
    if (other !== undefined)
      throw mixed(
        name,
        `has \`${other}\`, which is for \`tools\`: no model is asked where there is \`execute\`.`,
      );
    const { output, trusted } = definition;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the run has held the input against this schema
    const execute = (given: unknown): unknown => definition.execute(given as never);
    return { type: "plain", ...about, output, trusted, execute };
  }
  if ("trusted" in definition)
    throw mixed(
      name,
      "has `trusted`, which is for `execute`: what a model answers is as good as what it read.",
    );
  if (!Array.isArray(definition.tools))
    throw mixed(name, "needs `tools` (an empty list for none) or `execute`.");
  const { instructions, tools, output, parse, memory } = definition;
  return { type: "agentic", ...about, instructions, tools, output, parse, memory };
}

const agenticAlone = ["instructions", "parse", "memory"];

const definitionLike = named("an object like { name, description, tools }", record);

/** The fields of both kinds; their contents are checked one by one. */
const fields: { readonly [Field in SkillField]: Shape<unknown> } = {
  name: anything,
  description: string,
  knowledge: anything,
  input: anything,
  modelDescription: optional(string),
  instructions: optional(string),
  tools: anything,
  output: anything,
  parse: optional(callable),
  memory: optional(boolean),
  execute: optional(callable),
  trusted: optional(boolean),
};
type SkillField = SkillDefinition extends infer Kind ? (Kind extends unknown ? keyof Kind : never) : never;
const known = closed(fields);

/** The shape of knowledge. Other tools have arguments and effects: they belong in `tools`, which makes the allow-list. */
const knowledgeShape = object({
  knowledge: list(object({ name: string }), "a list of what knowledge() gives"),
});

function checkKnowledge(name: string, knowledge: readonly Tool[] = []): void {
  checkShape(`Skill "${name}"`, { knowledge }, knowledgeShape);
  const names = knowledge.map((entry) => entry.name);
  const other = knowledge.find((entry) => !isKnowledge(entry));
  if (other !== undefined)
    throw mixed(
      name,
      `\`knowledge\` has "${other.name}", which is not made with knowledge(); list it in \`tools\`.`,
    );
  const twice = names.find((each, index) => names.indexOf(each) !== index);
  if (twice !== undefined)
    throw new WritError("name-taken", { kind: "tool", name: twice, where: `skill "${name}"` });
}

function mixed(name: string, reason: string): WritError {
  return new WritError("definition-invalid", { where: `Skill "${name}"`, reason });
}

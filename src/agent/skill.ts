import { WritError } from "../error/writ-error.ts";
import type { Tools } from "../policy/allow-list.ts";
import type { SchemaSource } from "../schema/to-schema.ts";
import { checkName, type Tool } from "../tool/tool.ts";

/** Tools as a skill lists them: handles, collections of them, or names of tools that the agent has. */
export type ToolList = readonly (Tool | Tools | string)[];

/** A skill that the model carries out with the tools it lists, and no others. */
export interface AgenticSkill {
  readonly type: "agentic";
  readonly name: string;
  readonly description: string;
  readonly instructions?: string;
  readonly tools: ToolList;
  readonly output?: SchemaSource;
}

/** A skill that is a function: no model is asked. */
export interface PlainSkill {
  readonly type: "plain";
  readonly name: string;
  readonly description: string;
  readonly execute: (input: unknown) => unknown;
}

/** A named way of working. */
export type Skill = AgenticSkill | PlainSkill;

/** How a skill is defined: with `tools` for the model, or with `execute` as a plain function. */
export type SkillDefinition =
  | {
      readonly name: string;
      readonly description: string;
      /** What the model is told beside the agent's instructions while it works this way. */
      readonly instructions?: string;
      /** All that the model may call. An empty list: it works without tools. */
      readonly tools: ToolList;
      /** What the answer must be. Default: text. */
      readonly output?: SchemaSource;
    }
  | { readonly name: string; readonly description: string; execute(input: unknown): unknown };

/**
 * Defines a skill. What it lists is enforced when a call is made, whatever the model was told.
 *
 * @throws WritError `name-invalid`, `definition-invalid`
 * @example
 * ```ts
 * import { skill } from "writ";
 *
 * export const shout = skill({ name: "shout", description: "Upper case", execute: (input) => String(input).toUpperCase() });
 * ```
 */
export function skill(definition: SkillDefinition): Skill {
  checkName(definition.name, "A skill");
  const { name, description } = definition;
  if ("execute" in definition) {
    if ("tools" in definition)
      throw mixed(name, "has both `tools` and `execute`; it is agentic or plain, not both.");
    return { type: "plain", name, description, execute: (input) => definition.execute(input) };
  }
  if (!Array.isArray(definition.tools))
    throw mixed(name, "needs `tools` (an empty list for none) or `execute`.");
  const { instructions, tools, output } = definition;
  return { type: "agentic", name, description, instructions, tools, output };
}

function mixed(name: string, reason: string): WritError {
  return new WritError("definition-invalid", { where: `Skill "${name}"`, reason });
}

import { type Drivers, driversFor } from "../driver/choose.ts";
import { WritError } from "../error/writ-error.ts";
import type { Gate } from "../executor/prepare.ts";
import type { SystemMessage } from "../message/message.ts";
import type { Model } from "../model/model.ts";
import { type AllowList, allowList, flattenTools, type Tools } from "../policy/allow-list.ts";
import { type Limits, limitsOf } from "../policy/budget.ts";
import { allowListed } from "../policy/decision.ts";
import type { Schema } from "../schema/schema.ts";
import { type SchemaSource, toSchema } from "../schema/to-schema.ts";
import { checkName, type Tool } from "../tool/tool.ts";
import type { AgentDefinition, ModelSource } from "./definition.ts";
import type { AgenticSkill, PlainSkill, Skill, ToolList } from "./skill.ts";

/** An agentic skill with everything that does not change from run to run. */
export interface SkillPlan {
  readonly type: "agentic";
  readonly name: string;
  readonly gate: Gate;
  readonly system: SystemMessage;
  readonly output?: Schema;
  readonly model: Model;
  readonly drivers: () => Drivers;
}

/** An agent that was checked: every reference resolved, every schema compiled. */
export interface AgentPlan {
  readonly skills: ReadonlyMap<string, SkillPlan | PlainSkill>;
  readonly limits: Limits;
  readonly input?: Schema;
  readonly modelId?: string;
}

/** Any agent definition, whatever its types. */
export type AnyDefinition = AgentDefinition<SchemaSource | undefined, SchemaSource | undefined>;

/** Makes a model of what the author gave. @throws WritError `model-invalid`, `model-name-invalid` */
export type ResolveModel = (source: ModelSource, agent: string) => Model;

/** Names that the runtime provides itself. */
const reserved = new Set(["memory_read", "memory_write", "memory_search", "escalate", "throwException"]);

/**
 * Checks a definition and makes its plan.
 *
 * @throws WritError with the code and the name of the first thing that is wrong.
 */
export function planAgent(definition: AnyDefinition, resolveModel: ResolveModel): AgentPlan {
  const { name } = definition;
  checkName(name, "An agent");
  checkOptions(definition);
  const limits = limitsOf(definition.budget ?? {}, name);
  const model = definition.model === undefined ? undefined : resolveModel(definition.model, name);
  const pool = poolOf(definition);
  const skills = new Map<string, SkillPlan | PlainSkill>();
  for (const skill of skillsOf(definition)) {
    if (skills.has(skill.name))
      throw new WritError("name-taken", { kind: "skill", name: skill.name, where: `agent "${name}"` });
    skills.set(skill.name, skill.type === "plain" ? skill : planSkill(skill, { definition, pool, model }));
  }
  if (limits.costUsd !== Infinity && definition.budget?.price === undefined && model?.price === undefined) {
    throw new WritError("budget-without-price", { name, model: model?.id ?? "none" });
  }
  const input =
    definition.input === undefined
      ? undefined
      : toSchema(definition.input, { name, role: "input", coerce: "none" });
  return { skills, limits, input, modelId: model?.id };
}

function checkOptions({ name, concurrency, driver }: AnyDefinition): void {
  const where = `Agent "${name}"`;
  if (concurrency !== undefined && !(concurrency >= 1)) {
    throw new WritError("definition-invalid", { where, reason: "`concurrency` must be at least 1." });
  }
  if (typeof driver === "string" && !["auto", "native", "json", "lines"].includes(driver)) {
    throw new WritError("definition-invalid", {
      where,
      reason: `there is no driver "${driver}": auto, native, json or lines.`,
    });
  }
}

/** The tools that skills may list by name. */
function poolOf({ name, tools = [] }: AnyDefinition): ReadonlyMap<string, Tool> {
  const where = `agent "${name}"`;
  const pool = new Map<string, Tool>();
  for (const tool of flattenTools(withoutNames(tools, { where, pool }))) {
    if (pool.has(tool.name)) throw new WritError("name-taken", { kind: "tool", name: tool.name, where });
    pool.set(tool.name, tool);
  }
  return pool;
}

function skillsOf({ name, skills, tools = [] }: AnyDefinition): readonly Skill[] {
  if (skills !== undefined && skills.length > 0) return skills;
  return [{ type: "agentic", name, description: "", tools }];
}

interface Around {
  readonly definition: AnyDefinition;
  readonly pool: ReadonlyMap<string, Tool>;
  readonly model: Model | undefined;
}

function planSkill(skill: AgenticSkill, { definition, pool, model }: Around): SkillPlan {
  const { name } = definition;
  const allowed = allowList(
    skill.name,
    withoutNames(skill.tools, { where: `Skill "${skill.name}" of agent "${name}"`, pool }),
  );
  checkTools(allowed, `skill "${skill.name}" of agent "${name}"`);
  if (model === undefined) throw new WritError("model-missing", { name, skill: skill.name });
  // The model writes the answer, so it is described and parsed as what goes in, like arguments.
  const source = skill.output ?? definition.output;
  const output = source === undefined ? undefined : toSchema(source, { name, role: "input" });
  return {
    type: "agentic",
    name: skill.name,
    gate: { agent: name, allowed, policy: definition.policy ?? allowListed },
    system: { role: "system", text: systemText(definition, skill, output) },
    output,
    model,
    drivers: () => driversFor(definition.driver ?? "auto", model),
  };
}

function checkTools({ tools }: AllowList, where: string): void {
  const notations = new Set<string>();
  for (const { name, notation } of tools.values()) {
    if (reserved.has(name)) throw new WritError("name-reserved", { name, where });
    const shape = notation?.replaceAll(/\{\w+\}/g, "{}");
    if (shape !== undefined && notations.has(shape)) {
      throw new WritError("definition-invalid", {
        where: `Tool "${name}" in ${where}`,
        reason: `another tool is also written "${shape}".`,
      });
    }
    if (shape !== undefined) notations.add(shape);
  }
}

/** Puts tools in the place of their names. */
function withoutNames(tools: ToolList, from: { where: string; pool: ReadonlyMap<string, Tool> }): Tools {
  return tools.map((entry) => {
    const tool = typeof entry === "string" ? from.pool.get(entry) : entry;
    if (tool !== undefined && typeof tool === "object") return tool;
    throw new WritError("tool-unknown", {
      where: from.where,
      name: typeof entry === "string" ? entry : typeof entry,
      known: [...from.pool.keys()].join(", ") || "none",
    });
  });
}

function systemText(
  { instructions = "" }: AnyDefinition,
  skill: AgenticSkill,
  output: Schema | undefined,
): string {
  const format =
    output === undefined
      ? ""
      : `Answer with JSON alone that matches this JSON Schema: ${JSON.stringify(output.jsonSchema)}`;
  return [instructions, skill.description, skill.instructions ?? "", format]
    .filter((text) => text !== "")
    .join("\n\n");
}

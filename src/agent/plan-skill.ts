import type { AnyDefinition } from "./definition.ts";
import { answersJson, type DriverChoice } from "../driver/choose.ts";
import { WritError } from "../error/writ-error.ts";
import type { Host, Warning } from "../journal/host.ts";
import type { PlannedGate } from "../run/gate.ts";
import { type Label, trustedLabel, untrustedFrom } from "../message/label.ts";
import type { SystemMessage } from "../message/message.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import type { Model } from "../model/model.ts";
import { type AllowList, allowList, flattenTools, type Tools, withOffered } from "../policy/allow-list.ts";
import { annotated, wordsOf } from "../policy/rules/annotate.ts";
import { sensible } from "../policy/rules/sensible.ts";
import type { Schema } from "../schema/schema.ts";
import { type SchemaSource, toSchema } from "../schema/to-schema.ts";
import { memoryTools } from "../session/memory-tools.ts";
import { isBuiltin, reservedNames } from "../tool/builtins.ts";
import { unknownTool } from "../error/check-shape.ts";
import { checkConstraints } from "../tool/constraints.ts";
import { withRecoveries } from "../tool/recovery-rules.ts";
import type { Tool } from "../tool/tool.ts";
import { checkIsolation } from "./check-isolation.ts";
import { type AnswerReader, answerReader } from "./answer.ts";
import { checkLibrary, libraryOf } from "./skill-library.ts";
import { skillOutput } from "./skill-output.ts";
import type { AgenticSkill, PlainSkill, Skill, ToolList } from "./skill.ts";

/** The fields of every planned skill. */
interface SkillBase {
  readonly name: string;
  readonly description: string;
  /** The schema of its input. Undefined: any input. */
  readonly input?: Schema;
}

/** An agentic skill with everything that is the same for all runs. */
export interface AgenticPlan extends SkillBase {
  readonly type: "agentic";
  readonly gate: PlannedGate;
  readonly system: SystemMessage;
  readonly output?: Schema;
  readonly readAnswer: AnswerReader;
  readonly model: Model;
  readonly driver: DriverChoice;
}

/** A plain skill with its schemas. */
export interface PlainPlan extends SkillBase {
  readonly type: "plain";
  readonly output?: Schema;
  /** The label that the skill adds to that of its input. */
  readonly label: Label;
  readonly execute: (input: unknown) => unknown;
}

/** A skill that was checked. */
export type PlannedSkill = AgenticPlan | PlainPlan;

/** True for a skill without tools that answers in words, in a conversation without calls. */
export function isTalk({ gate, output }: AgenticPlan, { messages }: ReadyTranscript): boolean {
  return (
    gate.allowed.tools.size === 0 && output === undefined && messages.every(({ role }) => role !== "tool")
  );
}

/** Plans the skills of an agent; an agent without skills gets one with its own name. */
export function planSkills(
  definition: AnyDefinition,
  model: Model | undefined,
  { warn }: Host,
): ReadonlyMap<string, PlannedSkill> {
  const pool = poolOf(definition);
  const skills = new Map<string, PlannedSkill>();
  for (const skill of skillsOf(definition)) {
    const { name } = skill;
    if (skills.has(name))
      throw new WritError("name-taken", { kind: "skill", name, where: `agent "${definition.name}"` });
    const around = { definition, pool, model, warn };
    skills.set(name, skill.type === "plain" ? planPlain(skill, definition) : planSkill(skill, around));
  }
  if (definition.enforce !== undefined) checkIsolation(definition.name, skills.values());
  return skills;
}

/** The input schema of an agent or a skill: it accepts values as they are, and coerces none. */
export function inputSchema(source: SchemaSource | undefined, name: string): Schema | undefined {
  return source === undefined
    ? undefined
    : toSchema(source, { name, role: "input", coerce: "none", refusesSlips: true });
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

interface PlanningSkill {
  readonly definition: AnyDefinition;
  readonly pool: ReadonlyMap<string, Tool>;
  readonly model: Model | undefined;
  readonly warn: Host["warn"];
}

function planPlain(skill: PlainSkill, definition: AnyDefinition): PlainPlan {
  const { description, execute, trusted = false } = skill;
  return {
    type: "plain",
    name: skill.name,
    description,
    execute,
    label: trusted ? trustedLabel : untrustedFrom(`skill/${skill.name}`),
    input: inputSchema(skill.input, skill.name),
    output: skillOutput(skill, definition),
  };
}

function planSkill(skill: AgenticSkill, { definition, pool, model, warn }: PlanningSkill): AgenticPlan {
  const { name } = definition;
  const where = `skill "${skill.name}" of agent "${name}"`;
  const own = [
    ...flattenTools(
      withoutNames(skill.tools, { where: `Skill "${skill.name}" of agent "${name}"`, pool, warn }),
    ),
    ...(skill.knowledge ?? []),
  ];
  const auto = flattenTools(definition.autoTools ?? []).filter((tool) => !own.includes(tool));
  checkTools(allowList(skill.name, [...own, ...auto]), where);
  const remembers = definition.memory !== undefined && skill.memory !== false;
  const memory = remembers ? memoryTools(definition.memory, name) : [];
  const allowed = allowList(skill.name, [...own, ...auto, ...memory]);
  for (const tool of allowed.tools.values()) {
    const library = libraryOf(tool);
    if (library !== undefined) checkLibrary(library, allowed.tools.keys());
    checkOrder(tool, allowed, where);
  }
  const { policy = sensible, toolChoice, recover = {} } = definition;
  const asked = model ?? modelFor(definition.driver, { name, skill: skill.name });
  const recovering = { ...allowed, tools: withRecoveries(allowed.tools, recover) };
  const first = withOffered(recovering, typeof toolChoice === "object" ? [toolChoice.tool] : []);
  const output = skillOutput(skill, definition);
  return {
    type: "agentic",
    name: skill.name,
    description: skill.description,
    input: inputSchema(skill.input, skill.name),
    gate: { agent: name, allowed: annotated(first, policy), policy, own: wordsOf(policy) },
    system: { role: "system", text: systemText(definition, skill, output) },
    output: skill.parse === undefined ? output : undefined,
    readAnswer: answerReader(output, { parse: skill.parse, keepsJson: answersJson(definition.driver) }),
    model: asked,
    driver: definition.driver ?? "auto",
  };
}

/** The stand-in for the model of an agent without one, whose driver decides by itself. @throws WritError `model-missing` for other agents */
function modelFor(
  driver: DriverChoice | undefined,
  where: { readonly name: string; readonly skill: string },
): Model {
  const missing = (): WritError => new WritError("model-missing", where);
  if (typeof driver !== "object" || driver.decide === undefined) throw missing();
  const stream = (): never => {
    throw missing();
  };
  return { id: "none", features: {}, price: () => 0, stream };
}

function checkTools({ tools }: AllowList, where: string): void {
  const notations = new Set<string>();
  for (const tool of tools.values()) {
    const { name, notation } = tool;
    if (reservedNames.has(name) && !isBuiltin(tool)) throw new WritError("name-reserved", { name, where });
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

/** Checks the constraints of a tool: one that waits for a tool that is not there could never be called. */
function checkOrder({ name, constraints }: Tool, { tools }: AllowList, where: string): void {
  checkConstraints(name, constraints);
  const unknown = constraints?.onlyAfter?.find((before) => !tools.has(before));
  if (unknown === undefined) return;
  throw unknownTool(`\`onlyAfter\` of "${name}" in ${where}`, unknown, tools.keys());
}

interface Naming {
  readonly where: string;
  readonly pool: ReadonlyMap<string, Tool>;
  readonly warn?: Host["warn"];
}

function namedTool(name: string, where: string): Warning {
  const text = `${where} lists the tool "${name}" by its name, which is deprecated. List what tool() gave in its place, like \`tools: [${name}]\` for \`const ${name} = tool(...)\`: TypeScript knows it, and a misspelt one does not compile.`;
  return { code: "WRIT_TOOL_BY_NAME", text, isDeprecation: true };
}

/** Replaces names with the tools they stand for. */
function withoutNames(tools: ToolList, from: Naming): Tools {
  return tools.map((entry) => {
    const tool = typeof entry === "string" ? from.pool.get(entry) : entry;
    if (typeof entry === "string" && tool !== undefined) from.warn?.(namedTool(entry, from.where));
    if (tool !== undefined && typeof tool === "object") return tool;
    throw unknownTool(from.where, typeof entry === "string" ? entry : typeof entry, from.pool.keys());
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

import { answersJson, type Drivers, driversFor } from "../driver/choose.ts";
import { WritError } from "../error/writ-error.ts";
import type { AgentEvent } from "../event/event.ts";
import type { Host, Warning } from "../journal/host.ts";
import type { PlannedGate } from "../run/gate.ts";
import { type Hooks, sortHooks } from "../hook/run-hooks.ts";
import type { Compact } from "../turn/options.ts";
import { type Label, trustedLabel, untrustedFrom } from "../message/label.ts";
import type { SystemMessage } from "../message/message.ts";
import { driverChoices } from "../model/driver-names.ts";
import { checkedRetry, type RetryPace } from "../model/retry.ts";
import type { Model, ModelSettings } from "../model/model.ts";
import { type AllowList, allowList, flattenTools, type Tools, withOffered } from "../policy/allow-list.ts";
import { type Limits, limitsOf } from "../policy/account/budget.ts";
import { annotated, checkPolicyNames } from "../policy/rules/annotate.ts";
import { sensible } from "../policy/rules/sensible.ts";
import type { Schema } from "../schema/schema.ts";
import { type SchemaSource, toSchema } from "../schema/to-schema.ts";
import { compactor } from "../session/compaction.ts";
import { memoryTools } from "../session/memory-tools.ts";
import { isBuiltin } from "../tool/builtins.ts";
import { type Capability, readCapability } from "../tool/capability.ts";
import { checkConstraints } from "../tool/constraints.ts";
import { checkRecoveryRules, recoveryFor } from "../tool/recovery-rules.ts";
import type { Recovery } from "../tool/recovery.ts";
import { checkName, type Tool } from "../tool/tool.ts";
import { checkDefinition } from "./check-definition.ts";
import { checkIsolation } from "./check-isolation.ts";
import { type AnswerReader, answerReader } from "./answer.ts";
import { observerOf } from "./observers.ts";
import { reservedNames } from "./reserved-names.ts";
import type { Routing } from "./routing.ts";
import type { AgentDefinition, ModelSource } from "./definition.ts";
import { modelFor } from "./no-model.ts";
import { checkLibrary, libraryOf } from "./skill-library.ts";
import { skillOutput } from "./skill-output.ts";
import type { AgenticSkill, PlainSkill, Skill, ToolList } from "./skill.ts";

/** The fields of every planned skill. */
interface SkillBase {
  readonly name: string;
  readonly description: string;
  /** The schema of its input. Undefined for anything. */
  readonly input?: Schema;
}

/** An agentic skill with everything that does not change from run to run. */
export interface AgenticPlan extends SkillBase {
  readonly type: "agentic";
  readonly gate: PlannedGate;
  readonly system: SystemMessage;
  readonly output?: Schema;
  readonly readAnswer: AnswerReader;
  readonly model: Model;
  readonly drivers: () => Drivers;
}

/** A plain skill with its schemas. */
export interface PlainPlan extends SkillBase {
  readonly type: "plain";
  readonly output?: Schema;
  /** The label that it adds to that of its input. */
  readonly label: Label;
  readonly execute: (input: unknown) => unknown;
}

/** A skill that was checked. */
export type PlannedSkill = AgenticPlan | PlainPlan;

/** An agent that was checked: every reference resolved, every schema compiled. */
export interface AgentPlan {
  readonly name: string;
  readonly skills: ReadonlyMap<string, PlannedSkill>;
  readonly selectSkill?: AnyDefinition["selectSkill"];
  readonly routing: Routing;
  readonly limits: Limits;
  /** The capabilities that the agent gives its tools. */
  readonly grants: readonly Capability[];
  readonly hooks: Hooks;
  readonly recoveryOf: (tool: Tool) => Recovery | undefined;
  readonly compact?: Compact;
  /** The author's observers. */
  readonly observe?: (event: AgentEvent) => void;
  readonly settings: ModelSettings;
  readonly retry: RetryPace | false;
  readonly input?: Schema;
  readonly model?: Model;
}

/** Any agent definition, whatever its types. */
export type AnyDefinition = AgentDefinition<SchemaSource | undefined, SchemaSource | undefined>;

/** Makes a model of what the author gave. @throws WritError `model-invalid`, `model-name-invalid` */
export type ResolveModel = (source: ModelSource, agent: string) => Model;

/** The parts that the core needs from outside to make agents. */
export interface Wiring {
  readonly host: Host;
  readonly resolveModel: ResolveModel;
}

/**
 * Checks a definition and makes its plan.
 *
 * @throws WritError with the code and the name of the first thing that is wrong.
 */
export function planAgent(definition: AnyDefinition, { host, resolveModel }: Wiring): AgentPlan {
  checkDefinition(definition);
  const { name, budget = {}, recover = {}, compaction } = definition;
  checkName(name, "An agent");
  checkOptions(definition);
  const retry = checkedRetry(definition.retry ?? {}, `Agent "${name}"`);
  const grants = (definition.grants ?? []).map(readCapability);
  const limits = limitsOf(budget, name);
  const model = definition.model === undefined ? undefined : resolveModel(definition.model, name);
  const skills = planSkills(definition, model, host);
  if (limits.costUsd !== Infinity && budget.price === undefined && model?.price === undefined)
    throw new WritError("budget-without-price", { name, model: model?.id ?? "none" });
  checkNames(definition, skills);
  const { routing = {}, selectSkill, settings = {} } = definition;
  return {
    name,
    skills,
    grants,
    selectSkill,
    routing,
    limits,
    observe: observerOf(definition, host),
    hooks: sortHooks(definition.hooks ?? [], name),
    compact: compaction === undefined ? undefined : compactor(compaction),
    recoveryOf: (tool) => recoveryFor(tool, recover),
    settings,
    retry,
    input: inputSchema(definition.input, name),
    model,
  };
}

function planSkills(
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

/** The input schema of an agent or a skill: it takes values as they are, and coerces none. */
function inputSchema(source: SchemaSource | undefined, name: string): Schema | undefined {
  return source === undefined ? undefined : toSchema(source, { name, role: "input", coerce: "none" });
}

function checkOptions({ name, concurrency, driver, routing }: AnyDefinition): void {
  const where = `Agent "${name}"`;
  if (concurrency !== undefined && !(concurrency >= 1))
    throw new WritError("definition-invalid", { where, reason: "`concurrency` must be at least 1." });
  if (typeof driver === "string" && !driverChoices.includes(driver))
    throw new WritError("definition-invalid", {
      where,
      reason: `there is no driver "${driver}": ${driverChoices.join(", ")}.`,
    });
  const threshold = typeof routing === "object" ? (routing.threshold ?? 0) : 0;
  if (!(threshold >= 0 && threshold <= 1))
    throw new WritError("definition-invalid", {
      where,
      reason: "`routing.threshold` must be between 0 and 1.",
    });
}

/** Names that a definition uses beside its lists of tools: each must mean something. */
function checkNames(
  { name, toolChoice, recover = {}, routing, policy }: AnyDefinition,
  skills: ReadonlyMap<string, PlannedSkill>,
): void {
  const where = `Agent "${name}"`;
  const known = new Set(
    [...skills.values()].flatMap((skill) =>
      skill.type === "agentic" ? [...skill.gate.allowed.tools.keys()] : [],
    ),
  );
  if (typeof toolChoice === "object" && !known.has(toolChoice.tool))
    throw new WritError("tool-unknown", {
      where: `\`toolChoice\` of agent "${name}"`,
      name: toolChoice.tool,
      known: [...known].join(", ") || "none",
    });
  checkRecoveryRules(recover, { where, known: [...known] });
  if (policy !== undefined) checkPolicyNames(policy, [...known], name);
  const otherwise = typeof routing === "object" ? routing.otherwise : undefined;
  if (otherwise !== undefined && !skills.has(otherwise))
    throw new WritError("skill-unknown", { name, skill: otherwise, skills: [...skills.keys()].join(", ") });
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
  readonly warn: Host["warn"];
}

function planPlain(skill: PlainSkill, { name, output }: AnyDefinition): PlainPlan {
  const { description, execute, trusted = false } = skill;
  return {
    type: "plain",
    name: skill.name,
    description,
    execute,
    label: trusted ? trustedLabel : untrustedFrom(`skill/${skill.name}`),
    input: inputSchema(skill.input, skill.name),
    output: output === undefined ? undefined : toSchema(output, { name, role: "output" }),
  };
}

function planSkill(skill: AgenticSkill, { definition, pool, model, warn }: Around): AgenticPlan {
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
  const { policy = sensible, toolChoice } = definition;
  const asked = model ?? modelFor(definition.driver, { name, skill: skill.name });
  const first = withOffered(allowed, typeof toolChoice === "object" ? [toolChoice.tool] : []);
  const output = skillOutput(skill, definition);
  return {
    type: "agentic",
    name: skill.name,
    description: skill.description,
    input: inputSchema(skill.input, skill.name),
    gate: { agent: name, allowed: annotated(first, policy), policy },
    system: { role: "system", text: systemText(definition, skill, output) },
    output: skill.parse === undefined ? output : undefined,
    readAnswer: answerReader(output, { parse: skill.parse, keepsJson: answersJson(definition.driver) }),
    model: asked,
    drivers: () => driversFor(definition.driver ?? "auto", asked),
  };
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

/** A tool that waits for one that is not there could never be called. */
function checkOrder({ name, constraints }: Tool, { tools }: AllowList, where: string): void {
  checkConstraints(name, constraints);
  const unknown = constraints?.onlyAfter?.find((before) => !tools.has(before));
  if (unknown === undefined) return;
  const known = [...tools.keys()].join(", ");
  throw new WritError("tool-unknown", {
    where: `\`onlyAfter\` of "${name}" in ${where}`,
    name: unknown,
    known,
  });
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

/** Puts tools in the place of their names. */
function withoutNames(tools: ToolList, from: Naming): Tools {
  return tools.map((entry) => {
    const tool = typeof entry === "string" ? from.pool.get(entry) : entry;
    if (typeof entry === "string" && tool !== undefined) from.warn?.(namedTool(entry, from.where));
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

import { inputSchema, type PlannedSkill, planSkills } from "./plan-skill.ts";
import { WritError } from "../error/writ-error.ts";
import type { AgentEvent, Fact } from "../event/event.ts";
import type { Host } from "../journal/host.ts";
import { withThoseGone } from "../hook/consult.ts";
import { type Hooks, sortHooks } from "../hook/run-hooks.ts";
import type { Compact } from "../turn/options.ts";
import { driverChoices } from "../model/driver-names.ts";
import { checkRequired } from "../model/chat.ts";
import { checkedRetry, type RetryPace } from "../model/retry.ts";
import type { Model, ModelSettings } from "../model/model.ts";
import { type Limits, limitsOf } from "../policy/account/budget.ts";
import { checkPolicyArguments } from "../policy/rules/check-arguments.ts";
import { checkPolicyNames, checkPolicySkill } from "../policy/rules/annotate.ts";
import type { Schema } from "../schema/schema.ts";
import { compactor } from "../session/compaction.ts";
import { type Capability, readCapability } from "../tool/capability.ts";
import { checkRecoveryRules } from "../tool/recovery-rules.ts";
import { checkName, type Tool } from "../tool/tool.ts";
import { remembered } from "../util/remembered.ts";
import { unknownTool } from "../error/check-shape.ts";
import { checkDefinition } from "./check-definition.ts";
import { observerOf } from "./observers.ts";
import type { AnyDefinition, ModelSource, Routing } from "./definition.ts";

/** The chosen skill, and the reason for it. */
export interface ChosenSkill {
  readonly skill: PlannedSkill;
  readonly fact: Extract<Fact, { type: "skill-chosen" }>;
}

/** An agent that was checked: every reference resolved, every schema compiled. */
export interface AgentPlan {
  readonly name: string;
  readonly skills: ReadonlyMap<string, PlannedSkill>;
  /** The names of the tools of all its skills. */
  readonly tools: ReadonlySet<string>;
  /** The skill of an agent that has only one, which takes any input; undefined if there is a choice. */
  readonly only?: ChosenSkill;
  readonly selectSkill?: AnyDefinition["selectSkill"];
  readonly routing: Routing;
  readonly limits: Limits;
  /** The capabilities that the agent grants its tools. */
  readonly grants: readonly Capability[];
  readonly hooks: Hooks;
  readonly compact?: Compact;
  readonly observe?: (event: AgentEvent) => void;
  readonly settings: ModelSettings;
  readonly retry: RetryPace | false;
  readonly input?: Schema;
  readonly model?: Model;
}

/** The plan of a run that began in an earlier process: one for all of them, because hashes are kept by plan. Depends on: the plan. */
export const begunPlan: (plan: AgentPlan) => AgentPlan = remembered((plan) => ({
  ...plan,
  hooks: withThoseGone(plan.hooks),
}));

/** Makes a model from the author's source. @throws WritError `model-invalid`, `model-name-invalid` */
export type ResolveModel = (source: ModelSource, agent: string) => Model;

/** The parts that the core needs from outside to make agents. */
export interface Wiring {
  readonly host: Host;
  readonly resolveModel: ResolveModel;
}

/**
 * Checks a definition and makes its plan.
 *
 * @throws WritError with the code and the name of the first fault
 */
export function planAgent(definition: AnyDefinition, { host, resolveModel }: Wiring): AgentPlan {
  checkDefinition(definition);
  const { name, budget = {}, compaction } = definition;
  checkName(name, "An agent");
  checkOptions(definition);
  const retry = checkedRetry(definition.retry ?? {}, `Agent "${name}"`);
  const grants = (definition.grants ?? []).map(readCapability);
  const limits = limitsOf(budget, name);
  const model = definition.model === undefined ? undefined : resolveModel(definition.model, name);
  const skills = planSkills(definition, model, host);
  if (limits.costUsd !== Infinity && budget.price === undefined && model?.price === undefined)
    throw new WritError("budget-without-price", { name, model: model?.id ?? "none" });
  const tools = toolsOf(skills);
  checkNames(definition, { skills, tools });
  const { routing = {}, selectSkill, settings = {} } = definition;
  return {
    name,
    skills,
    tools: new Set(tools.map((tool) => tool.name)),
    only: selectSkill === undefined ? onlyOf(skills) : undefined,
    grants,
    selectSkill,
    routing,
    limits,
    observe: observerOf(definition, host),
    hooks: sortHooks(definition.hooks ?? [], name),
    compact: compaction === undefined ? undefined : compactor(compaction),
    settings,
    retry,
    input: inputSchema(definition.input, name),
    model,
  };
}

function onlyOf(skills: ReadonlyMap<string, PlannedSkill>): ChosenSkill | undefined {
  const [skill, another] = skills.values();
  if (skill === undefined || another !== undefined || skill.input !== undefined) return undefined;
  return { skill, fact: { type: "skill-chosen", skill: skill.name, by: "only" } };
}

function checkOptions({ name, driver, routing }: AnyDefinition): void {
  const where = `Agent "${name}"`;
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

/** All tools of an agent's skills. Two skills may have different tools of one name. */
function toolsOf(skills: ReadonlyMap<string, PlannedSkill>): readonly Tool[] {
  return [...skills.values()].flatMap((skill) =>
    skill.type === "agentic" ? [...skill.gate.allowed.tools.values()] : [],
  );
}

/** Checks the names that a definition uses outside its lists of tools: each must exist. */
function checkNames(
  { name, toolChoice = "auto", recover = {}, routing, policy }: AnyDefinition,
  { skills, tools }: Pick<AgentPlan, "skills"> & { readonly tools: readonly Tool[] },
): void {
  const names = new Set(tools.map((tool) => tool.name));
  const known = [...names];
  const where = `Agent "${name}"`;
  if (typeof toolChoice === "object" && !names.has(toolChoice.tool))
    throw unknownTool(`\`toolChoice\` of agent "${name}"`, toolChoice.tool, known);
  checkRequired(toolChoice, names, `The \`toolChoice\` of agent "${name}"`);
  checkRecoveryRules(recover, { where, known });
  if (policy !== undefined) {
    checkPolicyNames(policy, known, name);
    checkPolicyArguments(policy, tools, name);
    for (const skill of skills.values())
      if (skill.type === "agentic") checkPolicySkill(policy, skill.gate.allowed, name);
  }
  const otherwise = typeof routing === "object" ? routing.otherwise : undefined;
  if (otherwise !== undefined && !skills.has(otherwise))
    throw new WritError("skill-unknown", { name, skill: otherwise, skills: [...skills.keys()].join(", ") });
}

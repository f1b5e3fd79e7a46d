import type { Limits } from "../../policy/account/budget.ts";
import { rulePolicyOf } from "../../policy/rules/identity.ts";
import type { Tool } from "../../tool/tool.ts";
import { visible } from "../../util/visible.ts";
import type { AgentPlan } from "../plan.ts";
import type { AnyDefinition } from "../definition.ts";
import type { PlannedSkill } from "../plan-skill.ts";
import { toolEnforcement } from "./tool-enforcement.ts";

/** An agent in one line: `agent "calculator" (ollama/qwen2.5:7b)`. */
export function nameAgent({ name, model }: AgentPlan): string {
  return `agent "${name}" (${model?.id ?? "no model"})`;
}

/**
 * An agent in words for people, one fact per line: its model, bounds and rules, and the tools of each skill with their effects. Settings, headers and
 * the contents of closures are left out, so that no key can be shown.
 */
export function describeAgent(plan: AgentPlan, definition: AnyDefinition): string {
  const { description = "", hooks = [], memory, enforce } = definition;
  const lines = [
    `${nameAgent(plan)}${description === "" ? "" : `: ${oneLine(description)}`}`,
    `budget: ${boundsOf(plan.limits)}`,
    `policy: ${policyText(definition)}`,
    ...(enforce === undefined ? [] : [`enforce: ${enforce}`]),
    ...(hooks.length === 0 ? [] : [`hooks: ${hooks.length}`]),
    ...(memory === undefined ? [] : ["memory: yes"]),
    ...[...plan.skills.values()].flatMap(linesOfSkill),
  ];
  return lines.join("\n");
}

function boundsOf(limits: Limits): string {
  return Object.entries(limits)
    .filter(([, limit]) => limit !== Infinity)
    .map(([field, limit]) => `${field} ${limit}`)
    .join(", ");
}

function linesOfSkill(skill: PlannedSkill): string[] {
  const { name, description, type } = skill;
  const about = description === "" ? "" : `: ${oneLine(description)}`;
  if (type === "plain") return [`skill "${name}" (a function)${about}`];
  return [`skill "${name}"${about}`, ...[...skill.gate.allowed.tools.values()].map(lineOfTool)];
}

function lineOfTool(tool: Tool): string {
  const { name, description, effect, kind, constraints } = tool;
  const { maxCalls, onlyAfter = [] } = constraints ?? {};
  const told = [
    kind ?? `effect ${effect}`,
    ...(kind === "memory" ? [] : [toolEnforcement(tool).level]),
    ...(maxCalls === undefined ? [] : [`at most ${maxCalls} calls`]),
    ...(onlyAfter.length === 0 ? [] : [`only after ${onlyAfter.join(", ")}`]),
  ];
  return `  ${name} (${told.join("; ")})${description === "" ? "" : `: ${oneLine(description)}`}`;
}

const longest = 100;

/** The beginning of a text, without line breaks, and with control characters for terminals escaped: a server may have written it. */
function oneLine(text: string): string {
  const line = visible(text.replaceAll(/\s+/g, " ").trim());
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}

function policyText({ policy }: AnyDefinition): string {
  if (policy === undefined) return "none: a declared write or irreversible effect asks after untrusted data";
  return rulePolicyOf(policy)?.name ?? "a function";
}

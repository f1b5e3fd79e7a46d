import { definitionOf, toolsIn } from "../adapters/agent-definition.ts";
import type { Agent } from "../agent/agent.ts";
import type { Runnable } from "../agent/runnable.ts";
import type { Tool } from "../tool/tool.ts";

/** An agentic skill, with the fields that clients are told. */
export interface SkillPart {
  readonly name: string;
  readonly description: string;
  readonly text: string;
}

/** The tools, knowledge and agentic skills of an agent, from all of its skills. */
export interface AgentParts {
  readonly tools: readonly Tool[];
  readonly prompts: readonly SkillPart[];
}

/** True of an agent, false of a composition of agents, which shows no parts. */
export const isAgent = (runner: Runnable): runner is Agent => "manifest" in runner;

export function partsOf(agent: Agent): AgentParts {
  const definition = definitionOf(agent);
  const { skills = [] } = definition ?? {};
  const all = new Set([...toolsIn(definition), ...skills.flatMap(({ knowledge = [] }) => knowledge)]);
  const prompts = skills.flatMap(({ name, description, ...skill }) =>
    skill.type === "agentic" ? [{ name, description, text: skill.instructions ?? description }] : [],
  );
  return { tools: [...all], prompts };
}

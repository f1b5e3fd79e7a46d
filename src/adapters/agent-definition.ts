import type { Agent } from "../agent/agent.ts";
import type { AnyDefinition } from "../agent/definition.ts";
import { flattenTools } from "../policy/allow-list.ts";
import type { Tool } from "../tool/tool.ts";

/** The definition of an agent, no matter which copy of the package made it. */
export function definitionOf(agent: Pick<Agent, "run" | "with">): AnyDefinition | undefined {
  let definition: AnyDefinition | undefined;
  agent.with((given) => {
    definition = given;
    return {};
  });
  return definition;
}

/** The tools of a definition, and of its agentic skills; without knowledge. */
export function toolsIn({
  tools = [],
  autoTools = [],
  skills = [],
}: Partial<AnyDefinition> = {}): readonly Tool[] {
  const lists = [tools, autoTools, ...skills.map((skill) => (skill.type === "agentic" ? skill.tools : []))];
  return flattenTools(lists.flat().filter((entry) => typeof entry !== "string"));
}

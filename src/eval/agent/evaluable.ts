import { definitionOf, toolsIn } from "../../adapters/agent-definition.ts";
import type { Agent } from "../../agent/agent.ts";
import { insideOf } from "../../agent/describe/manifest-origin.ts";
import type { AnyDefinition } from "../../agent/definition.ts";
import type { Runnable } from "../../agent/runnable.ts";
import type { ToolList } from "../../agent/skill.ts";
import { isTool, type Tools } from "../../policy/allow-list.ts";
import type { Tool } from "../../tool/tool.ts";

/** An agent as evaluations see it. */
export interface Evaluable {
  readonly name: string;
  readonly run: Runnable["run"];
  /** Undefined for compositions by functions: their parts cannot be replaced. */
  readonly own?: OwnDefinition;
  /** The names of its own tools; undefined if they are unknown. */
  readonly tools?: readonly string[];
  /** True if agents inside call tools of their own, whose names are unknown. */
  readonly hasAgentsInside?: boolean;
  /** The names of its tools behind which an agent asks a model that is not a function. */
  readonly asking?: ReadonlySet<string>;
}

/** The definition of an agent, with a function that makes the same agent with replaced parts. */
interface OwnDefinition {
  readonly definition: AnyDefinition;
  readonly with: (changes: Partial<AnyDefinition>) => Pick<Runnable, "run">;
}

/** Reads an agent, no matter which copy of the package made it. */
export function evaluable(agent: Pick<Runnable, "name" | "run">): Evaluable {
  const { name, run } = agent;
  if (!isAgent(agent)) return { name, run };
  const definition = definitionOf(agent);
  if (definition === undefined) return { name, run };
  const own = { definition, with: (changes: Partial<AnyDefinition>) => agent.with(changes) };
  const given = toolsIn(definition);
  const hasAgentsInside = given.some((tool) => insideOf(tool).length > 0);
  const asking = new Set(given.filter(asksModel).map((tool) => tool.name));
  const tools = [...new Set(agent.skills.flatMap((skill) => skill.tools))];
  return { name, run, own, tools, hasAgentsInside, asking };
}

function asksModel(tool: Tool): boolean {
  return insideOf(tool).some(({ madeOf }) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- agent() keeps its definition there
    const definition = madeOf?.definition as AnyDefinition | undefined;
    if (definition === undefined) return true;
    const { model } = definition;
    return (model !== undefined && typeof model !== "function") || toolsIn(definition).some(asksModel);
  });
}

/** The definition with each tool replaced; a tool that is listed twice is replaced by the same tool. */
export function withTools(
  { tools, autoTools, skills }: AnyDefinition,
  replace: (tool: Tool) => Tool,
): Partial<AnyDefinition> {
  const made = new Map<Tool, Tool>();
  const one = (tool: Tool): Tool => {
    const known = made.get(tool) ?? replace(tool);
    made.set(tool, known);
    return known;
  };
  const replaced = (entry: Tool | Tools): Tool | Tools => (isTool(entry) ? one(entry) : entry.map(replaced));
  const list = (entries: ToolList): ToolList =>
    entries.map((entry) => (typeof entry === "string" ? entry : replaced(entry)));
  return {
    ...(tools === undefined ? {} : { tools: list(tools) }),
    ...(autoTools === undefined ? {} : { autoTools: autoTools.map(replaced) }),
    ...(skills === undefined
      ? {}
      : {
          skills: skills.map((skill) => ({
            ...skill,
            ...(skill.type === "agentic" ? { tools: list(skill.tools) } : {}),
            ...(skill.knowledge === undefined
              ? {}
              : // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a tool that replaces knowledge is made from it
                { knowledge: skill.knowledge.map((entry) => one(entry) as typeof entry) }),
          })),
        }),
  };
}

function isAgent(agent: object): agent is Pick<Agent, "name" | "run" | "with" | "skills"> {
  return "skills" in agent && "with" in agent;
}

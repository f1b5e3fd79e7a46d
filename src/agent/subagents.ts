import { checkShape, closed } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import { anything, list, shapeOf } from "../util/shape.ts";
import { checkToolName, type Effect, effectShape, timeoutShape, type Tool } from "../tool/tool.ts";
import { toSchema } from "../schema/to-schema.ts";
import type { Agent } from "./agent.ts";
import { insideOf, setInside } from "./describe/manifest-origin.ts";
import { aboutOf } from "./runnable.ts";

/** One of several agents: an agent, or a composition with a name. */
export type Subagent = Pick<Agent, "name" | "asTool">;

/** Options of the tool that starts agents. */
export interface SubagentsOptions {
  /** Default: `spawn_subagent`. */
  readonly name?: string;
  /** The text before the list of the agents. Default: it says that each answers a prompt and sees nothing else. */
  readonly description?: string;
  /** The effect of a call on the world. Default: undeclared. */
  readonly effect?: Exclude<Effect, "undeclared">;
  readonly timeoutMs?: number;
}

/**
 * Several agents as one tool: the model picks one by its name and gives it a prompt. Each call is a run inside the calling run, as
 * with `agent.asTool()`: the caller's bounds and policy hold, the model is told only the answer, and a run that does not answer is a failed call.
 *
 * @throws WritError `name-taken`, `name-invalid`, `definition-invalid` for an empty list, an unknown option, or an agent with another input than text
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { subagents } from "writ/compose";
 *
 * const model = "ollama/qwen2.5:7b";
 * const researcher = agent({ name: "researcher", description: "Finds facts", model });
 * const writer = agent({ name: "writer", description: "Writes short texts", model });
 *
 * export const editor = agent({ name: "editor", model, tools: [subagents([researcher, writer])] });
 * ```
 */
export function subagents(agents: readonly Subagent[], options: SubagentsOptions = {}): Tool {
  checkShape("subagents()", options, optionsShape);
  const { name = "spawn_subagent", description = handOver, effect = "undeclared", timeoutMs } = options;
  checkToolName(name);
  const tools = toolsOf(agents, name);
  const list = [...tools.values()].map((tool) =>
    tool.description === "" ? `- ${tool.name}` : `- ${tool.name}: ${tool.description}`,
  );
  const made: Tool = {
    name,
    description: [description, ...list].join("\n"),
    input: toSchema(inputFor([...tools.keys()]), { name, role: "input" }),
    effect,
    timeoutMs,
    needs: [...tools.values()].flatMap(({ needs = [] }) => needs),
    trusted: true, // the labels of the runs inside are joined to it
    exclusiveKey: () => undefined,
    isAgent: true,
    retry: "always", // its own steps are recorded, and those that may not happen twice do not
    execute: startOne(tools),
  };
  return setInside(made, [...tools.values()].flatMap(insideOf), (changed) =>
    startOne(new Map(Array.from(tools, ([inner, tool]) => [inner, changed(tool)]))),
  );
}

/** Starts the agent that the model picked. */
function startOne(tools: ReadonlyMap<string, Tool>): Tool["execute"] {
  return ({ subagent, prompt }: { readonly subagent: string; readonly prompt: string }, context) =>
    tools.get(subagent)?.execute({ input: prompt }, context);
}

const optionsShape = closed({
  name: anything,
  description: anything,
  effect: effectShape,
  timeoutMs: timeoutShape,
});

const asTool = shapeOf(
  "an agent, or a composition with a name",
  (value) => typeof value === "function" && "asTool" in value,
);
const agentList = list(asTool, "a list of agents");

const handOver =
  "Hand a task to one of these agents and get its answer. It sees the prompt and nothing of this conversation.";

function toolsOf(agents: readonly Subagent[], name: string): ReadonlyMap<string, Tool> {
  const where = `Tool "${name}"`;
  checkShape(where, agents, agentList);
  if (agents.length === 0)
    throw new WritError("definition-invalid", { where, reason: "`subagents` needs at least one agent." });
  const tools = new Map<string, Tool>();
  for (const agent of agents) {
    const { name: inner } = agent;
    if (tools.has(inner))
      throw new WritError("name-taken", { kind: "agent", name: inner, where: `the tool "${name}"` });
    if (aboutOf(agent)?.input !== undefined) {
      const reason = `the agent "${inner}" has an \`input\` schema, and a subagent is given text; use \`asTool()\`.`;
      throw new WritError("definition-invalid", { where, reason });
    }
    tools.set(inner, agent.asTool());
  }
  return tools;
}

function inputFor(names: readonly string[]): Parameters<typeof toSchema>[0] {
  return {
    type: "object",
    properties: {
      subagent: { type: "string", enum: [...names], description: "Which agent" },
      prompt: { type: "string", description: "The whole task, with everything that it needs to know" },
    },
    required: ["subagent", "prompt"],
    additionalProperties: false,
  };
}

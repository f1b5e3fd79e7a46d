import type { Agent } from "../../agent/agent.ts";
import type { AnyDefinition } from "../../agent/definition.ts";
import type { Message } from "../../message/message.ts";
import { modelFromFunction } from "../../model/function-model.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Json } from "../../util/json.ts";

/**
 * The parts of a definition that tell a model how to work: here the caller replaces the model. All bounds of the agent stay but that of the part of a
 * result that a model is shown: the caller has no tool to read on.
 */
const ofTheModel = [
  "instructions",
  "autoTools",
  "skills",
  "selectSkill",
  "routing",
  "compaction",
  "retry",
  "toolChoice",
  "examples",
  "lastTurn",
  "input",
  "output",
] as const satisfies readonly (keyof AnyDefinition)[];

const none: Partial<AnyDefinition> = Object.fromEntries(ofTheModel.map((part) => [part, undefined]));

/**
 * The agent with a model that makes one call, of this tool with the input: a run of it with this tool alone judges, asks about, carries out and settles the
 * call as if the agent's model had made it. It lists `all` tools of the agent, whose policy, recovery and constraints may name them.
 *
 * @throws WritError the errors of `agent()`
 */
export function oneCallAgent(agent: Agent, tool: Tool, all: readonly Tool[]): Agent {
  const model = modelFromFunction(
    ({ messages }) =>
      messages.some(({ role }) => role === "tool")
        ? "It is done."
        : { calls: [{ name: tool.name, arguments: argumentsIn(messages) }] },
    { id: "caller" },
  );
  const name = oneCallName(agent.name, tool.name);
  const { description } = tool;
  const budget = { resultBytes: Infinity };
  const byName = new Map([...all, tool].map((each) => [each.name, each])); // two skills may have different tools of one name
  const tools = [...byName.values()];
  return agent.with(() => ({ ...none, name, description, model, driver: "native", tools, budget }));
}

const oneCallName = (agent: string, tool: string): string => `${agent}.${tool.replaceAll("/", ".")}`;

/** The arguments of the call, from the input of the run. */
function argumentsIn(messages: readonly Message[]): Json {
  const asked = messages.find((message) => message.role === "user");
  const text = asked?.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON gives JSON
  return JSON.parse(text ?? "{}") as Json;
}

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
  "memory",
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
 * The agent with only this tool, whose call is the input: a run of it judges, asks about, carries out and settles the call as if the agent's model
 * had made it.
 *
 * @throws WritError the errors of `agent()`
 */
export function oneCallAgent(agent: Agent, tool: Tool): Agent {
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
  return agent.with(() => ({ ...none, name, description, model, driver: "native", tools: [tool], budget }));
}

const oneCallName = (agent: string, tool: string): string => `${agent}.${tool.replaceAll("/", ".")}`;

/** The arguments of the call, from the input of the run. */
function argumentsIn(messages: readonly Message[]): Json {
  const asked = messages.find((message) => message.role === "user");
  const text = asked?.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON gives JSON
  return JSON.parse(text ?? "{}") as Json;
}

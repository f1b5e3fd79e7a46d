import type { Agent } from "../../agent/agent.ts";
import type { AnyDefinition } from "../../agent/definition.ts";
import type { Message } from "../../message/message.ts";
import { modelFromFunction } from "../../model/function-model.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Json } from "../../util/json.ts";

/** The parts of a definition that tell a model how to work: here a caller takes its place. All that bounds the agent stays. */
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
 * The agent with the one tool, whose call the input has: a run of it is this call, judged, asked about, carried out and settled as if the agent's model
 * had made it.
 *
 * @throws WritError as `agent()` does
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
  return agent.with(() => ({ ...none, name, description, model, driver: "native", tools: [tool] }));
}

const oneCallName = (agent: string, tool: string): string => `${agent}.${tool.replaceAll("/", ".")}`;

/** The arguments of the call, as the run was given them. */
function argumentsIn(messages: readonly Message[]): Json {
  const asked = messages.find((message) => message.role === "user");
  const text = asked?.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON gives JSON
  return JSON.parse(text ?? "{}") as Json;
}

import type { Agent } from "../../agent/agent.ts";
import { aboutOf, type Runnable } from "../../agent/runnable.ts";
import { toolInput } from "../../agent/tool-input.ts";
import { unknownTool } from "../../error/check-shape.ts";
import { WritError } from "../../error/writ-error.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { isKnowledge } from "../../tool/knowledge.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Json, JsonObject } from "../../util/json.ts";
import { isAgent, partsOf } from "../agent-parts.ts";
import { type McpOffer } from "./options.ts";
import { oneCallAgent } from "./one-call.ts";

/** A thing that a client may use, with its agent: a caller who may not use the agent does not see it. */
interface Offered {
  readonly name: string;
  readonly description: string;
  readonly owner: string;
}

/** A thing that is carried out as a run. */
export interface OfferedRun extends Offered {
  readonly runner: Runnable;
  /** Makes the input of the run from the arguments of a client. */
  readonly inputOf: (args: JsonObject) => Json;
  /** True if the run is one call of a tool: its result is the result of that call. */
  readonly isCall: boolean;
}

/** A tool as clients see it. */
export interface OfferedTool extends OfferedRun {
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: { readonly readOnlyHint?: boolean; readonly destructiveHint?: boolean };
}

/** Knowledge as clients see it. */
export interface OfferedResource extends OfferedRun {
  readonly uri: string;
}

/** A skill as clients see it. */
export interface OfferedPrompt extends Offered {
  readonly text: string;
}

/** Everything that a server offers, by name. */
export interface Offer {
  readonly tools: ReadonlyMap<string, OfferedTool>;
  readonly resources: ReadonlyMap<string, OfferedResource>;
  readonly prompts: ReadonlyMap<string, OfferedPrompt>;
  /** The agents that carry out single calls. */
  readonly callers: readonly Runnable[];
  /** The names of the agents whose tools they call, by the names of these agents for single calls. */
  readonly owners: ReadonlyMap<string, string>;
}

/**
 * Makes the offer of these agents.
 *
 * @throws WritError `name-taken` for two things of one name, `tool-unknown` for a name that nothing has
 */
export function offerOf(agents: readonly Runnable[], wanted: McpOffer): Offer {
  const parts = agents.filter(isAgent).map((agent) => ({ agent, ...partsOf(agent) }));
  const entries = parts.flatMap(({ agent, tools }) =>
    tools.map((entry): Part => ({ name: entry.name, agent, entry, all: tools })),
  );
  const tools = entries.filter(({ entry }) => !isKnowledge(entry));
  const resources = entries.filter(({ entry }) => isKnowledge(entry));
  const prompts = parts.flatMap(({ agent, prompts }) =>
    prompts.map((prompt) => ({ ...prompt, owner: agent.name })),
  );
  const offer = {
    tools: byName("tool", [
      ...chosen("agents", agents.map(agentOf), wanted.agents ?? true),
      ...chosen("tools", tools, wanted.tools).map(toolOf),
    ]),
    resources: new Map(
      chosen("knowledge", resources, wanted.knowledge)
        .map(resourceOf)
        .map((each) => [each.uri, each] as const),
    ),
    prompts: byName("prompt", chosen("skills", prompts, wanted.skills)),
  };
  const calls = [...offer.tools.values(), ...offer.resources.values()].filter(({ isCall }) => isCall);
  return {
    ...offer,
    callers: calls.map(({ runner }) => runner),
    owners: new Map(calls.map(({ runner, owner }) => [runner.name, owner])),
  };
}

/** A tool or knowledge of an agent, among all of them. */
interface Part {
  readonly name: string;
  readonly agent: Agent;
  readonly entry: Tool;
  readonly all: readonly Tool[];
}

/** The things that the author names. @throws WritError `tool-unknown` */
function chosen<Each extends { readonly name: string }>(
  kind: string,
  all: readonly Each[],
  wanted: readonly string[] | true = [],
): readonly Each[] {
  if (wanted === true) return all;
  const names = all.map(({ name }) => name);
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown !== undefined) throw unknownTool(`\`${kind}\` of an MCP server`, unknown, names);
  return all.filter(({ name }) => wanted.includes(name));
}

function byName<Each extends Offered>(kind: string, all: readonly Each[]): ReadonlyMap<string, Each> {
  const map = new Map<string, Each>();
  for (const each of all) {
    if (map.has(each.name))
      throw new WritError("name-taken", { kind, name: each.name, where: "the offer of an MCP server" });
    map.set(each.name, each);
  }
  return map;
}

function agentOf(runner: Runnable): OfferedTool {
  const { name, description } = runner;
  const { input, outputs = [] } = aboutOf(runner) ?? {};
  const { jsonSchema, inputOf } = toolInput(input === "various" ? undefined : input);
  return {
    name,
    description,
    owner: name,
    runner,
    isCall: false,
    ...structured(outputs.length === 1 ? outputs[0]?.jsonSchema : undefined),
    inputSchema: jsonSchema,
    inputOf,
  };
}

function toolOf({ agent, entry, all }: Part): OfferedTool {
  const { name, description, input, output, effect } = entry;
  return {
    name,
    description,
    owner: agent.name,
    runner: oneCallAgent(agent, entry, all),
    isCall: true,
    inputSchema: input.jsonSchema,
    ...structured(output?.jsonSchema),
    annotations: hintsOf(effect),
    inputOf: (args) => JSON.stringify(args),
  };
}

function hintsOf(effect: Tool["effect"]): OfferedTool["annotations"] {
  if (effect === "none" || effect === "read") return { readOnlyHint: true };
  return effect === "write" ? { readOnlyHint: false, destructiveHint: false } : { readOnlyHint: false };
}

function resourceOf({ agent, entry, all }: Part): OfferedResource {
  const { name, description } = entry;
  return {
    name,
    description,
    owner: agent.name,
    uri: `writ://${agent.name}/${name}`,
    runner: oneCallAgent(agent, entry, all),
    isCall: true,
    inputOf: () => "{}",
  };
}

/** The schema of structured content, if it is one of an object: earlier clients take no other. */
function structured(schema: JsonSchema | undefined): Pick<OfferedTool, "outputSchema"> {
  return schema?.["type"] === "object" ? { outputSchema: schema } : {};
}

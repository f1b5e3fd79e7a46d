import { WritError } from "../error/writ-error.ts";
import type { Schema } from "../schema/schema.ts";
import { toSchema } from "../schema/to-schema.ts";
import type { Capability } from "../tool/capability.ts";
import { isJsonObject, type Json } from "../util/json.ts";
import { checkToolName, type Effect, type Tool } from "../tool/tool.ts";
import { setInside } from "./manifest-origin.ts";
import { aboutOf, type Runnable } from "./runnable.ts";

/** How an agent appears as a tool. */
export interface AsToolOptions {
  /** Default: the agent's name. */
  readonly name?: string;
  /** Default: the agent's description. */
  readonly description?: string;
  /** The only tools of the agent that it may call inside. */
  readonly allow?: readonly string[];
  /** Tools that it may not call inside, whatever `allow` says. */
  readonly deny?: readonly string[];
  /** What a call does to the world. Default: undeclared. */
  readonly effect?: Exclude<Effect, "undeclared">;
  readonly timeoutMs?: number;
  /**
   * Its answer says so little that what it read cannot steer the caller: the output schema has room for numbers, truth values and choices alone. What was
   * read inside then stays inside. Default: the answer is as untrusted as what was read for it.
   */
  readonly fresh?: boolean;
}

/** What is known of the agent behind the tool. */
interface Behind {
  readonly input?: Schema;
  readonly skills: readonly { readonly tools: readonly string[] }[];
  readonly outputs: readonly (Schema | undefined)[];
  readonly grants?: readonly Capability[];
}

const textInput = {
  type: "object",
  properties: { input: { type: "string", description: "What the agent is asked" } },
  required: ["input"],
  additionalProperties: false,
} as const;

/**
 * An agent as a tool. Each call is a run inside the one that calls: a conversation of its own, the caller's bounds and policy over it. What
 * the model is told is the answer alone; a run that does not answer is a failed call.
 *
 * @throws WritError `name-invalid`, `tool-unknown`
 */
export function agentAsTool(agent: Runnable, options: AsToolOptions & Behind): Tool {
  const {
    name = agent.agentName,
    description = agent.description,
    effect = "undeclared",
    timeoutMs,
  } = options;
  checkToolName(name);
  if (options.fresh === true) checkFresh(agent.agentName, options.outputs);
  const tools = allowedInside(agent.agentName, options);
  const takesObject = options.input?.jsonSchema["type"] === "object";
  const input =
    takesObject && options.input !== undefined ? options.input : toSchema(textInput, { name, role: "input" });
  const made: Tool = {
    name,
    description,
    input,
    effect,
    timeoutMs,
    needs: options.grants,
    trusted: true, // what the runs inside have seen is joined to it
    isFresh: options.fresh,
    exclusiveKey: () => undefined,
    async execute(args, { run: parent, signal }) {
      const asked = takesObject ? args : (args as { readonly input: string }).input;
      const result = await agent.run(asked as never, { parent, signal, tools });
      if (result.outcome.type === "answered") return result.output;
      const reason = result.error?.message ?? result.outcome.type;
      const code = result.outcome.type === "exhausted" ? "delegation-exhausted" : "delegation-failed";
      throw new WritError(code, { name: agent.agentName, reason });
    },
  };
  const inside = aboutOf(agent)?.inside ?? [{ agentName: agent.agentName }];
  return setInside(
    made,
    inside.map((each) => ({ ...each, only: tools })),
  );
}

const known: ReadonlySet<string> = new Set([
  "name",
  "description",
  "allow",
  "deny",
  "effect",
  "timeoutMs",
  "fresh",
] satisfies (keyof AsToolOptions)[]);

/** What narrows the powers of an agent must not be misspelt. @throws WritError `definition-invalid` */
export function checkAsTool(options: AsToolOptions, agent: string): void {
  const where = `asTool() of agent "${agent}"`;
  const unknown = Object.keys(options).find((field) => !known.has(field));
  if (unknown !== undefined)
    throw new WritError("definition-invalid", {
      where,
      reason: `there is no option "${unknown}": ${[...known].join(", ")}.`,
    });
  const { allow = [], deny = [] } = options;
  if (!Array.isArray(allow) || !Array.isArray(deny))
    throw new WritError("definition-invalid", { where, reason: "`allow` and `deny` are lists of names." });
}

/** @throws WritError `definition-invalid` when an answer has room for words */
function checkFresh(agent: string, outputs: Behind["outputs"]): void {
  if (outputs.length > 0 && outputs.every((output) => output !== undefined && saysLittle(output.jsonSchema)))
    return;
  const reason =
    "`fresh` needs an output schema that has room for numbers, truth values and choices alone (enum, const, boolean, number).";
  throw new WritError("definition-invalid", { where: `asTool() of agent "${agent}"`, reason });
}

/** Keywords beside which {@link saysLittle} sees all that a schema admits: a schema with any other is taken for one with room for words. */
const plainKeywords: ReadonlySet<string> = new Set(
  [
    "type const enum properties required additionalProperties items minItems maxItems uniqueItems",
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
    "$schema $comment title description default examples deprecated",
  ].flatMap((names) => names.split(" ")),
);

/** Whether values of a schema have no room for words. */
function saysLittle(schema: Json | undefined): boolean {
  if (!isJsonObject(schema) || !Object.keys(schema).every((keyword) => plainKeywords.has(keyword)))
    return false;
  const { type, properties, items, additionalProperties, maxItems } = schema;
  if (schema["const"] !== undefined || Array.isArray(schema["enum"])) return true;
  if (type === "boolean" || type === "number" || type === "integer" || type === "null") return true;
  if (type === "array") return typeof maxItems === "number" && saysLittle(items);
  if (type !== "object" || additionalProperties !== false || !isJsonObject(properties)) return false;
  return Object.values(properties).every(saysLittle);
}

/** Which tools are left inside: those that `allow` names, without those that `deny` names. Undefined leaves all. */
function allowedInside(
  name: string,
  { allow, deny = [], skills }: AsToolOptions & Behind,
): readonly string[] | undefined {
  const own = new Set(skills.flatMap(({ tools }) => tools));
  const unknown = [...(allow ?? []), ...deny].find((tool) => !own.has(tool));
  if (unknown !== undefined)
    throw new WritError("tool-unknown", {
      where: `asTool() of agent "${name}"`,
      name: unknown,
      known: [...own].join(", ") || "none",
    });
  if (allow === undefined && deny.length === 0) return undefined;
  return (allow ?? [...own]).filter((tool) => !deny.includes(tool));
}

import { WritError } from "../error/writ-error.ts";
import type { Schema } from "../schema/schema.ts";
import { toSchema } from "../schema/to-schema.ts";
import { checkToolName, type Effect, type Tool } from "../tool/tool.ts";
import type { Runnable } from "./runnable.ts";

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
}

/** What is known of the agent behind the tool. */
interface Behind {
  readonly input?: Schema;
  readonly skills: readonly { readonly tools: readonly string[] }[];
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
  const tools = allowedInside(agent.agentName, options);
  const takesObject = options.input?.jsonSchema["type"] === "object";
  const input =
    takesObject && options.input !== undefined ? options.input : toSchema(textInput, { name, role: "input" });
  return {
    name,
    description,
    input,
    effect,
    timeoutMs,
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
}

const known: ReadonlySet<string> = new Set([
  "name",
  "description",
  "allow",
  "deny",
  "effect",
  "timeoutMs",
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

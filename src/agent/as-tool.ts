import { WritError } from "../error/writ-error.ts";
import { roomIn, type Room } from "../schema/room.ts";
import type { Schema } from "../schema/schema.ts";
import type { Capability } from "../tool/capability.ts";
import { checkToolName, type Effect, effectShape, timeoutShape, type Tool } from "../tool/tool.ts";
import { withFiles } from "../tool/with-files.ts";
import { checkShape, closed, unknownTool } from "../error/check-shape.ts";
import { anything, boolean, list, optional, type Shape, string } from "../util/shape.ts";
import { type AgentInside, setInside } from "./describe/manifest-origin.ts";
import { aboutOf, type Runnable } from "./runnable.ts";
import { toolInput, toolInputSchema } from "./tool-input.ts";
import type { JsonObject } from "../util/json.ts";

/** Options of an agent as a tool. */
export interface AsToolOptions {
  /** Default: the agent's name. */
  readonly name?: string;
  /** Default: the agent's description. */
  readonly description?: string;
  /** The only tools of the agent that it may call inside. */
  readonly allow?: readonly string[];
  /** Tools that it may not call inside, whatever `allow` says. */
  readonly deny?: readonly string[];
  /** The effect of a call on the world. Default: undeclared. */
  readonly effect?: Exclude<Effect, "undeclared">;
  readonly timeoutMs?: number;
  /**
   * Its answer says so little that what it read cannot speak through it: the output schema has room for 64 bits at most, in choices, truth values and
   * bounded numbers. What was read inside then stays inside. Which of these values it is, a stranger may still have chosen. Default: the answer is as
   * untrusted as what was read for it.
   */
  readonly fresh?: boolean;
}

/** The data of the agent behind the tool. */
interface Behind {
  readonly input?: Schema;
  readonly skills: readonly { readonly tools: readonly string[] }[];
  readonly outputs: readonly (Schema | undefined)[];
  readonly grants?: readonly Capability[];
}

/**
 * An agent as a tool. Each call is a run inside the one that calls: a conversation of its own, the caller's bounds and policy over it. What
 * the model is told is the answer alone; a run that does not answer is a failed call.
 *
 * @throws WritError `name-invalid`, `tool-unknown`
 */
export function agentAsTool(agent: Runnable, options: AsToolOptions & Behind): Tool {
  const { name = agent.name, description = agent.description, effect = "undeclared", timeoutMs } = options;
  checkToolName(name);
  if (options.fresh === true) checkFresh(agent.name, options.outputs);
  const tools = allowedInside(agent.name, options);
  const { inputOf } = toolInput(options.input);
  const made: Tool = {
    name,
    description,
    input: toolInputSchema(options.input, name),
    effect,
    timeoutMs,
    needs: options.grants,
    trusted: true, // what the runs inside have seen is joined to it
    isFresh: options.fresh,
    exclusiveKey: () => undefined,
    isAgent: true,
    retry: "always", // its own steps are recorded: those that may not happen twice do not
    async execute(args: JsonObject, { run: parent, signal }) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the input schema of the agent parses it
      const result = await agent.run(inputOf(args) as never, { parent, signal, tools });
      const { files } = result;
      if (result.outcome.type === "answered")
        return files.length === 0 ? result.output : withFiles(result.output, files);
      const reason = result.error?.message ?? result.outcome.type;
      const code = result.outcome.type === "exhausted" ? "delegation-exhausted" : "delegation-failed";
      throw new WritError(code, { name: agent.name, reason });
    },
  };
  const { inside = [{ name: agent.name }], keepsNoConversation: isComposed } = aboutOf(agent) ?? {};
  return setInside(
    made,
    inside.map((each) => ({ ...each, only: tools, ...(isComposed === true ? {} : asMade(each, options)) })),
  );
}

/** The origin of the agent, with the options of the tool that it became. */
function asMade({ madeOf }: AgentInside, options: AsToolOptions): Pick<AgentInside, "madeOf"> {
  if (madeOf === undefined) return {};
  const own = Object.entries(options).filter(([field]) => Object.hasOwn(fields, field));
  return { madeOf: { ...madeOf, options: Object.fromEntries(own) } };
}

const fields: { readonly [Field in keyof Required<AsToolOptions>]: Shape<unknown> } = {
  name: anything,
  description: optional(string),
  allow: optional(list(string)),
  deny: optional(list(string)),
  effect: effectShape,
  timeoutMs: timeoutShape,
  fresh: optional(boolean),
};
const shape = closed(fields);

/**
 * Checks the options: a misspelt one would not narrow the powers of the agent.
 *
 * @throws WritError `definition-invalid`
 */
export function checkAsTool(options: AsToolOptions, agent: string): void {
  checkShape(`asTool() of agent "${agent}"`, options, shape);
}

/** So much may come out of a fresh run in one answer: what eight letters say. */
const mostBits = 64;

/** @throws WritError `definition-invalid` when an answer can say more than a little */
function checkFresh(agent: string, outputs: Behind["outputs"]): void {
  const all = outputs.length === 0 ? [undefined] : outputs;
  const choice = { path: "the choice of who answers", bits: Math.log2(all.length) };
  const rooms = all.map((output) => [...roomIn(output?.jsonSchema), choice]);
  const large = rooms.find((room) => room.reduce((sum, { bits }) => sum + bits, 0) > mostBits);
  if (large === undefined) return;
  const parts = large.filter(({ bits }) => bits > 0).toSorted((one, other) => other.bits - one.bits);
  const more = parts.length > 3 ? ", …" : "";
  const reason = `\`fresh\` takes an answer with room for at most ${mostBits} bits in all. Here it is ${parts.slice(0, 3).map(roomText).join(", ")}${more}. Name choices (\`enum\`, truth values), bound numbers and lists, or leave \`fresh\` out: then the answer is as untrusted as what was read for it.`;
  throw new WritError("definition-invalid", { where: `asTool() of agent "${agent}"`, reason });
}

function roomText({ path, bits, wants }: Room): string {
  const part = path === "" ? "the answer" : path;
  const whole = Math.ceil(bits);
  if (bits < Infinity) return `${part} with ${whole} ${whole === 1 ? "bit" : "bits"}`;
  return `${part} without a bound${wants === undefined ? "" : ` (it wants ${wants})`}`;
}

/**
 * The tools that are left inside: those that `allow` names, without those that `deny` names. Undefined leaves
 * all.
 */
function allowedInside(
  name: string,
  { allow, deny = [], skills }: AsToolOptions & Behind,
): readonly string[] | undefined {
  const own = new Set(skills.flatMap(({ tools }) => tools));
  const unknown = [...(allow ?? []), ...deny].find((tool) => !own.has(tool));
  if (unknown !== undefined) throw unknownTool(`asTool() of agent "${name}"`, unknown, own);
  if (allow === undefined && deny.length === 0) return undefined;
  return (allow ?? [...own]).filter((tool) => !deny.includes(tool));
}

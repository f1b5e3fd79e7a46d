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
  /** The only tools of the agent that it may call as this tool. */
  readonly allow?: readonly string[];
  /** Tools that it may not call as this tool, even if `allow` names them. */
  readonly deny?: readonly string[];
  /** The effect of a call on the world. Default: undeclared. */
  readonly effect?: Exclude<Effect, "undeclared">;
  readonly timeoutMs?: number;
  /**
   * Declares that its answer says too little for a stranger's text to pass through: the output schema has room for at most 64 bits, in choices, booleans and
   * bounded numbers. It is then as trusted as the arguments, and as secret as what was read for it. A stranger may still have chosen which of these values it
   * is. Default: the answer is as untrusted as what was read for it.
   */
  readonly fresh?: boolean;
}

/** The facts about the agent behind the tool. */
interface Behind {
  readonly input?: Schema;
  readonly skills: readonly { readonly tools: readonly string[] }[];
  readonly outputs: readonly (Schema | undefined)[];
  readonly grants?: readonly Capability[];
}

/**
 * An agent as a tool. Each call is a run inside the calling run: a conversation of its own, under the caller's bounds and policy. The model
 * is told only the answer; a run that does not answer is a failed call.
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
    trusted: true, // the labels of the runs inside are joined to it
    isFresh: options.fresh,
    exclusiveKey: () => undefined,
    isAgent: true,
    retry: "always", // its own steps are recorded, and those that may not happen twice do not
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

/** The origin of the agent, with the options with which it became a tool. */
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
 * Checks the options: a misspelt one would leave the powers of the agent wide.
 *
 * @throws WritError `definition-invalid`
 */
export function checkAsTool(options: AsToolOptions, agent: string): void {
  checkShape(`asTool() of agent "${agent}"`, options, shape);
}

/** The most bits that one answer of a fresh run may carry: as much as eight letters. */
const mostBits = 64;

/** @throws WritError `definition-invalid` if an answer can carry too much */
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
 * The tools that may be called inside: those that `allow` names, without those that `deny` names. Undefined: all
 * tools.
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

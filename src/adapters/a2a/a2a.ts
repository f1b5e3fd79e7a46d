import { checkShape, fromOne, webAddress } from "../../error/check-shape.ts";
import { asRuntime } from "../../run/around.ts";
import { type Enforcement, enforcedTool } from "../../tool/enforcement.ts";
import type { ForeignToolWords } from "../../tool/foreign-tools.ts";
import { tool, type Tool, type ToolContext } from "../../tool/tool.ts";
import { map, object, optional, string } from "../../util/shape.ts";
import { nodePowers } from "../capability/node-powers.ts";
import { inTime } from "../mcp/in-time.ts";
import { withBoundedWords } from "../mcp/remote-call.ts";
import { type RemoteAgent, type Said, tell } from "./remote-agent.ts";

/**
 * An agent of somebody else, with the author's declarations about it. Anything left out stays undeclared.
 *
 * @example
 * ```ts
 * import type { A2aAgent } from "writ/a2a";
 *
 * export const travel: A2aAgent = {
 *   name: "travel",
 *   url: "https://agents.example/travel/",
 *   description: "Finds trains. Say from where, to where and when.",
 *   headers: { authorization: "Bearer made-for-this-agent" },
 *   effect: "read",
 * };
 * ```
 */
export interface A2aAgent extends ForeignToolWords {
  /** The author's name for the agent: the tool is called `a2a/NAME`. */
  readonly name: string;
  /** The address of its card, without `/.well-known/agent-card.json`. It ends with a slash if it has a path. */
  readonly url: string | URL;
  /** The description of the agent for the model. The model is not shown the description in its card. */
  readonly description: string;
  /** Headers for the origin of the address only. */
  readonly headers?: Readonly<Record<string, string>>;
}

const shape = object({
  name: string,
  url: webAddress,
  description: string,
  headers: optional(map(string)),
  timeoutMs: optional(fromOne),
});

/**
 * Makes a tool of an agent that speaks A2A 1.0 (JSON-RPC or HTTP+JSON): its input is a message, its result the agent's answer, as text or files. It sends
 * nothing to the agent before the first call. A task that wants input returns its message and its id, with which the model may go on. The tool gives the agent
 * no approval.
 *
 * The agent is a stranger: its answers are always untrusted, its effect is undeclared unless the author declares it, and calls need approval like those of such
 * tools. It is asked only at the origin of `url`: a card with another origin is an error, and redirects are not followed. Answers are bounded in size,
 * and a call in time (`timeoutMs`, default 60,000): the task is then cancelled, if it is known. A call that is repeated after a crash sends the same message
 * id. Needs the package `@a2a-js/sdk`.
 *
 * @throws WritError `definition-invalid`, `name-invalid`; a call fails with `peer-missing` if the package is absent
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { a2aTool } from "writ/a2a";
 *
 * const travel = a2aTool({ name: "travel", url: "https://agents.example/travel/", description: "Finds trains.", effect: "read" });
 * export const clerk = agent({ name: "clerk", model: "ollama/qwen2.5:7b", tools: [travel] });
 * ```
 */
export function a2aTool(agent: A2aAgent): Tool {
  checkShape("a2aTool()", agent, shape);
  const { name, url, description, headers = {}, timeoutMs = 60_000, ...words } = agent;
  const remote: RemoteAgent = { url: new URL(url), headers };
  const made = tool({
    ...words,
    name: `a2a/${name}`,
    description,
    inputSchema: said,
    ...(words.trusted === undefined ? { trusted: false } : {}),
    timeoutMs: timeoutMs + graceMs,
    async execute({ message, task }: Partial<Said>, { signal, idempotencyKey }: ToolContext) {
      const bounds = { timeoutMs, signal, what: `the agent ${name}` };
      const send = (stop: AbortSignal): ReturnType<typeof tell> =>
        tell(
          remote,
          { message: String(message), ...(task === undefined ? {} : { task }) },
          { messageId: idempotencyKey, signal: stop },
        );
      return asRuntime({ powers: nodePowers }, () => inTime(send, bounds)).catch((error: unknown) => {
        throw withBoundedWords(error);
      });
    },
  });
  return enforcedTool(made, enforcement);
}

/** The extra time before the runtime's own bound: the bound of the call comes first, and cancels the task. */
const graceMs = 2_000;

const said = {
  type: "object",
  properties: {
    message: {
      type: "string",
      minLength: 1,
      description: "What the agent is to do, in full: it knows nothing of this conversation",
    },
    task: { type: "string", description: "The id of a task of this agent that wants input" },
  },
  required: ["message"],
  additionalProperties: false,
} as const;

const enforcement = (): Enforcement => ({
  level: "remote",
  mechanism: "a2a",
  platform: process.platform,
  probes: [],
});

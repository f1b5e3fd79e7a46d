import { type ExecuteRequest, executeWith } from "../agent/execute-calls.ts";
import { type LoopDefinition, loopWith } from "../agent/run-loop.ts";
import type { RunResult } from "../agent/runnable.ts";
import type { RunOptions } from "../agent/run-options.ts";
import type { AgentEvent } from "../event/event.ts";
import type { ResultMessage } from "../message/message.ts";
import { nodeHost } from "./clock.ts";
import { resolveModel } from "./model/resolve.ts";

/**
 * Carries out calls without a model. It decides about each call (allow-list, hooks, arguments, policy, a person), runs calls at the same time where they
 * may, and returns one result a call, in the order of the calls. It never throws for a mistake of a model or a tool: every end is a result.
 *
 * @throws WritError `definition-invalid` for a call of `execute` in another form and for calls that share an id,
 * `name-taken`, `budget-invalid`, `tool-unknown`
 * @example
 * ```ts
 * import { tool } from "writ";
 * import { chat, execute, userMessage } from "writ/doors";
 *
 * const now = tool({ name: "now", description: "The time", inputSchema: { type: "object" }, execute: () => new Date().toISOString() });
 * const question = userMessage("What time is it?");
 * const reply = await chat({ model: "ollama/qwen2.5:7b", messages: [question], tools: [now] });
 * const results = await execute({ calls: reply.calls, tools: [now] });
 * const messages = [question, reply.message, ...results];
 * const answer = await chat({ model: "ollama/qwen2.5:7b", messages, tools: [now] });
 * console.log(answer.text);
 * ```
 */
export function execute(request: ExecuteRequest): Promise<ResultMessage[]> {
  return executeWith(request, nodeHost);
}

/**
 * Runs the turn cycle alone, from a transcript of your own. It returns the same generator as an agent's `stream`; the generator's return value has the
 * transcript to continue with.
 *
 * @throws WritError the errors of `agent()`, and `transcript-invalid` if calls in the transcript have no result
 * @example
 * ```ts
 * import { tool } from "writ";
 * import { loop, readTranscript, userMessage } from "writ/doors";
 *
 * const roll = tool({ name: "roll", description: "Roll a die", inputSchema: { type: "object" }, execute: () => 4 });
 * const transcript = readTranscript({ messages: [{ role: "system", text: "Be brief." }, userMessage("Roll twice.")] });
 * for await (const event of loop({ model: "ollama/qwen2.5:7b", tools: [roll], transcript })) console.log(event.type);
 * ```
 */
export function loop(
  definition: LoopDefinition,
  options: RunOptions = {},
): AsyncGenerator<AgentEvent, RunResult<unknown>> {
  return loopWith(definition, options, { host: nodeHost, resolveModel });
}

import { list, record } from "../../util/shape.ts";
import { checkArguments } from "../../error/check-shape.ts";
import { callsOf, isAsked, type Message, textOf } from "../../message/message.ts";
import type { ScriptReply } from "./stand-in-model.ts";

/**
 * Makes a script of the replies of a model in a real run, after the last message of the user: `simulate()` plays it as it is, and with changes. Calls that
 * the provider carried out itself are left out.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { fakeTool, recordedScript, scripted, simulate } from "writ/testing";
 *
 * const find = fakeTool("find", "42", { inputSchema: { type: "object", properties: { what: { type: "string" } } } });
 * const model = scripted([{ calls: [{ name: "find", arguments: { what: "the answer" } }] }, "It is 42."]);
 * const finder = agent({ name: "finder", model, tools: [find] });
 * const { transcript } = await finder.run("What is it?"); // in truth: a run of a real model
 * const { failure } = await simulate(finder, { script: recordedScript(transcript.messages), schedules: 100 });
 * console.log(failure?.message);
 * ```
 */
export function recordedScript(messages: readonly Message[]): readonly ScriptReply[] {
  checkArguments("recordedScript()", { messages }, { messages: list(record, "a list of messages") });
  return messages.slice(messages.findLastIndex(isAsked) + 1).flatMap((message): readonly ScriptReply[] => {
    if (message.role !== "assistant") return [];
    const calls = callsOf(message).map(({ name, arguments: args }) => ({ name, arguments: args }));
    return [calls.length > 0 ? { calls } : textOf(message)];
  });
}

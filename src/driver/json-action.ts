import type { ResultMessage, ToolCall } from "../message/message.ts";
import { isJsonObject, type JsonObject, parseJson } from "../util/json.ts";
import { lenientJson } from "../util/lenient-json.ts";
import { visibleJson } from "../util/visible-json.ts";
import type { JsonSettings } from "./json-settings.ts";
import {
  protocolGrammar,
  protocolInstructions,
  protocolSchema,
  readProtocol,
  readProtocolObject,
} from "./json-protocol.ts";
import { asChat, inWords, resend } from "./text-chat.ts";
import type { TextProtocol, TextReading } from "./text-protocol.ts";

/** The dialect `action`: one object a reply, a call or the answer. */
export function actionProtocol({ show, resultRole, maxRetries, ...bounds }: JsonSettings): TextProtocol {
  return {
    name: "json",
    maxRetries,
    conversation: asChat(
      (shaping) => protocolInstructions(shaping, show),
      inWords({
        calls: actionCalls,
        answer: (content) => JSON.stringify({ final: { content } }),
        result: resultObject,
        resultRole,
      }),
    ),
    format: {
      schema: (shape) => protocolSchema(shape, bounds.maxThought),
      grammar: (shape) => protocolGrammar(shape, bounds.maxThought),
    },
    read: (text) => readProtocol(text, bounds),
    feedback: resend("Send it again as exactly one JSON object and nothing else."),
    partialAnswer(partial) {
      const final = isJsonObject(partial) ? partial["final"] : undefined;
      return isJsonObject(final) ? final["content"] : undefined;
    },
  };
}

/** The calls of a reply that another driver read. */
function actionCalls(calls: readonly ToolCall[]): string {
  return calls
    .map(({ name, arguments: args }) => JSON.stringify({ action: { tool: name, args } }))
    .join("\n");
}

/** The result of a call as one JSON object, so that the model sees the form it is asked to keep. */
export function resultObject({ name, status, text }: ResultMessage): string {
  const parsed = parseJson(text);
  const told =
    status === "ok" ? { tool: name, result: parsed.ok ? parsed.value : text } : { tool: name, error: text };
  return visibleJson(JSON.stringify(told));
}

/**
 * Reads what is left when a reply says no call in any form: an object of the protocol in other text, or an answer in words. Words with braces
 * in them are no answer: they may be a call that could not be read.
 */
export function mendAction(bounds: JsonSettings): (text: string) => TextReading | undefined {
  return (text) => {
    const found = lenientJson(text);
    if (found.ok && isJsonObject(found.value)) return mended(found.value, bounds);
    if (/[{}]/.test(text)) return undefined;
    return { type: "final", content: text, repairs: ["the answer stood outside of the protocol's object"] };
  };
}

function mended(object: JsonObject, bounds: JsonSettings): TextReading | undefined {
  const read = readProtocolObject(object, bounds);
  return read.type === "final"
    ? { ...read, repairs: ["the protocol's object was taken out of the text around it"] }
    : undefined;
}

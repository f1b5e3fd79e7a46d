import { callsOf, type ReplyMessage, type ResultMessage, textOf } from "../message/message.ts";
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
  resendRequest,
} from "./json-protocol.ts";
import { shapeFormat } from "./reply-shape.ts";
import type { TextProtocol, TextReading } from "./text-driver.ts";

/** The dialect `action`: one object a reply, a call or the answer. */
export function actionProtocol({ show, resultRole, maxRetries, ...bounds }: JsonSettings): TextProtocol {
  return {
    name: "json",
    maxRetries,
    resultRole,
    instructions: (turn) => protocolInstructions(turn, show),
    format: shapeFormat({
      schema: (shape) => protocolSchema(shape, bounds.maxThought),
      grammar: (shape) => protocolGrammar(shape, bounds.maxThought),
    }),
    read: (text) => readProtocol(text, bounds),
    words: actionWords,
    result: resultObject,
    feedback: resendRequest,
  };
}

/** A reply that another driver made. */
function actionWords(message: ReplyMessage): string {
  const calls = callsOf(message);
  if (calls.length === 0) return JSON.stringify({ final: { content: textOf(message) } });
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

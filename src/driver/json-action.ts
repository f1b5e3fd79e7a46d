import type { ResultMessage, ToolCall } from "../message/message.ts";
import { isJsonObject, type JsonObject, visibleJson } from "../util/json.ts";
import { lenientObject } from "../util/lenient-json.ts";
import { framedAnswer } from "./framed-answer.ts";
import type { JsonSettings } from "./json-settings.ts";
import {
  protocolGrammar,
  protocolInstructions,
  protocolSchema,
  readProtocol,
  readProtocolObject,
  shortThought,
} from "./json-protocol.ts";
import { toldResult } from "./mark-results.ts";
import { insideFence, oneObject } from "./one-object.ts";
import { asChat, inWords, resend } from "./text-chat.ts";
import type { TextProtocol, TextReading } from "./text-protocol.ts";

/** The dialect `action`: one object per reply, a call or the answer. */
export function actionProtocol(settings: JsonSettings): TextProtocol {
  const { show, resultRole, maxRetries, ...bounds } = settings;
  return {
    name: "json",
    maxRetries,
    conversation: asChat(
      (shaping) => protocolInstructions(shaping, show),
      inWords({
        calls: actionCalls,
        answer: (content) => JSON.stringify({ final: { content } }),
        result: resultObject,
        again: (raw) => withShortThought(raw, bounds.maxThought),
        resultRole,
      }),
    ),
    format: {
      schema: (shape) => protocolSchema(shape, bounds.maxThought),
      grammar: (shape) => protocolGrammar(shape, bounds.maxThought),
    },
    read: (text) => readProtocol(text, bounds),
    feedback: resend("Send it again as exactly one JSON object and nothing else."),
    answerText: framedAnswer(settings),
    partialAnswer(partial) {
      const final = isJsonObject(partial) ? partial["final"] : undefined;
      return isJsonObject(final) ? final["content"] : undefined;
    },
  };
}

/** The text for the calls of a reply that another driver read. */
function actionCalls(calls: readonly ToolCall[]): string {
  return calls
    .map(({ name, arguments: args }) => JSON.stringify({ action: { tool: name, args } }))
    .join("\n");
}

/** A reply as the model is shown it again: with its thought cut to the bound. */
function withShortThought(raw: string, maxThought: number): string {
  const read = oneObject(insideFence(raw) ?? raw);
  const thought = read.ok ? read.value["thought"] : undefined;
  if (!read.ok || typeof thought !== "string" || thought.length <= maxThought) return raw;
  return JSON.stringify({ ...read.value, thought: shortThought(thought, maxThought) });
}

/** The result of a call as one JSON object, so that the model sees the form that it has to keep. */
export function resultObject(message: ResultMessage): string {
  const { mark, value } = toldResult(message);
  const told = message.status === "ok" ? { result: value } : { error: value };
  return visibleJson(JSON.stringify({ tool: message.name, ...mark, ...told }));
}

/**
 * Reads the rest if a reply has no call in any form: an object of the protocol inside other text, or an answer in words. Words with braces
 * are not an answer: they may be an unreadable call.
 */
export function mendAction(bounds: JsonSettings): (text: string) => TextReading | undefined {
  return (text) => {
    const found = lenientObject(text);
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

import type { Message, ReplyMessage, ReplyPart, ResultMessage, SystemMessage } from "../message/message.ts";
import { textOf, userMessage } from "../message/message.ts";
import type { Reply } from "../model/assemble.ts";
import { isJsonObject, parseJson } from "../util/json.ts";
import type { Driver, Reading, TurnInput } from "./driver.ts";
import {
  protocolGrammar,
  protocolInstructions,
  protocolSchema,
  readProtocol,
  resendRequest,
} from "./json-protocol.ts";
import { heldToShape, shapeFormat } from "./reply-shape.ts";

/** How the JSON driver speaks. */
export interface JsonDriverOptions {
  /** The role in which a result goes back. Chat templates of models without tools often refuse `tool`. Default `user`. */
  readonly resultRole?: "user" | "tool";
}

/**
 * Makes the driver for models without native calls: the strict one-object protocol in the prompt, held by a grammar or a schema where the
 * model can be constrained while it writes.
 *
 * @example
 * ```ts
 * import { agent, jsonDriver } from "writ";
 *
 * export const plain = agent({
 *   name: "plain",
 *   instructions: "Answer briefly.",
 *   model: () => '{"final": {"content": "hello"}}',
 *   driver: jsonDriver({ resultRole: "tool" }),
 * });
 * ```
 */
export function jsonDriver(options: JsonDriverOptions = {}): Driver {
  const { resultRole = "user" } = options;
  const encode = encoder(resultRole);
  return {
    name: "json",
    passthrough: false,
    toolName: (name) => name,
    request(turn) {
      const messages = turn.transcript.messages.map((message) => encode(message, turn));
      return { messages, tools: [], toolChoice: "none", settings: turn.settings, format: formatOf(turn) };
    },
    read: (reply, turn) => heldToShape(readReply(reply), turn),
    partialAnswer(partial) {
      const final = isJsonObject(partial) ? partial["final"] : undefined;
      return isJsonObject(final) ? final["content"] : undefined;
    },
  };
}

/** What the reply is held to, when the model can be constrained. */
const formatOf = shapeFormat({ schema: protocolSchema, grammar: protocolGrammar });

function readReply(reply: Reply): Reading {
  const raw = textOf(reply.message);
  const others = reply.message.parts.filter((part) => part.type !== "text" && part.type !== "tool-call");
  const read = readProtocol(raw);
  const message = (parts: readonly ReplyPart[]): ReplyMessage => ({
    role: "assistant",
    parts: [...others, ...parts],
    raw,
  });
  if (read.type === "violation") {
    const reason =
      reply.finishReason === "length" ? "it was cut off at the token limit; write less" : read.reason;
    const text = raw.trim() === "" ? "(empty)" : raw;
    return {
      type: "violation",
      message: message([{ type: "text", text }]),
      reason,
      feedback: resendRequest(reason),
    };
  }
  const thought: ReplyPart[] = read.thought === undefined ? [] : [{ type: "reasoning", text: read.thought }];
  if (read.type === "final") {
    const text = typeof read.content === "string" ? read.content : JSON.stringify(read.content);
    return { type: "final", message: message([...thought, { type: "text", text }]), content: read.content };
  }
  const call: ReplyPart = { type: "tool-call", id: "", name: read.tool, arguments: read.args };
  return { type: "calls", message: message([...thought, call]) };
}

/** The message as the model sees it; the same object for the same message. */
function encoder(resultRole: "user" | "tool"): (message: Message, turn: TurnInput) => Message {
  const encoded = new WeakMap<Message, Message>();
  return (message, turn) => {
    let result = encoded.get(message);
    if (result === undefined) encoded.set(message, (result = encodeMessage(message, turn, resultRole)));
    return result;
  };
}

function encodeMessage(message: Message, turn: TurnInput, resultRole: "user" | "tool"): Message {
  if (message.role === "system") return withProtocol(message, turn);
  if (message.role === "assistant")
    return { role: "assistant", parts: [{ type: "text", text: message.raw ?? wordsOf(message) }] };
  if (message.role !== "tool") return message;
  const text = resultText(message);
  return resultRole === "user" ? userMessage(text) : { ...message, text };
}

function withProtocol(message: SystemMessage, { allowed, output }: TurnInput): SystemMessage {
  const blocks = [message.text, protocolInstructions(allowed, output)];
  return { role: "system", text: blocks.filter((text) => text !== "").join("\n\n") };
}

/** A reply that another driver made, in the words of this protocol. */
function wordsOf(message: ReplyMessage): string {
  const call = message.parts.find((part) => part.type === "tool-call");
  if (call === undefined) return JSON.stringify({ final: { content: textOf(message) } });
  return JSON.stringify({ action: { tool: call.name, args: call.arguments } });
}

/** The result of a call as one JSON object, so that the model sees the protocol it is asked to keep. */
function resultText(message: ResultMessage): string {
  const parsed = message.status === "ok" ? parseJson(message.text) : undefined;
  const result = parsed?.ok === true ? parsed.value : message.text;
  return JSON.stringify(
    message.status === "ok" ? { tool: message.name, result } : { tool: message.name, error: result },
  );
}

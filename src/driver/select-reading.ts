import { type ReplyMessage, type ReplyPart, textOf } from "../message/message.ts";
import type { Reply } from "../model/assemble.ts";
import type { Tool } from "../tool/tool.ts";
import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";
import type { Reading, TurnInput } from "./driver.ts";
import { insideFence } from "./fence.ts";
import { matchTool } from "./match-tool.ts";
import { oneObject } from "./one-object.ts";
import { choiceOf } from "./select-protocol.ts";

/** Reads a reply that chooses a tool or answers; a bare name, a fence and an answer in words are read too. Never throws. */
export function readChoice(reply: Reply, turn: TurnInput): Reading {
  const { allowed } = turn;
  const raw = textOf(reply.message);
  if (raw.trim() === "") return violation(reply, "it is empty");
  const { text, repairs } = unfenced(raw);
  const read = oneObject(text);
  if (read.ok) return chosen(reply, { object: read.value, repairs }, turn);
  if (/[{}]/.test(text)) return violation(reply, read.reason);
  const tool = text.length > longestName ? undefined : allowed.tools.get(matchTool(nameIn(text), allowed));
  if (tool !== undefined) return choice(reply, tool, turn);
  return {
    type: "final",
    message: messageOf(reply, { type: "text", text }),
    content: text,
    repairs: ["the answer stood outside of the protocol's object"],
  };
}

/** A longer text is no name alone. */
const longestName = 200;

/** A name alone, as models write it. */
function nameIn(text: string): string {
  return text.replace(/^tool\s*:\s*/i, "").replaceAll(/^["'`]+|["'`.]+$/g, "");
}

interface Written {
  readonly object: JsonObject;
  readonly repairs: readonly string[];
}

function chosen(reply: Reply, { object, repairs }: Written, turn: TurnInput): Reading {
  const { allowed } = turn;
  const { tool: name, answer } = object;
  if (typeof name === "string" && answer === undefined) {
    const tool = allowed.tools.get(matchTool(name, allowed));
    const given = object["arguments"] ?? object["args"];
    if (isJsonObject(given) || tool === undefined || takesNothing(tool))
      return callReading(
        reply,
        { name: tool?.name ?? name, args: isJsonObject(given) ? given : {} },
        repairs,
      );
    return choice(reply, tool, turn);
  }
  const isEmpty =
    answer === undefined || answer === null || (typeof answer === "string" && answer.trim() === "");
  if (name !== undefined || isEmpty)
    return violation(reply, 'it must have either "tool", the name of a tool, or "answer"');
  const text = typeof answer === "string" ? answer : JSON.stringify(answer);
  const message = messageOf(reply, { type: "text", text });
  return { type: "final", message, content: answer, ...repairsOf(repairs) };
}

/** Reads a reply that gives the arguments of a tool. Never throws. */
export function readArguments(reply: Reply, tool: Tool): Reading {
  const { text, repairs } = unfenced(textOf(reply.message));
  const read = oneObject(text);
  if (!read.ok || reply.finishReason === "length") return violation(reply, read.ok ? "" : read.reason, tool);
  const inner = wrapped(read.value, tool);
  const args = inner ?? read.value;
  const mended = inner === undefined ? repairs : [...repairs, "the arguments stood in a whole call"];
  return callReading(reply, { name: tool.name, args }, mended);
}

/** Some models write the whole call once more. */
function wrapped(value: JsonObject, { input }: Tool): JsonObject | undefined {
  const { properties } = input.jsonSchema;
  const own = isJsonObject(properties) ? properties : {};
  const isCall = Object.keys(value).every((key) => ["tool", "name", "arguments", "args"].includes(key));
  const args = value["arguments"] ?? value["args"];
  return isCall && isJsonObject(args) && !Object.hasOwn(own, "arguments") && !Object.hasOwn(own, "args")
    ? args
    : undefined;
}

/** A schema that names no argument, and is open to none. */
function takesNothing({ input }: Tool): boolean {
  const { type, properties, additionalProperties } = input.jsonSchema;
  return (
    type === "object" &&
    isJsonObject(properties) &&
    Object.keys(properties).length === 0 &&
    additionalProperties === false
  );
}

/** Half a call; where no tool may be called it counts as one, and is refused as that. */
function choice(reply: Reply, tool: Tool, { toolChoice }: TurnInput): Reading {
  if (toolChoice === "none") return callReading(reply, { name: tool.name, args: {} }, []);
  if (reply.finishReason === "length") return violation(reply, "");
  return { type: "pending", message: messageOf(reply, { type: "text", text: choiceOf(tool.name) }) };
}

function callReading(
  reply: Reply,
  { name, args }: { readonly name: string; readonly args: Json },
  repairs: readonly string[],
): Reading {
  if (reply.finishReason === "length") return violation(reply, "");
  const call: ReplyPart = { type: "tool-call", id: "", name, arguments: args };
  const message = { ...messageOf(reply, call), raw: textOf(reply.message) };
  return { type: "calls", message, ...repairsOf(repairs) };
}

function repairsOf(repairs: readonly string[]): { readonly repairs?: readonly string[] } {
  return repairs.length === 0 ? {} : { repairs };
}

function violation(reply: Reply, fault: string, tool?: Tool): Reading {
  const raw = textOf(reply.message);
  const isCut = reply.finishReason === "length";
  const reason = isCut ? "it was cut off at the token limit; write less" : fault;
  const wanted =
    tool === undefined
      ? 'Reply with {"tool": "<name>"} or {"answer": …} and nothing else.'
      : `Choose again: {"tool": ${JSON.stringify(tool.name)}}, another tool, or {"answer": …}.`;
  const words = raw.trim() === "" ? "(empty)" : raw;
  const asked = tool === undefined ? words : choiceOf(tool.name);
  return {
    type: "violation",
    message: { ...messageOf(reply, { type: "text", text: asked }), raw: words },
    reason,
    feedback: `Your reply was not accepted: ${reason}. ${wanted}`,
  };
}

function messageOf({ message }: Reply, part: ReplyPart): ReplyMessage {
  const others = message.parts.filter(({ type }) => type !== "text" && type !== "tool-call");
  return { role: "assistant", parts: [...others, part] };
}

/** A reply that is a code block and nothing else, without its fences. */
function unfenced(raw: string): { readonly text: string; readonly repairs: readonly string[] } {
  const inner = insideFence(raw);
  return inner === undefined
    ? { text: raw.trim(), repairs: [] }
    : { text: inner, repairs: ["the code fence around the reply was taken off"] };
}

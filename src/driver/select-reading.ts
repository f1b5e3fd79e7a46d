import { mapAt } from "../schema/keywords.ts";
import type { Tool } from "../tool/tool.ts";
import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";
import type { TurnInput } from "./driver.ts";
import { insideFence, oneObject } from "./one-object.ts";
import { matchTool } from "./match-tool.ts";
import { choiceOf } from "./select-protocol.ts";
import { type TextReading, violation } from "./text-protocol.ts";

/** Reads a reply that chooses a tool or answers; accepts a bare name, a fence and an answer in words too. Never throws. */
export function readChoice(written: string, turn: TurnInput): TextReading {
  const { allowed } = turn;
  const { text, repairs } = unfenced(written);
  const read = oneObject(text, ({ tool }) => tool === undefined);
  if (read.ok) return chosen(read.value, repairs, turn);
  if (/[{}]/.test(text)) return violation(read.reason);
  const tool = text.length > longestName ? undefined : allowed.tools.get(matchTool(nameIn(text), allowed));
  return tool === undefined
    ? answer(text, ["the answer stood outside of the protocol's object"])
    : choice(tool, turn);
}

/** The longest text that can be just a name. */
const longestName = 200;

/** The bare name in a text, as models write it. */
function nameIn(text: string): string {
  return text.replace(/^tool\s*:\s*/i, "").replaceAll(/^["'`]+|["'`.]+$/g, "");
}

/** Reads an object. With a schema, an answer may be empty or null if the schema permits that. */
function chosen(object: JsonObject, repairs: readonly string[], turn: TurnInput): TextReading {
  const { tool: name, answer: content } = object;
  if (typeof name === "string" && content === undefined) {
    const tool = turn.allowed.tools.get(matchTool(name, turn.allowed));
    const given = object["arguments"] ?? object["args"];
    if (isJsonObject(given)) return call(name, given, repairs);
    return tool === undefined || takesNothing(tool) ? call(name, {}, repairs) : choice(tool, turn);
  }
  const isEmpty = content === null || (typeof content === "string" && content.trim() === "");
  return name !== undefined || content === undefined || (isEmpty && turn.output === undefined)
    ? violation('it must have either "tool", the name of a tool, or "answer"')
    : answer(content, repairs);
}

/** The reading of a choice: half of a call. If no tool may be called it counts as a call, and is refused as one. */
function choice(tool: Tool, { toolChoice }: TurnInput): TextReading {
  return toolChoice === "none" ? call(tool.name, {}, []) : { type: "pending", text: choiceOf(tool.name) };
}

function call(name: string, args: JsonObject, repairs: readonly string[]): TextReading {
  return { type: "calls", calls: [{ name, arguments: args }], repairs };
}

function answer(content: Json, repairs: readonly string[]): TextReading {
  return { type: "final", content, unframed: true, repairs };
}

/** Reads a reply with the arguments of a tool. Never throws. */
export function readArguments(written: string, tool: Tool): TextReading {
  const { text, repairs } = unfenced(written);
  const read = oneObject(text);
  if (!read.ok) return violation(read.reason);
  const inner = wrapped(read.value, tool);
  const mended = inner === undefined ? repairs : [...repairs, "the arguments stood in a whole call"];
  return call(tool.name, inner ?? read.value, mended);
}

/** The arguments inside a whole call, which some models write once more. */
function wrapped(value: JsonObject, { input }: Tool): JsonObject | undefined {
  const own = mapAt(input.jsonSchema, "properties");
  const isCall = Object.keys(value).every((key) => ["tool", "name", "arguments", "args"].includes(key));
  const args = value["arguments"] ?? value["args"];
  return isCall && isJsonObject(args) && !Object.hasOwn(own, "arguments") && !Object.hasOwn(own, "args")
    ? args
    : undefined;
}

/** True for a schema without arguments that takes no others. */
function takesNothing({ input }: Tool): boolean {
  const { type, properties, additionalProperties } = input.jsonSchema;
  return (
    type === "object" &&
    isJsonObject(properties) &&
    Object.keys(properties).length === 0 &&
    additionalProperties === false
  );
}

/** A reply that is just a code block, without its fences. */
function unfenced(text: string): { readonly text: string; readonly repairs: readonly string[] } {
  const inner = insideFence(text);
  return inner === undefined
    ? { text, repairs: [] }
    : { text: inner, repairs: ["the code fence around the reply was taken off"] };
}

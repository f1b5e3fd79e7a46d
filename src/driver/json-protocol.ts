import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";
import { answerPlace, type ShownTools, toolList } from "./describe-type.ts";
import type { TurnInput } from "./driver.ts";
import { grammarFor, terminal } from "./grammar/grammar.ts";
import { closedObject, objectReplies } from "./object-replies.ts";
import { oneObject } from "./one-object.ts";
import { inputsOf, objectCalls } from "./plain-answer.ts";
import type { ReplyShape } from "./reply-shape.ts";
import { type TextReading, violation } from "./text-protocol.ts";

/** The treatment of a thought beyond the bound: it is cut, or the reply is refused. */
export type LongThought = "cut" | "refuse";

/** Bounds of a thought. */
export interface ThoughtBounds {
  readonly maxThought: number;
  readonly longThought: LongThought;
}

/**
 * Reads a reply of the strict protocol: exactly one JSON object, `{"thought"?, "action": {"tool", "args"}}` or
 * `{"final": {"content"}}`. After metal-kompanion's "Tool calling without native support". Prose around the object, fences, two objects or
 * unknown fields are violations. Never throws.
 */
export function readProtocol(text: string, bounds: ThoughtBounds): TextReading {
  if (text === "") return violation("it is empty");
  const read = oneObject(text, ({ action }) => action === undefined);
  return read.ok ? readProtocolObject(read.value, bounds) : violation(read.reason);
}

/** Reads the object of a reply. */
export function readProtocolObject(
  reply: JsonObject,
  { maxThought, longThought }: ThoughtBounds,
): TextReading {
  const unknown = Object.keys(reply).find((key) => !["thought", "action", "final"].includes(key));
  if (unknown !== undefined) return violation(`it has the unknown field "${unknown}"`);
  const { thought, action, final } = reply;
  if (thought !== undefined && typeof thought !== "string")
    return violation('"thought" must be a short text');
  if (thought !== undefined && thought.length > maxThought && longThought === "refuse")
    return violation(`"thought" has ${thought.length} characters, and may have ${maxThought}`);
  const note = thought === undefined ? {} : { thought: shortThought(thought, maxThought) };
  if (action !== undefined && final !== undefined) return violation('it has both "action" and "final"');
  if (final !== undefined) return readFinal(final, note);
  if (action !== undefined) return readAction(action, note);
  return violation('it has neither "action" nor "final"');
}

/** The beginning of a thought. No surrogate pair is cut in the middle. */
export function shortThought(thought: string, maxThought: number): string {
  return thought.slice(0, maxThought).replace(/[\ud800-\udbff]$/, "");
}

function readFinal(final: Json, note: { thought?: string }): TextReading {
  if (!isJsonObject(final) || !Object.hasOwn(final, "content"))
    return violation('"final" must be {"content": …}');
  return { type: "final", content: final["content"] ?? null, ...note };
}

function readAction(action: Json, note: { thought?: string }): TextReading {
  if (Array.isArray(action)) return violation('"action" must be one object: one call at a time');
  if (!isJsonObject(action)) return violation('"action" must be {"tool": …, "args": {…}}');
  const unknown = Object.keys(action).find((key) => key !== "tool" && key !== "args");
  if (unknown !== undefined) return violation(`"action" has the unknown field "${unknown}"`);
  const { tool, args = {} } = action;
  if (typeof tool !== "string" || tool === "") return violation('"action.tool" must be the name of a tool');
  if (!isJsonObject(args)) return violation('"action.args" must be a JSON object');
  return { type: "calls", calls: [{ name: tool, arguments: args }], ...note };
}

/**
 * Tells the model the protocol: the tools that it may call, with their schemas, and the form of its answer.
 */
export function protocolInstructions(
  { allowed, output }: Pick<TurnInput, "allowed" | "output">,
  show: ShownTools | undefined,
): string {
  const answer = answerPlace(output, "your answer");
  return [
    ...toolList(allowed, "args", show),
    [
      "Reply with exactly one JSON object and nothing else: no markdown, no commentary.",
      'To call a tool: {"thought": "<short note>", "action": {"tool": "<name>", "args": {…}}}',
      `To finish: {"final": {"content": ${answer}}}`,
      "One tool call in a reply; its result comes back to you, then you call again or finish.",
      "Never invent tool names or fields.",
    ].join("\n"),
  ].join("\n\n");
}

/** A JSON Schema of all replies that the protocol allows in this turn. */
export function protocolSchema(shape: ReplyShape, maxThought: number): JsonObject {
  const thought = { type: "string", maxLength: maxThought };
  return objectReplies(shape, {
    call: (name, args) =>
      closedObject({ thought, action: closedObject({ tool: { const: name }, args }) }, ["action"]),
    answer: (content) => closedObject({ final: closedObject({ content }) }),
  });
}

/** The grammar of all replies that the protocol allows in this turn. */
export function protocolGrammar({ tools, mayAnswer, output = {} }: ReplyShape, maxThought: number): string {
  const note = `(${terminal('"thought":')} "\\"" char{0,${maxThought}} "\\"" ",")?`;
  return grammarFor([output, ...inputsOf(tools)], ([content = "value", ...args]) => {
    const calls = objectCalls(tools, args, (name) => `{"tool":${name},"args":`);
    const action = `"{" ${note} ${terminal('"action":')} (${calls}) "}"`;
    const final = `${terminal('{"final":{"content":')} ${content} "}}"`;
    return [...(calls === "" ? [] : [action]), ...(mayAnswer ? [final] : [])].join(" | ");
  });
}

import type { AllowList } from "../policy/allow-list.ts";
import type { Schema } from "../schema/schema.ts";
import { isJsonObject, parseJson, type Json, type JsonObject } from "../util/json.ts";
import { bundleSchemas } from "./bundle-schemas.ts";
import { describeType } from "./describe-type.ts";
import { grammarFor, terminal } from "./grammar.ts";
import type { ReplyShape } from "./reply-shape.ts";

/**
 * The strict protocol: a reply is one JSON object and nothing else, `{"thought"?, "action": {"tool", "args"}}` or `{"final": {"content"}}`.
 * After metal-kompanion's "Tool calling without native support".
 */
export type ProtocolReply =
  | { readonly type: "action"; readonly tool: string; readonly args: Json; readonly thought?: string }
  | { readonly type: "final"; readonly content: Json; readonly thought?: string }
  | { readonly type: "violation"; readonly reason: string };

/** A thought is a short note: what is longer is cut off. */
export const maxThoughtLength = 200;

/** Reads a reply strictly: prose around the object, fences, two objects or unknown fields are violations. Never throws. */
export function readProtocol(text: string): ProtocolReply {
  const parsed = parseJson(text.trim());
  if (!parsed.ok) return violation(`it is not one JSON object (${parsed.reason})`);
  const reply = parsed.value;
  if (!isJsonObject(reply)) return violation("it is not a JSON object");
  const unknown = Object.keys(reply).find((key) => !["thought", "action", "final"].includes(key));
  if (unknown !== undefined) return violation(`it has the unknown field "${unknown}"`);
  const { thought, action, final } = reply;
  if (thought !== undefined && typeof thought !== "string")
    return violation('"thought" must be a short text');
  const note = thought === undefined ? {} : { thought: thought.slice(0, maxThoughtLength) };
  if (action !== undefined && final !== undefined) return violation('it has both "action" and "final"');
  if (final !== undefined) return readFinal(final, note);
  if (action !== undefined) return readAction(action, note);
  return violation('it has neither "action" nor "final"');
}

function readFinal(final: Json, note: { thought?: string }): ProtocolReply {
  if (!isJsonObject(final) || !Object.hasOwn(final, "content"))
    return violation('"final" must be {"content": …}');
  return { type: "final", content: final["content"] ?? null, ...note };
}

function readAction(action: Json, note: { thought?: string }): ProtocolReply {
  if (Array.isArray(action)) return violation('"action" must be one object: one call at a time');
  if (!isJsonObject(action)) return violation('"action" must be {"tool": …, "args": {…}}');
  const { tool, args } = action;
  if (typeof tool !== "string" || tool === "") return violation('"action.tool" must be the name of a tool');
  if (args !== undefined && !isJsonObject(args)) return violation('"action.args" must be a JSON object');
  return { type: "action", tool, args: args ?? {}, ...note };
}

function violation(reason: string): ProtocolReply {
  return { type: "violation", reason };
}

/** What the model is told of the protocol, with the names and schemas of the tools it may call and the form of its answer. */
export function protocolInstructions(allowed: AllowList, output?: Schema): string {
  const tools = [...allowed.tools.values()].map(
    (tool) => `- ${tool.name}: ${tool.description}\n  args: ${describeType(tool.input.jsonSchema)}`,
  );
  const answer = output === undefined ? "<your answer>" : `<your answer: ${describeType(output.jsonSchema)}>`;
  return [
    ...(tools.length === 0 ? [] : [`Available tools:\n${tools.join("\n")}`]),
    [
      "Reply with exactly one JSON object and nothing else: no markdown, no commentary.",
      'To call a tool: {"thought": "<short note>", "action": {"tool": "<name>", "args": {…}}}',
      `To finish: {"final": {"content": ${answer}}}`,
      "One tool call in a reply; its result comes back to you, then you call again or finish.",
      "Never invent tools or fields.",
    ].join("\n"),
  ].join("\n\n");
}

/** What the model is told when its reply was not accepted. */
export function resendRequest(reason: string): string {
  return `Your reply was not accepted: ${reason}. Send it again as exactly one JSON object and nothing else.`;
}

/** A name that no tool can have. */
const answerName = "$answer";

/** A JSON Schema of all replies that the protocol allows in this turn. */
export function protocolSchema({ tools, mayAnswer, output = {} }: ReplyShape): JsonObject {
  const inputs = tools.map(({ name, input }) => [name, input.jsonSchema] as const);
  const bundle = bundleSchemas({ ...Object.fromEntries(inputs), [answerName]: output });
  const replies = tools.map(({ name }) =>
    objectSchema(
      {
        thought: { type: "string", maxLength: maxThoughtLength },
        action: objectSchema({ tool: { const: name }, args: bundle.at(name) }, ["tool", "args"]),
      },
      ["action"],
    ),
  );
  if (mayAnswer)
    replies.push(
      objectSchema({ final: objectSchema({ content: bundle.at(answerName) }, ["content"]) }, ["final"]),
    );
  const [only = {}] = replies;
  return { ...(replies.length === 1 ? only : { anyOf: replies }), ...bundle.root };
}

function objectSchema(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}

/** The grammar of all replies that the protocol allows in this turn. */
export function protocolGrammar({ tools, mayAnswer, output = {} }: ReplyShape): string {
  const note = `(${terminal('"thought":')} "\\"" char{0,${maxThoughtLength}} "\\"" ",")?`;
  return grammarFor(
    [output, ...tools.map(({ input }) => input.jsonSchema)],
    ([content = "value", ...args]) => {
      const calls = tools.map(
        ({ name }, index) =>
          `${terminal(`{"tool":${JSON.stringify(name)},"args":`)} ${args[index] ?? "object"} "}"`,
      );
      const action = `"{" ${note} ${terminal('"action":')} (${calls.join(" | ")}) "}"`;
      const final = `${terminal('{"final":{"content":')} ${content} "}}"`;
      return [...(calls.length === 0 ? [] : [action]), ...(mayAnswer ? [final] : [])].join(" | ");
    },
  );
}

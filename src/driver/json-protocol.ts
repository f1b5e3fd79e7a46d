import { describeType } from "./describe-type.ts";
import { grammarFor, terminal } from "./grammar.ts";
import type { AllowList } from "../policy/allow-list.ts";
import { isJsonObject, parseJson, type Json, type JsonObject } from "../util/json.ts";

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

/** What the model is told of the protocol, with the names and schemas of the tools it may call. */
export function protocolInstructions(allowed: AllowList): string {
  const tools = [...allowed.tools.values()].map(
    (tool) => `- ${tool.name}: ${tool.description}\n  args: ${describeType(tool.input.jsonSchema)}`,
  );
  return [
    ...(tools.length === 0 ? [] : [`Available tools:\n${tools.join("\n")}`]),
    [
      "Reply with exactly one JSON object and nothing else: no markdown, no commentary.",
      'To call a tool: {"thought": "<short note>", "action": {"tool": "<name>", "args": {…}}}',
      'To finish: {"final": {"content": <your answer>}}',
      "One tool call in a reply; its result comes back to you, then you call again or finish.",
      "Never invent tools or fields.",
    ].join("\n"),
  ].join("\n\n");
}

/** What the model is told when its reply was not accepted. */
export function resendRequest(reason: string): string {
  return `Your reply was not accepted: ${reason}. Send it again as exactly one JSON object and nothing else.`;
}

/** A JSON Schema of all replies that the protocol allows with these tools; without them only the final answer is left. */
export function protocolSchema(allowed: AllowList, mayCall: boolean): JsonObject {
  const tools = mayCall ? [...allowed.tools.values()] : [];
  if (tools.length === 0) return finalSchema;
  const defs = tools
    .filter(({ input }) => refersToItself(input.jsonSchema))
    .map(({ name, input }) => [name, rebase(input.jsonSchema, `#/$defs/${name}`)] as const);
  const bundled = new Map(defs);
  const actions = tools.map(({ name, input }) =>
    actionSchema(name, bundled.has(name) ? { $ref: `#/$defs/${name}` } : input.jsonSchema),
  );
  return {
    anyOf: [...actions, finalSchema],
    ...(bundled.size === 0 ? {} : { $defs: Object.fromEntries(bundled) }),
  };
}

/** The grammar of all replies that the protocol allows with these tools. */
export function protocolGrammar(allowed: AllowList, mayCall: boolean): string {
  const tools = mayCall ? [...allowed.tools.values()] : [];
  const note = `(${terminal('"thought":')} "\\"" char{0,${maxThoughtLength}} "\\"" ",")?`;
  const final = `${terminal('{"final":{"content":')} value "}}"`;
  return grammarFor(
    tools.map(({ input }) => input.jsonSchema),
    (args) => {
      const calls = tools.map(
        ({ name }, index) =>
          `${terminal(`{"tool":${JSON.stringify(name)},"args":`)} ${args[index] ?? "object"} "}"`,
      );
      if (calls.length === 0) return final;
      return `"{" ${note} ${terminal('"action":')} (${calls.join(" | ")}) "}" | ${final}`;
    },
  );
}

function actionSchema(tool: string, args: JsonObject): JsonObject {
  return {
    type: "object",
    properties: {
      thought: { type: "string", maxLength: maxThoughtLength },
      action: {
        type: "object",
        properties: { tool: { const: tool }, args },
        required: ["tool", "args"],
        additionalProperties: false,
      },
    },
    required: ["action"],
    additionalProperties: false,
  };
}

const finalSchema: JsonObject = {
  type: "object",
  properties: {
    final: {
      type: "object",
      properties: { content: {} },
      required: ["content"],
      additionalProperties: false,
    },
  },
  required: ["final"],
  additionalProperties: false,
};

function refersToItself(schema: JsonObject): boolean {
  return JSON.stringify(schema).includes('"$ref"');
}

/** The schema as it stands under another root: its references go to where it is now. */
function rebase(value: Json, base: string): Json {
  if (Array.isArray(value)) return value.map((item: Json) => rebase(item, base));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, field]): [string, Json] => {
    const isReference = key === "$ref" && typeof field === "string" && field.startsWith("#");
    return [key, isReference ? `${base}${field.slice(1)}` : rebase(field, base)];
  });
  return Object.fromEntries(entries);
}

import { type AllowList, offeredTools } from "../policy/allow-list.ts";
import { listAt, mapAt } from "../schema/keywords.ts";
import type { Schema } from "../schema/schema.ts";
import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";

/** The depth below which schemas are shown as `any`, to keep prompts short. */
const maxDepth = 5;

/**
 * A JSON Schema as a type that models read well and that costs few tokens: `{ city: string, days?: integer (how many) }`.
 * Lossy on purpose: bounds and patterns are left to validation.
 */
export function describeType(schema: Json | undefined, depth = 0): string {
  if (!isJsonObject(schema) || depth > maxDepth) return "any";
  if (schema["const"] !== undefined) return JSON.stringify(schema["const"]);
  if (Array.isArray(schema["enum"])) return schema["enum"].map((value) => JSON.stringify(value)).join(" | ");
  const alternatives = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(alternatives))
    return alternatives.map((option: Json) => describeType(option, depth + 1)).join(" | ");
  const { type } = schema;
  if (Array.isArray(type))
    return type.map((name: Json) => describeType({ ...schema, type: name }, depth + 1)).join(" | ");
  if (type === "array") return `${itemType(schema["items"], depth + 1)}[]`;
  if (type === "object" || isJsonObject(schema["properties"])) return describeObject(schema, depth);
  return typeof type === "string" ? type : "any";
}

const choosing = ["enum", "anyOf", "oneOf", "type"];

/** The type of the items of a list. A union is in brackets: `"a" | "b"[]` would be the one, or a list of the other. */
function itemType(schema: Json | undefined, depth: number): string {
  const type = describeType(schema, depth);
  const choices = isJsonObject(schema) ? choosing.map((keyword) => schema[keyword]) : [];
  const isOneOfSeveral = choices.some((some) => Array.isArray(some) && some.length > 1);
  return isOneOfSeveral && type !== "any" ? `(${type})` : type;
}

/** The placeholder of an answer in a prompt: `<the answer>`, `<the answer: string[]>`. */
export function answerPlace(output: Schema | undefined, noun = "the answer"): string {
  return output === undefined ? `<${noun}>` : `<${noun}: ${describeType(output.jsonSchema)}>`;
}

/** The form of an answer without a frame around it. */
export function answerForm(output: Schema | undefined): string {
  return output === undefined ? "in words" : `with JSON and nothing else: ${describeType(output.jsonSchema)}`;
}

function describeObject(schema: JsonObject, depth: number): string {
  const properties = Object.entries(mapAt(schema, "properties"));
  const required = listAt(schema, "required");
  const fields = properties.map(([name, property]) => {
    const note =
      isJsonObject(property) && typeof property["description"] === "string"
        ? ` (${property["description"]})`
        : "";
    return `${name}${required.includes(name) ? "" : "?"}: ${describeType(property, depth + 1)}${note}`;
  });
  const all = [...fields, ...freeFields(schema, depth)];
  return all.length === 0 ? "{}" : `{ ${all.join(", ")} }`;
}

/** The fields with names that the model chooses: `[name: string]: number`. */
function freeFields(schema: JsonObject, depth: number): readonly string[] {
  const patterns = Object.entries(mapAt(schema, "patternProperties")).map(
    ([pattern, property]) => `[name: /${pattern}/]: ${describeType(property, depth + 1)}`,
  );
  const { additionalProperties: others = false, propertyNames: names } = schema;
  if (others === false) return patterns;
  const name = isJsonObject(names) ? describeType({ type: "string", ...names }, depth + 1) : "string";
  return [...patterns, `[name: ${name}]: ${describeType(others, depth + 1)}`];
}

/**
 * The form in which a prompt shows the arguments of tools: `types`, a short notation that models read well and that
 * leaves bounds and patterns to validation; or `schemas`, their exact JSON Schemas.
 */
export type ShownTools = "types" | "schemas";

/** The characters of schemas that fit into a prompt by default: about a quarter of the smallest contexts in use. */
const roomForSchemas = 4000;

/**
 * The part of a prompt that lists the tools; empty if there are none. If the author does not choose, schemas are
 * shown as long as all of them fit into a bounded part of the prompt, otherwise types.
 */
export function toolList(allowed: AllowList, label: string, show?: ShownTools): readonly string[] {
  const tools = offeredTools(allowed);
  if (tools.length === 0) return [];
  const schemas = tools.map(({ input }) => JSON.stringify(input.jsonSchema));
  const fit = schemas.reduce((sum, { length }) => sum + length, 0) <= roomForSchemas;
  const isWhole = (show ?? (fit ? "schemas" : "types")) === "schemas";
  const lines = tools.map(({ name, description, input }, index) => {
    const shown = isWhole ? schemas[index] : describeType(input.jsonSchema);
    return `- ${name}: ${description}\n  ${label}: ${shown}`;
  });
  return [`Available tools:\n${lines.join("\n")}`];
}

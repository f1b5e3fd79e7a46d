import { isJsonObject, type Json } from "../util/json.ts";

/** Deeper schemas are shown as `any`: a prompt is no place for more. */
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
  if (type === "array") return `${describeType(schema["items"], depth + 1)}[]`;
  if (type === "object" || isJsonObject(schema["properties"])) return describeObject(schema, depth);
  return typeof type === "string" ? type : "any";
}

function describeObject(schema: { readonly [key: string]: Json }, depth: number): string {
  const properties = isJsonObject(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  if (properties.length === 0) return "{}";
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const fields = properties.map(([name, property]) => {
    const note =
      isJsonObject(property) && typeof property["description"] === "string"
        ? ` (${property["description"]})`
        : "";
    return `${name}${required.includes(name) ? "" : "?"}: ${describeType(property, depth + 1)}${note}`;
  });
  return `{ ${fields.join(", ")} }`;
}

import type { JsonSchema } from "../../schema/schema.ts";
import { isJsonObject, type Json } from "../../util/json.ts";

/**
 * The JSON Schema of all values that contain `expected`: objects may have more fields, lists have the same
 * length, and `{ matches }` stands for a text that matches a pattern. So the judge of schemas also judges expectations,
 * in bounded time, and a fault names its place.
 */
export function valueSchema(expected: Json): JsonSchema {
  if (Array.isArray(expected)) {
    const entries: readonly Json[] = expected;
    const { length } = entries;
    return { type: "array", minItems: length, maxItems: length, prefixItems: entries.map(valueSchema) };
  }
  if (!isJsonObject(expected)) return { const: expected };
  const { matches, ...rest } = expected;
  if (typeof matches === "string" && Object.keys(rest).length === 0) return textSchema(matches);
  const properties = Object.fromEntries(
    Object.entries(expected).map(([name, value]) => [name, valueSchema(value)]),
  );
  return { type: "object", properties, required: Object.keys(expected) };
}

/** The JSON Schema of texts that match a pattern. */
export function textSchema(pattern: string): JsonSchema {
  return { type: "string", pattern };
}

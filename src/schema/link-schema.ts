import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";
import type { CheckedSchema } from "./check-schema.ts";
import { keywords, own } from "./keywords.ts";

/**
 * A schema reduced to what judges a value: no notes, no unknown keywords, no `$id` or anchors, and every reference is `#` or
 * `#/$defs/<number>`. What judges values is therefore all checked, whoever wrote the schema.
 */
export interface LinkedSchema {
  readonly schema: JsonObject;
  readonly hasDefaults: boolean;
  readonly hasPatterns: boolean;
}

/** Reduces a checked schema. Never throws. */
export function linkSchema({ root, targets }: CheckedSchema): LinkedSchema {
  const seen = new Set<string>();
  const definitions: Json[] = [];
  const referenceTo = (end: Json): JsonObject => {
    if (end === root) return { $ref: "#" };
    const known = definitions.indexOf(end);
    const index = known === -1 ? definitions.push(end) - 1 : known;
    return { $ref: `#/$defs/${index}` };
  };
  const reduce = (schema: Json): Json => (isJsonObject(schema) ? reduceObject(schema) : schema);
  const reduceObject = (schema: JsonObject): JsonObject => {
    const ends = (targets.get(schema) ?? []).map(referenceTo);
    const kept = Object.entries(schema).flatMap(([name, value]) => {
      const keyword = keywords.get(name);
      if (keyword === undefined || (keyword.judges === "nothing" && name !== "default")) return [];
      seen.add(name);
      return [[name, reduceHeld(keyword.holds, value)] as const];
    });
    return withReferences(Object.fromEntries(kept), ends);
  };
  const reduceHeld = (holds: "schema" | "schemas" | "schema-map" | "none", value: Json): Json => {
    if (holds === "schema") return reduce(value);
    if (holds === "schemas" && Array.isArray(value)) return value.map(reduce);
    if (holds !== "schema-map" || !isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, reduce(entry)]));
  };
  const schema = reduceObject(root);
  const $defs: Record<string, Json> = {};
  // Reducing a definition may find further ones, which lengthens the list that is walked here.
  for (const [index, end] of definitions.entries()) $defs[String(index)] = reduce(end);
  return {
    schema: definitions.length === 0 ? schema : { ...schema, $defs },
    hasDefaults: seen.has("default"),
    hasPatterns: seen.has("pattern") || seen.has("patternProperties"),
  };
}

/** A schema has one place for a reference: a second one (`$dynamicRef` beside `$ref`) stands in `allOf`. */
function withReferences(schema: JsonObject, [first, ...others]: readonly JsonObject[]): JsonObject {
  const allOf = own(schema, "allOf");
  const all = [...(Array.isArray(allOf) ? allOf : []), ...others];
  return { ...first, ...schema, ...(all.length === 0 ? {} : { allOf: all }) };
}

import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";
import type { CheckedSchema } from "./check-schema.ts";
import { keywords } from "./keywords.ts";

/** The keyword that counts steps into references; the validator gives it its meaning. */
export const stepKeyword = "writStep";

/**
 * A schema reduced to what judges a value: no notes, no unknown keywords, no `$id` or anchors, and every reference is `#` or
 * `#/$defs/<number>`. What the validator sees is therefore all checked, whoever wrote the schema.
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
    if (end === root) return { [stepKeyword]: true, $ref: "#" };
    const known = definitions.indexOf(end);
    const index = known === -1 ? definitions.push(end) - 1 : known;
    return { [stepKeyword]: true, $ref: `#/$defs/${index}` };
  };
  const reduce = (schema: Json): Json => {
    if (!isJsonObject(schema)) return schema;
    const ends = (targets.get(schema) ?? []).map(referenceTo);
    const kept = Object.entries(schema).flatMap(([name, value]) => {
      const keyword = keywords.get(name);
      if (keyword === undefined || (keyword.judges === "nothing" && name !== "default")) return [];
      seen.add(name);
      return [[name, reduceHeld(keyword.holds, value)] as const];
    });
    const [first, ...others] = ends;
    return complete({ ...first, ...Object.fromEntries(kept) }, others);
  };
  const reduceHeld = (holds: "schema" | "schemas" | "schema-map" | "none", value: Json): Json => {
    if (holds === "schema") return reduce(value);
    if (holds === "schemas" && Array.isArray(value)) return value.map(reduce);
    if (holds !== "schema-map" || !isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, reduce(entry)]));
  };
  const schema = reduce(root) as JsonObject;
  const $defs: Record<string, Json> = {};
  // Reducing a definition may find further ones, which lengthens the list that is walked here.
  for (const [index, end] of definitions.entries()) $defs[String(index)] = reduce(end);
  return {
    schema: definitions.length === 0 ? schema : { ...schema, $defs },
    hasDefaults: seen.has("default"),
    hasPatterns: seen.has("pattern") || seen.has("patternProperties"),
  };
}

/** ajv has no place for a second reference beside the first, and refuses an empty `enum`, which nothing fits. */
function complete(schema: JsonObject, others: readonly Json[]): JsonObject {
  const { enum: choices, allOf, ...rest } = schema;
  const isEmpty = Array.isArray(choices) && choices.length === 0;
  const all = [...(Array.isArray(allOf) ? allOf : []), ...others, ...(isEmpty ? [false] : [])];
  return {
    ...rest,
    ...(choices === undefined || isEmpty ? {} : { enum: choices }),
    ...(all.length === 0 ? {} : { allOf: all }),
  };
}

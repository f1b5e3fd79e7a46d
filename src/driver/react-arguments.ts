import { resolved } from "../schema/check-schema.ts";
import { typesAt } from "../schema/keywords.ts";
import { own, isJsonObject, type Json, type JsonObject } from "../util/json.ts";
import type { JsonSchema } from "../schema/schema.ts";

/** Arguments in their normal form, with the paths of what was removed, and of what their schema forbids. Both are paths of keys. */
export interface NormalArguments {
  readonly args: JsonObject;
  readonly dropped: readonly string[];
  readonly forbidden: readonly string[];
}

/**
 * Removes from arguments what small models add: keys that the schema does not name, and null for "not given" if the schema does not take
 * null; in nested objects and lists too. Anything that an open schema permits stays, and so does anything forbidden by `additionalProperties: false`: an
 * unknown argument (`dry_run`) may be meant. Defaults are filled in later, when the schema parses.
 */
export function normalizeArguments(args: JsonObject, schema: JsonSchema): NormalArguments {
  const found = { dropped: new Set<string>(), forbidden: new Set<string>() };
  const normal = normalize(args, schema, { root: schema, depth: 0, path: "", ...found });
  return {
    args: isJsonObject(normal) ? normal : args,
    dropped: [...found.dropped],
    forbidden: [...found.forbidden],
  };
}

interface Place {
  readonly root: JsonSchema;
  readonly depth: number;
  readonly path: string;
  readonly dropped: Set<string>;
  readonly forbidden: Set<string>;
}

/** The most references to follow: they can form a circle without a value. */
const maxDepth = 64;

function normalize(value: Json, given: Json | undefined, place: Place): Json {
  const { root, depth, path } = place;
  const schema = resolved(given, root);
  if (depth > maxDepth || schema === undefined) return value;
  const at = (key: string): Place => ({ ...place, depth: depth + 1, path: key });
  if (Array.isArray(value)) {
    const first = own(schema, "prefixItems");
    const rest = own(schema, "items");
    return value.map((entry: Json, index) =>
      normalize(entry, (Array.isArray(first) ? first[index] : undefined) ?? rest, at(path)),
    );
  }
  const properties = own(schema, "properties");
  if (!isJsonObject(value) || !isJsonObject(properties)) return value;
  const others = own(schema, "additionalProperties");
  const isOpen =
    (others !== undefined && others !== false) ||
    ["patternProperties", "allOf", "anyOf", "oneOf", "if"].some((keyword) => Object.hasOwn(schema, keyword));
  const entries = Object.entries(value).flatMap(([key, field]): [string, Json][] => {
    const inner = path === "" ? key : `${path}.${key}`;
    const property = own(properties, key) ?? (isOpen ? (others ?? true) : false);
    if (property !== false && (field !== null || takesNull(property, root)))
      return [[key, normalize(field, property, at(inner))]];
    if (property !== false || field === null || others !== false) {
      if (field !== null) place.dropped.add(inner);
      return [];
    }
    place.forbidden.add(inner);
    return [[key, field]];
  });
  return Object.fromEntries(entries);
}

/** True if null may be meant: a schema that does not list its types may take it. */
function takesNull(given: Json, root: JsonSchema, seen: Set<JsonObject> = new Set()): boolean {
  const schema = resolved(given, root);
  if (schema === undefined) return given !== false;
  if (seen.has(schema)) return false; // its answer was found at its first occurrence
  seen.add(schema);
  const choices = own(schema, "enum");
  if (Array.isArray(choices)) return choices.includes(null);
  const only = own(schema, "const");
  if (only !== undefined) return only === null;
  const alternatives = own(schema, "anyOf") ?? own(schema, "oneOf");
  if (Array.isArray(alternatives)) return alternatives.some((option: Json) => takesNull(option, root, seen));
  const types = typesAt(schema);
  return types.length === 0 || types.includes("null");
}

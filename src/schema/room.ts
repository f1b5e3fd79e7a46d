import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";

/** The room that a part of a value leaves to whoever writes the value. */
export interface Room {
  /** `codes[].id`; empty for the whole value. */
  readonly path: string;
  /** The base-2 logarithm of how many values there are for it, or a little more. Infinity where that is not bounded, or not known to be. */
  readonly bits: number;
  /** The change of the schema that would bound it. */
  readonly wants?: string;
}

/** Keywords beside which {@link roomIn} sees all that a schema admits. */
const plainKeywords: ReadonlySet<string> = new Set(
  [
    "type const enum properties required additionalProperties items minItems maxItems uniqueItems",
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
    "$schema $comment title description default examples deprecated",
  ].flatMap((names) => names.split(" ")),
);

/**
 * The room of the values of a schema, part by part: a text, a number without an end and a list without an end
 * have no bound, and neither has a schema with a keyword that is not known here.
 */
export function roomIn(schema: Json | undefined, path = ""): readonly Room[] {
  if (!isJsonObject(schema)) return unbounded(path, "a schema that says what it is");
  const unknown = Object.keys(schema).find((keyword) => !plainKeywords.has(keyword));
  if (unknown !== undefined) return unbounded(path, `a schema without \`${unknown}\``);
  const { type, enum: choices } = schema;
  if (schema["const"] !== undefined) return [];
  if (Array.isArray(choices)) return [{ path, bits: Math.log2(Math.max(1, choices.length)) }];
  if (type === "null") return [];
  if (type === "boolean") return [{ path, bits: 1 }];
  if (type === "integer" || type === "number") return roomInNumber(schema, path);
  if (type === "array") return roomInList(schema, path);
  if (type === "object") return roomInObject(schema, path);
  return unbounded(path, "`enum`, or one `type` that is no text");
}

function unbounded(path: string, wants: string): readonly Room[] {
  return [{ path, bits: Infinity, wants }];
}

function roomInNumber(schema: JsonObject, path: string): readonly Room[] {
  const given = (name: string, other: number): number => {
    const value = schema[name];
    return typeof value === "number" ? value : other;
  };
  const low = Math.max(given("minimum", -Infinity), given("exclusiveMinimum", -Infinity));
  const high = Math.min(given("maximum", Infinity), given("exclusiveMaximum", Infinity));
  // Some libraries write the bounds of exact integers where their author wrote none.
  if (low <= Number.MIN_SAFE_INTEGER || high >= Number.MAX_SAFE_INTEGER)
    return unbounded(path, "`minimum` and `maximum`");
  const step = Math.max(given("multipleOf", 0), schema["type"] === "integer" ? 1 : 0);
  if (step === 0) return unbounded(path, "`multipleOf`, or the type `integer`");
  const neighbours = Number.isInteger(step) ? 1 : 3; // the doubles whose quotient is an integer, and the one that is written as a multiple
  return [{ path, bits: Math.log2(neighbours * Math.max(1, (high - low) / step + 1)) }];
}

function roomInList({ items, minItems, maxItems }: JsonObject, path: string): readonly Room[] {
  if (typeof maxItems !== "number") return unbounded(path, "`maxItems`");
  if (maxItems === 0) return [];
  const lengths = maxItems - (typeof minItems === "number" ? minItems : 0) + 1;
  const each = roomIn(items, `${path}[]`).map((room) => ({ ...room, bits: room.bits * maxItems }));
  return [...each, { path, bits: Math.log2(Math.max(1, lengths)) }];
}

/** The room of an object: its fields say something by being there, and so does their order. */
function roomInObject(
  { properties, required, additionalProperties }: JsonObject,
  path: string,
): readonly Room[] {
  if (additionalProperties !== false || !isJsonObject(properties))
    return unbounded(path, "`properties`, and `additionalProperties: false`");
  const names = Object.keys(properties);
  const needed = new Set(Array.isArray(required) ? required : []);
  const optional = names.filter((name) => !needed.has(name)).length;
  const orders = names.reduce((bits, _, index) => bits + Math.log2(index + 1), 0);
  const inside = names.flatMap((name) => roomIn(properties[name], path === "" ? name : `${path}.${name}`));
  return [...inside, { path, bits: optional + orders }];
}

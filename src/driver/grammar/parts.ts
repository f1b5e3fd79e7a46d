import { listAt } from "../../schema/keywords.ts";
import { own, isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { sameJson } from "../../util/same-json.ts";
import { writes } from "./expression.ts";
import { type NumberBounds, nextDouble } from "./number-range.ts";
import { readPattern } from "./pattern.ts";

/**
 * Schemas that all judge the same value: one, with those that it refers to and those in its `allOf`. Each has only keywords that judge, and
 * neither `$ref` nor `allOf`.
 */
export type Parts = readonly JsonObject[];

export type TypeName = "object" | "array" | "string" | "number" | "boolean" | "null";

const typeNames: readonly TypeName[] = ["object", "array", "string", "number", "boolean", "null"];

/** The types that a value may have, in the order in which they are written. */
export function typesOf(parts: Parts): readonly TypeName[] {
  return typeNames.filter((name) =>
    parts.every((part) => {
      const names = typeListOf(part);
      const isNamed =
        names === undefined || names.includes(name) || (name === "number" && names.includes("integer"));
      return isNamed && !forbiddenTypes(part)?.includes(name);
    }),
  );
}

/** The types that `not` forbids, where it says nothing else; undefined where it says more. */
export function forbiddenTypes(part: JsonObject): readonly Json[] | undefined {
  const refused = own(part, "not");
  if (refused === true) return typeNames;
  if (!isJsonObject(refused) || Object.keys(refused).some((name) => name !== "type")) return undefined;
  const names = Object.hasOwn(refused, "type") ? typeListOf(refused) : typeNames;
  return names?.includes("integer") === true && !names.includes("number") ? undefined : names;
}

/** The types that a schema names; undefined where it names none, or one that JSON Schema does not know. */
export function typeListOf(part: JsonObject): readonly Json[] | undefined {
  const given = own(part, "type");
  if (given === undefined) return undefined;
  const names: readonly Json[] = Array.isArray(given) ? given : [given];
  const isKnown = names.every((name) => name === "integer" || typeNames.some((known) => known === name));
  return isKnown ? names : undefined;
}

/** The largest of a keyword's values. */
export function largest(parts: Parts, keyword: string, fallback: number): number {
  return Math.max(fallback, ...numbersAt(parts, keyword));
}

/** The smallest of a keyword's values. */
export function smallest(parts: Parts, keyword: string, fallback: number): number {
  return Math.min(fallback, ...numbersAt(parts, keyword));
}

function numbersAt(parts: Parts, keyword: string): readonly number[] {
  return parts
    .map((part) => own(part, keyword))
    .filter((value): value is number => typeof value === "number");
}

/** The names that are required. */
export function requiredOf(parts: Parts): readonly string[] {
  const lists = parts.flatMap((part) => listAt(part, "required"));
  return [...new Set(lists.filter((name): name is string => typeof name === "string"))];
}

export function boundsOf(parts: Parts): NumberBounds {
  const above = nextDouble(largest(parts, "exclusiveMinimum", -Infinity), 1);
  const below = nextDouble(smallest(parts, "exclusiveMaximum", Infinity), -1);
  const isInteger = parts.some((part) => {
    const names = typeListOf(part);
    return (
      (names?.includes("integer") === true && !names.includes("number")) ||
      Number.isInteger(own(part, "multipleOf"))
    );
  });
  return {
    least: Math.max(above, largest(parts, "minimum", -Infinity)),
    most: Math.min(below, smallest(parts, "maximum", Infinity)),
    isInteger,
  };
}

/** The values of `const` and `enum` that nothing refuses; undefined where any value may stand. */
export function valuesOf(parts: Parts): readonly Json[] | undefined {
  const lists = parts.flatMap((part): (readonly Json[])[] => {
    const only = own(part, "const");
    const some = own(part, "enum");
    return [...(only === undefined ? [] : [[only]]), ...(Array.isArray(some) ? [some] : [])];
  });
  const [first, ...others] = lists;
  return first?.filter(
    (value) =>
      others.every((list) => list.some((other) => sameJson(value, other))) && !isRefused(value, parts),
  );
}

/** True if the value certainly breaks one of the schemas by itself; its parts are not looked at. */
function isRefused(value: Json, parts: Parts): boolean {
  const type = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  if (!typesOf(parts).some((name) => name === type)) return true;
  if (typeof value === "number") {
    const { least, most, isInteger } = boundsOf(parts);
    return value < least || value > most || (isInteger && !Number.isInteger(value));
  }
  if (typeof value === "string") {
    const patterns = parts.map((part) => own(part, "pattern"));
    return (
      isOutside(Array.from(value).length, parts, "Length") ||
      patterns.some((pattern) => typeof pattern === "string" && matches(pattern, value) === false)
    );
  }
  if (Array.isArray(value)) return isOutside(value.length, parts, "Items");
  return (
    isJsonObject(value) &&
    (isOutside(Object.keys(value).length, parts, "Properties") ||
      requiredOf(parts).some((name) => !Object.hasOwn(value, name)))
  );
}

function isOutside(size: number, parts: Parts, noun: string): boolean {
  return size < largest(parts, `min${noun}`, 0) || size > smallest(parts, `max${noun}`, Infinity);
}

const longestMatched = 200;

/** True if the pattern matches; undefined when the grammar's own reading cannot tell. */
export function matches(pattern: string, value: string): boolean | undefined {
  const reading = readPattern(pattern);
  return "fault" in reading || value.length > longestMatched ? undefined : writes(reading.expression, value);
}

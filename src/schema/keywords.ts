import { asObject, isJsonObject, type Json, type JsonObject, own } from "../util/json.ts";
import { isType, listOf } from "./assertions.ts";
import { linearFault } from "./linear-pattern.ts";

/** A JSON Schema keyword as the runtime knows it. */
export interface Keyword {
  /** The subschemas in its value: one, a list of them, a map of them, or none. */
  readonly holds: "schema" | "schemas" | "schema-map" | "none";
  /** Whom it judges: the same value as its neighbours, a part of that value, or nothing (definitions, notes for readers). */
  readonly judges: "same" | "part" | "nothing";
  /** The fault of its value, as the end of a sentence. */
  fault(value: Json): string | undefined;
}

/** A subschema with the way to it, and whether it judges the same value as the schema around it (`allOf`) or a part (`properties`). */
export interface Child {
  readonly schema: Json;
  readonly path: readonly string[];
  readonly judges: Keyword["judges"];
}

const typeNames = Object.keys(isType);
const isTypeName = (value: Json): boolean => typeof value === "string" && typeNames.includes(value);
const isNames = (value: Json): boolean =>
  Array.isArray(value) && value.every((entry) => typeof entry === "string");
const isSize = (value: Json): boolean => Number.isInteger(value) && Number(value) >= 0;

const must =
  (expected: string, test: (value: Json) => boolean): Keyword["fault"] =>
  (value) =>
    test(value) ? undefined : `must be ${expected}`;

const schemaFault = must(
  "a schema (an object, true or false)",
  (value) => isJsonObject(value) || typeof value === "boolean",
);
const mapFault = must("an object of schemas", isJsonObject);
const listFault = must("a list of at least one schema", (value) => Array.isArray(value) && value.length > 0);
const textFault = must("a string", (value) => typeof value === "string");
const sizeFault = must("an integer of at least 0", isSize);
const isNumber = (value: Json): value is number => typeof value === "number";
const numberFault = must("a number", isNumber);

const anyFault = (): undefined => undefined;
const booleanFault = must("true or false", (value) => typeof value === "boolean");

type Row = readonly [
  names: string,
  holds: Keyword["holds"],
  judges: Keyword["judges"],
  fault: Keyword["fault"],
];

const rows: readonly Row[] = [
  ["allOf anyOf oneOf", "schemas", "same", listFault],
  ["not if then else", "schema", "same", schemaFault],
  ["dependentSchemas", "schema-map", "same", mapFault],
  ["properties", "schema-map", "part", mapFault],
  ["patternProperties", "schema-map", "part", patternsFault],
  ["additionalProperties propertyNames contains", "schema", "part", schemaFault],
  ["unevaluatedProperties unevaluatedItems", "schema", "part", schemaFault],
  ["items", "schema", "part", itemsFault],
  ["prefixItems", "schemas", "part", listFault],
  ["$defs definitions", "schema-map", "nothing", mapFault],
  ["$ref $dynamicRef $anchor $dynamicAnchor $id", "none", "nothing", textFault],
  ["$schema $comment title description format", "none", "nothing", textFault],
  ["deprecated readOnly writeOnly", "none", "nothing", booleanFault],
  ["examples", "none", "nothing", must("a list", Array.isArray)],
  ["default contentEncoding contentMediaType contentSchema", "none", "nothing", anyFault],
  ["type", "none", "same", typeFault],
  ["const", "none", "same", anyFault],
  ["enum", "none", "same", must("a list of values", Array.isArray)],
  ["required", "none", "same", must("a list of property names", isNames)],
  ["dependentRequired", "none", "same", must("an object of lists of names", isMapOfNames)],
  ["minimum maximum exclusiveMinimum exclusiveMaximum", "none", "same", numberFault],
  ["multipleOf", "none", "same", must("a number above 0", (value) => isNumber(value) && value > 0)],
  ["minLength maxLength minItems maxItems", "none", "same", sizeFault],
  ["minContains maxContains minProperties maxProperties", "none", "same", sizeFault],
  ["uniqueItems", "none", "same", booleanFault],
  ["pattern", "none", "same", patternFault],
];

/** The keywords of JSON Schema 2020-12. All others are shown to the model as they are and judge nothing, as the standard says. */
export const keywords: ReadonlyMap<string, Keyword> = new Map(
  rows.flatMap(([names, holds, judges, fault]) =>
    names.split(" ").map((name) => [name, { holds, judges, fault }] as const),
  ),
);

/** The list of an own key; empty where it holds none. */
export function listAt(object: JsonObject, key: string): readonly Json[] {
  return listOf(own(object, key));
}

/** The types that a schema names: none, one or several. */
export function typesAt(schema: JsonObject): readonly string[] {
  const type = own(schema, "type") ?? [];
  return (Array.isArray(type) ? type : [type]).filter((each: Json) => typeof each === "string");
}

/** The object of an own key; empty where it holds none. */
export function mapAt(object: JsonObject, key: string): JsonObject {
  return asObject(own(object, key));
}

/** The subschemas of a schema, in the order in which they are written. */
export function childrenOf(schema: JsonObject): readonly Child[] {
  return Object.entries(schema).flatMap(([name, value]): readonly Child[] => {
    const keyword = keywords.get(name);
    if (keyword === undefined || keyword.holds === "none") return [];
    const { holds, judges } = keyword;
    if (holds === "schema") return [{ schema: value, path: [name], judges }];
    if (typeof value !== "object" || value === null || (holds === "schemas") !== Array.isArray(value))
      return [];
    return Object.entries<Json>(value).map(([key, entry]) => ({ schema: entry, path: [name, key], judges }));
  });
}

function isMapOfNames(value: Json): boolean {
  return isJsonObject(value) && Object.values(value).every(isNames);
}

function typeFault(value: Json): string | undefined {
  const names: readonly Json[] = Array.isArray(value) ? value : [value];
  if (names.length > 0 && names.every(isTypeName)) return undefined;
  return `is ${JSON.stringify(value)}, which is no JSON type (${typeNames.join(", ")})`;
}

function itemsFault(value: Json): string | undefined {
  return Array.isArray(value)
    ? "must be one schema; `prefixItems` is the list of schemas by position"
    : schemaFault(value);
}

function patternFault(value: Json): string | undefined {
  return typeof value === "string" ? linearFault(value) : "must be a string";
}

function patternsFault(value: Json): string | undefined {
  if (!isJsonObject(value)) return mapFault(value);
  return Object.keys(value)
    .map(linearFault)
    .find((fault) => fault !== undefined);
}

import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";
import { linearFault } from "./linear-pattern.ts";

/** What the runtime knows of a JSON Schema keyword. */
export interface Keyword {
  /** Which subschemas its value holds: one, a list of them, a map of them, or none. */
  readonly holds: "schema" | "schemas" | "schema-map" | "none";
  /** Whom it judges: the same value as its neighbours, a part of that value, or nothing (definitions, notes for readers). */
  readonly judges: "same" | "part" | "nothing";
  /** What is wrong with its value, as the end of a sentence. */
  fault(value: Json): string | undefined;
}

/** A subschema with the way to it, and whether it judges the same value as the schema around it (`allOf`) or a part (`properties`). */
export interface Child {
  readonly schema: Json;
  readonly path: readonly string[];
  readonly judges: Keyword["judges"];
}

const typeNames = ["object", "array", "string", "number", "integer", "boolean", "null"];
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
const listFault = must("a list of at least one schema", isFilledList);
const textFault = must("a string", (value) => typeof value === "string");
const sizeFault = must("an integer of at least 0", isSize);
const numberFault = must("a number", (value) => typeof value === "number");

const list: readonly [names: string, keyword: Keyword][] = [
  ["allOf anyOf oneOf", { holds: "schemas", judges: "same", fault: listFault }],
  ["not if then else", { holds: "schema", judges: "same", fault: schemaFault }],
  ["dependentSchemas", { holds: "schema-map", judges: "same", fault: mapFault }],
  ["properties", { holds: "schema-map", judges: "part", fault: mapFault }],
  ["patternProperties", { holds: "schema-map", judges: "part", fault: patternsFault }],
  ["additionalProperties propertyNames contains", { holds: "schema", judges: "part", fault: schemaFault }],
  ["unevaluatedProperties unevaluatedItems", { holds: "schema", judges: "part", fault: schemaFault }],
  ["items", { holds: "schema", judges: "part", fault: itemsFault }],
  ["prefixItems", { holds: "schemas", judges: "part", fault: listFault }],
  ["$defs definitions", { holds: "schema-map", judges: "nothing", fault: mapFault }],
  ["$ref $dynamicRef $anchor $dynamicAnchor $id", { holds: "none", judges: "nothing", fault: textFault }],
  ["$schema $comment title description format", { holds: "none", judges: "nothing", fault: textFault }],
  [
    "deprecated readOnly writeOnly",
    { holds: "none", judges: "nothing", fault: must("true or false", isBoolean) },
  ],
  ["examples", { holds: "none", judges: "nothing", fault: must("a list", Array.isArray) }],
  [
    "default contentEncoding contentMediaType contentSchema",
    { holds: "none", judges: "nothing", fault: () => undefined },
  ],
  ["type", { holds: "none", judges: "same", fault: typeFault }],
  ["const", { holds: "none", judges: "same", fault: () => undefined }],
  ["enum", { holds: "none", judges: "same", fault: must("a list of values", Array.isArray) }],
  ["required", { holds: "none", judges: "same", fault: must("a list of property names", isNames) }],
  [
    "dependentRequired",
    { holds: "none", judges: "same", fault: must("an object of lists of names", isMapOfNames) },
  ],
  [
    "minimum maximum exclusiveMinimum exclusiveMaximum",
    { holds: "none", judges: "same", fault: numberFault },
  ],
  [
    "multipleOf",
    {
      holds: "none",
      judges: "same",
      fault: must("a number above 0", (value) => typeof value === "number" && value > 0),
    },
  ],
  ["minLength maxLength minItems maxItems", { holds: "none", judges: "same", fault: sizeFault }],
  [
    "minContains maxContains minProperties maxProperties",
    { holds: "none", judges: "same", fault: sizeFault },
  ],
  ["uniqueItems", { holds: "none", judges: "same", fault: must("true or false", isBoolean) }],
  ["pattern", { holds: "none", judges: "same", fault: patternFault }],
];

/** The keywords of JSON Schema 2020-12. All others are shown to the model as they are and judge nothing, as the standard says. */
export const keywords: ReadonlyMap<string, Keyword> = new Map(
  list.flatMap(([names, keyword]) => names.split(" ").map((name) => [name, keyword] as const)),
);

/** The value of an own key, so that `constructor` and the like are never found where nobody wrote them. */
export function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
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

function isBoolean(value: Json): boolean {
  return typeof value === "boolean";
}

function isFilledList(value: Json): boolean {
  return Array.isArray(value) && value.length > 0;
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

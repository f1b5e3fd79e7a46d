import { isJsonObject, type Json } from "../util/json.ts";
import { remembered } from "../util/remembered.ts";
import type { JsonSchema } from "./schema.ts";

/**
 * The names that a schema gives to fields, at any depth: whoever fills the schema in did not choose them. Read once for each schema.
 * Depends on: the schema.
 */
export const propertyNames: (schema: JsonSchema) => ReadonlySet<string> = remembered(readNames);

function readNames(schema: JsonSchema): ReadonlySet<string> {
  const names = new Set<string>();
  const left: Json[] = [schema];
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    if (typeof part !== "object" || part === null) continue;
    if ("properties" in part && typeof part["properties"] === "object" && part["properties"] !== null)
      for (const name of Object.keys(part["properties"])) names.add(name);
    for (const each of Object.values<Json>(part)) left.push(each);
  }
  return names;
}

/** The keywords of a schema that speak of the same value: lists of schemas, one, or one by each name. */
const besides = ["allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"] as const;

/**
 * The names that a schema gives to the fields of the value itself, and not to those within them. Where another part of the schema is meant by `$ref`,
 * all its names count. Depends on: the schema.
 */
export const argumentNames: (schema: JsonSchema) => ReadonlySet<string> = remembered(readArgumentNames);

function readArgumentNames(schema: JsonSchema): ReadonlySet<string> {
  const names = new Set<string>();
  const left: Json[] = [schema];
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    if (Array.isArray(part)) left.push(...part);
    if (!isJsonObject(part)) continue;
    if (Object.hasOwn(part, "$ref") || Object.hasOwn(part, "$dynamicRef")) return propertyNames(schema);
    for (const name of Object.keys(part["properties"] ?? {})) names.add(name);
    for (const keyword of besides) {
      const beside = Object.hasOwn(part, keyword) ? part[keyword] : undefined;
      if (keyword === "dependentSchemas") left.push(...Object.values(beside ?? {}));
      else if (beside !== undefined) left.push(beside);
    }
  }
  return names;
}

/** Both, as a call that a policy judges has them. */
export function namesIn(schema: JsonSchema): {
  readonly fields: ReadonlySet<string>;
  readonly declared: ReadonlySet<string>;
} {
  return { fields: propertyNames(schema), declared: argumentNames(schema) };
}

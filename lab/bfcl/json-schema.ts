import { isJsonObject, type Json, type JsonObject } from "../../src/util/json.ts";

const typeNames: Readonly<Record<string, string>> = { dict: "object", float: "number", tuple: "array" };

/**
 * The parameters of a BFCL function as JSON Schema, at every depth: `dict` is object, `float` number, `tuple` array, and `any` is no
 * restriction. Everything else stays as it is.
 */
export function toJsonSchema(parameters: JsonObject): JsonObject {
  const entries = Object.entries(parameters).flatMap(([key, value]): [string, Json][] => {
    if (key === "type") return value === "any" ? [] : [[key, typeOf(value)]];
    if (key === "properties" && isJsonObject(value)) return [[key, eachMapped(value)]];
    if ((key === "items" || key === "additionalProperties") && isJsonObject(value))
      return [[key, toJsonSchema(value)]];
    return [[key, value]];
  });
  return Object.fromEntries(entries);
}

function eachMapped(properties: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      isJsonObject(schema) ? toJsonSchema(schema) : schema,
    ]),
  );
}

function typeOf(type: Json): Json {
  return typeof type === "string" && Object.hasOwn(typeNames, type) ? (typeNames[type] ?? type) : type;
}

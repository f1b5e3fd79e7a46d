import { mapAt } from "../schema/keywords.ts";
import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";

/** Schemas inside a larger one, by name. */
export interface Bundle {
  /** The schema with this name, as it is written in its place. */
  at(name: string): JsonObject;
  /** The definitions that the root of the larger schema needs. */
  readonly root: { readonly $defs?: JsonObject };
}

/**
 * Makes whole schemas parts of a larger one. References in a schema point to places inside it, so a schema with references moves to the `$defs` of the new root
 * together with them, and a reference takes its place. A reference to an anchor is left as it is: the anchor is found there too.
 */
export function bundleSchemas(schemas: Readonly<Record<string, JsonObject>>): Bundle {
  const defs = Object.entries(schemas)
    .filter(([, schema]) => JSON.stringify(schema).includes('"$ref"'))
    .map(([name, schema]) => [name, rebase(schema, pointerTo(name))] as const);
  const moved = new Set(defs.map(([name]) => name));
  return {
    at: (name) => (moved.has(name) ? { $ref: pointerTo(name) } : (schemas[name] ?? {})),
    root: defs.length === 0 ? {} : { $defs: Object.fromEntries(defs) },
  };
}

/** The schema of the property at a path, complete without the schema around it. */
export function propertySchema(schema: JsonObject, path: readonly string[]): JsonObject {
  let property: Json | undefined = schema;
  let pointer = pointerTo("whole");
  for (const name of path) {
    property = isJsonObject(property) ? mapAt(property, "properties")[name] : undefined;
    pointer += `/properties/${escaped(name)}`;
  }
  if (!isJsonObject(property)) return {};
  if (!JSON.stringify(property).includes('"$ref"')) return property;
  return { $ref: pointer, ...bundleSchemas({ whole: schema }).root };
}

/** A pointer to a name. Names of tools may have a slash. */
function pointerTo(name: string): string {
  return `#/$defs/${escaped(name)}`;
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The schema under another root: its references point to its new place. */
function rebase(value: Json, base: string): Json {
  if (Array.isArray(value)) return value.map((item: Json) => rebase(item, base));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, field]): [string, Json] => {
    const isPointer = key === "$ref" && typeof field === "string" && /^#(?:\/|$)/.test(field);
    return [key, isPointer ? `${base}${field.slice(1)}` : rebase(field, base)];
  });
  return Object.fromEntries(entries);
}

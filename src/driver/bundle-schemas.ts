import { mapAt } from "../schema/keywords.ts";
import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";

/** Schemas that stand inside a larger one, by their names. */
export interface Bundle {
  /** The schema of the name as it is written in its place. */
  at(name: string): JsonObject;
  /** The definitions that the root of the larger schema needs beside itself. */
  readonly root: { readonly $defs?: JsonObject };
}

/**
 * Makes parts of one schema out of whole ones. A schema with references means places in itself: it moves to the `$defs` of the new root, its
 * references go with it, and in its place stands a reference. A reference to an anchor is left as it is: it finds its anchor there too.
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

/** The schema of the property at a path, which holds without the rest of the schema that it stands in. */
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

/** Names of tools may have a slash. */
function pointerTo(name: string): string {
  return `#/$defs/${escaped(name)}`;
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The schema as it stands under another root: its references go to where it is now. */
function rebase(value: Json, base: string): Json {
  if (Array.isArray(value)) return value.map((item: Json) => rebase(item, base));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, field]): [string, Json] => {
    const isPointer = key === "$ref" && typeof field === "string" && /^#(?:\/|$)/.test(field);
    return [key, isPointer ? `${base}${field.slice(1)}` : rebase(field, base)];
  });
  return Object.fromEntries(entries);
}

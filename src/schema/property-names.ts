import type { Json } from "../util/json.ts";
import type { JsonSchema } from "./schema.ts";

const known = new WeakMap<JsonSchema, ReadonlySet<string>>();

/** The names that a schema gives to fields, at any depth: whoever fills the schema in did not choose them. Read once for each schema. */
export function propertyNames(schema: JsonSchema): ReadonlySet<string> {
  const names = known.get(schema) ?? readNames(schema);
  known.set(schema, names);
  return names;
}

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

import type { Json } from "../util/json.ts";
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

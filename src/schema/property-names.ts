import { isJsonObject, type Json, type JsonObject, own } from "../util/json.ts";
import { remembered } from "../util/remembered.ts";
import { type CheckedSchema, checkSchema } from "./check-schema.ts";
import { childrenOf, mapAt } from "./keywords.ts";
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

/**
 * The names that a schema gives to the fields of the value itself, and not to those within them. References are followed; of a schema in which they lead
 * nowhere all names count. Depends on: the schema.
 */
export const argumentNames: (schema: JsonSchema) => ReadonlySet<string> = remembered((schema: JsonSchema) => {
  try {
    return new Set(besides(schema, [schema]).flatMap((part) => Object.keys(mapAt(part, "properties"))));
  } catch {
    return propertyNames(schema);
  }
});

/**
 * The names that stand where a dotted path, through lists, has one that the schema does not have; undefined for a path that it has, or that leads where it
 * says nothing of names or, by `isOpen`, has room for others.
 */
export function namesInstead(
  schema: JsonSchema,
  path: string,
  isOpen: (part: JsonObject) => boolean = isMap,
): readonly string[] | undefined {
  const instead = (part: Json, rest: string): readonly string[] | undefined => {
    const here = besides(schema, [part], true);
    if (here.some(isOpen) || here.every((each) => own(each, "properties") === undefined)) return undefined;
    const fields = here.flatMap((each) => Object.entries(mapAt(each, "properties")));
    const ways = fields.filter(([name]) => rest === name || rest.startsWith(`${name}.`));
    if (ways.length === 0) return fields.map(([name]) => name);
    const found = ways.map(([name, field]) =>
      rest === name ? undefined : instead(field, rest.slice(name.length + 1)),
    );
    return found.find((names) => names !== undefined && !found.includes(undefined));
  };
  try {
    return instead(schema, path);
  } catch {
    return undefined; // a reference of it leads nowhere
  }
}

/** True for a schema of objects that may have fields which it does not name. */
export function hasRoom(part: JsonObject): boolean {
  if (own(part, "properties") === undefined) return isMap(part);
  return own(part, "patternProperties") !== undefined || own(part, "additionalProperties") !== false;
}

/** True for a schema of objects whose names are not known beforehand. */
function isMap(part: JsonObject): boolean {
  return own(part, "properties") === undefined && (own(part, "additionalProperties") ?? false) !== false;
}

/** Keywords whose schemas speak of what stands in a list. */
const ofLists: ReadonlySet<string | undefined> = new Set(["items", "prefixItems"]);

/** All parts that speak of the same value as these, and with `inLists` of what stands in it where it is a list. @throws TypeError for a reference that leads nowhere */
function besides(root: JsonSchema, parts: readonly Json[], inLists = false): readonly JsonObject[] {
  const found = new Set<JsonObject>();
  const left = [...parts];
  let targets: CheckedSchema["targets"] | undefined;
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    if (!isJsonObject(part) || found.has(part)) continue;
    found.add(part);
    if (own(part, "$ref") !== undefined || own(part, "$dynamicRef") !== undefined) {
      targets ??= checkSchema(root).targets;
      left.push(...(targets.get(part) ?? []));
    }
    for (const { path, judges, schema } of childrenOf(part)) {
      const isBeside = judges === "same" && path[0] !== "not"; // which names what may not be there
      if (isBeside || (inLists && ofLists.has(path[0]))) left.push(schema);
    }
  }
  return [...found];
}

/** Both, as a call that a policy judges has them. */
export function namesIn(schema: JsonSchema): {
  readonly fields: ReadonlySet<string>;
  readonly declared: ReadonlySet<string>;
} {
  return { fields: propertyNames(schema), declared: argumentNames(schema) };
}

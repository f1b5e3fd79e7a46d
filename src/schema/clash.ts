import { isJsonObject, type Json, type JsonObject, own } from "../util/json.ts";
import { sameJson } from "../util/same-json.ts";
import { listOf } from "./assertions.ts";
import { listAt, mapAt } from "./keywords.ts";
import type { JsonSchema } from "./schema.ts";

/** Keywords with which a schema says more than is looked at here. */
const beyond = ["$ref", "allOf", "not", "if", "dependentSchemas", "patternProperties"];

/**
 * Says why no value of one schema fits another, as far as that can be seen: types, choices, fields that must be there. Undefined where values may fit;
 * whether they do is for the parse to say. `path` is where the two clash, empty for the whole value.
 */
export function clashOf(made: Json, wanted: Json, path = ""): string | undefined {
  if (!isJsonObject(made) || !isJsonObject(wanted)) return undefined;
  if ([made, wanted].some((schema) => beyond.some((keyword) => Object.hasOwn(schema, keyword))))
    return undefined;
  const ofMade = choicesIn(made);
  const ofWanted = choicesIn(wanted);
  if (ofMade.length === 1 && ofWanted.length === 1) return clashOfOne(made, wanted, path);
  const clashes = ofMade.flatMap((one) => ofWanted.map((other) => clashOf(one, other, path)));
  return clashes.every((clash) => clash !== undefined) ? clashes[0] : undefined;
}

function choicesIn(schema: JsonSchema): readonly Json[] {
  const { anyOf, oneOf, ...rest } = schema;
  const choices = [...listOf(anyOf), ...listOf(oneOf)];
  if (choices.length > 0)
    return choices.map((choice) => (isJsonObject(choice) ? { ...rest, ...choice } : choice));
  return Array.isArray(schema["type"]) ? schema["type"].map((type: Json) => ({ ...schema, type })) : [schema];
}

function clashOfOne(made: JsonObject, wanted: JsonObject, path: string): string | undefined {
  const [from, to] = [valuesIn(made), valuesIn(wanted)];
  if (
    from !== undefined &&
    to !== undefined &&
    !from.some((value) => to.some((other) => sameJson(value, other)))
  )
    return told(path, JSON.stringify(from[0]), JSON.stringify(to[0]));
  const [is, must] = [typeIn(made, from), typeIn(wanted, to)];
  if (is === undefined || must === undefined) return undefined;
  if (is !== must && !(is === "integer" && must === "number") && !(is === "number" && must === "integer"))
    return told(path, is, must);
  if (is === "array") return clashOf(own(made, "items") ?? {}, own(wanted, "items") ?? {}, `${path}[]`);
  return is === "object" ? clashOfFields(made, wanted, path) : undefined;
}

function clashOfFields(made: JsonObject, wanted: JsonObject, path: string): string | undefined {
  const fields = mapAt(made, "properties");
  const isClosed = own(made, "additionalProperties") === false;
  for (const name of listAt(wanted, "required").map(String)) {
    const at = path === "" ? name : `${path}.${name}`;
    const field = own(fields, name);
    if (field === undefined && isClosed) return `\`${at}\` is missing`;
    const clash = clashOf(field ?? {}, own(mapAt(wanted, "properties"), name) ?? {}, at);
    if (clash !== undefined) return clash;
  }
  return undefined;
}

function valuesIn(schema: JsonObject): readonly Json[] | undefined {
  if (Object.hasOwn(schema, "const")) return [schema["const"] ?? null];
  return Array.isArray(schema["enum"]) ? schema["enum"] : undefined;
}

function typeIn(schema: JsonObject, values: readonly Json[] | undefined): string | undefined {
  const type = own(schema, "type");
  if (typeof type === "string") return type;
  const kinds = new Set(values?.map((value) => (value === null ? "null" : typeof value)));
  return kinds.size === 1 ? [...kinds][0] : undefined;
}

function told(path: string, made: string, wanted: string): string {
  return `${path === "" ? "" : `\`${path}\` is `}${made} where ${wanted} is wanted`;
}

import { keywords } from "../../schema/keywords.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../util/json.ts";

/** The keywords that OpenAI's strict mode takes, as far as writ is sure of it. */
const strictKeywords = new Set(
  [
    "type properties required additionalProperties items anyOf enum const $ref $defs title description format pattern",
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems",
  ].flatMap((names) => names.split(" ")),
);

/** The formats that it takes. It refuses a schema with any other, like `uri`. */
const strictFormats: ReadonlySet<Json> = new Set(
  "date-time time date duration email hostname ipv4 ipv6 uuid".split(" "),
);

/**
 * The schema in the form of OpenAI's strict mode: every object closed and every property required; undefined if it has anything else. An
 * object that does not say whether it is closed is closed here, as arguments of tools are. Unknown formats, and descriptions of references,
 * are left out.
 */
export function strictSchema(given: Json): JsonObject | undefined {
  const schema = isJsonObject(given) ? taken(given) : undefined;
  if (schema === undefined || !isStrict(schema)) return undefined;
  const strict = allOf(schema, (value, name) =>
    name === "additionalProperties" ? value : strictPart(name, value),
  );
  return strict && { ...strict, ...(isObject(schema) ? { additionalProperties: false } : {}) };
}

/** The schema without parts that OpenAI refuses and that decide nothing. */
function taken(schema: JsonObject): JsonObject {
  const isReference = schema["$ref"] !== undefined;
  const kept = Object.entries(schema).filter(([name, value]) =>
    isReference ? name !== "title" && name !== "description" : name !== "format" || strictFormats.has(value),
  );
  return Object.fromEntries(kept);
}

/** The object with a new value for each of its values; undefined if one has none. */
function allOf(
  values: JsonObject,
  make: (value: Json, name: string) => Json | undefined,
): JsonObject | undefined {
  const made = Object.entries(values).flatMap(([name, value]): [string, Json][] => {
    const one = make(value, name);
    return one === undefined ? [] : [[name, one]];
  });
  return made.length < Object.keys(values).length ? undefined : Object.fromEntries(made);
}

function isStrict(schema: JsonObject): boolean {
  if (Object.keys(schema).some((name) => !strictKeywords.has(name))) return false;
  const { type, properties = {}, required = [], additionalProperties = false, anyOf, $ref } = schema;
  if ($ref !== undefined) return Object.keys(schema).every((name) => name === "$ref" || name === "$defs");
  if (!isObject(schema)) return type !== undefined || anyOf !== undefined;
  return (
    anyOf === undefined &&
    additionalProperties === false &&
    isJsonObject(properties) &&
    Object.keys(properties).every((name) => Array.isArray(required) && required.includes(name))
  );
}

function isObject({ type, properties }: JsonObject): boolean {
  return properties !== undefined || type === "object" || (Array.isArray(type) && type.includes("object"));
}

function strictPart(name: string, value: Json): Json | undefined {
  const holds = keywords.get(name)?.holds ?? "none";
  if (holds === "none") return value;
  if (holds === "schema") return strictSchema(value);
  if (isJsonList(value)) {
    const parts = value.flatMap((part) => strictSchema(part) ?? []);
    return parts.length < value.length ? undefined : parts;
  }
  return isJsonObject(value) ? allOf(value, strictSchema) : undefined;
}

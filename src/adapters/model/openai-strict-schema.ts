import { keywords } from "../../schema/keywords.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../util/json.ts";

/** The keywords that OpenAI's strict mode takes, as far as writ is sure of it. */
const strictKeywords = new Set(
  [
    "type properties required additionalProperties items anyOf enum const $ref $defs title description format pattern",
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems",
  ].flatMap((names) => names.split(" ")),
);

/**
 * The schema as OpenAI's strict mode takes it: every object closed and every property required; undefined when it says anything else. An
 * object that does not say whether it is closed is closed here, as arguments of tools are.
 */
export function strictSchema(schema: Json): JsonObject | undefined {
  if (!isJsonObject(schema) || !isStrict(schema)) return undefined;
  const strict = allOf(schema, (value, name) =>
    name === "additionalProperties" ? value : strictPart(name, value),
  );
  return strict && { ...strict, ...(isObject(schema) ? { additionalProperties: false } : {}) };
}

/** The object with a value made of each of its values; undefined where one has none. */
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
  if (!isObject(schema)) return [type, anyOf, $ref].some((kind) => kind !== undefined);
  return (
    anyOf === undefined &&
    $ref === undefined &&
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

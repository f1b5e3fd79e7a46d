import { keywords } from "../../schema/keywords.ts";
import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";

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
  const parts = Object.entries(schema).map(
    ([name, value]) => [name, name === "additionalProperties" ? value : strictPart(name, value)] as const,
  );
  const strict = parts.filter((part): part is readonly [string, Json] => part[1] !== undefined);
  if (strict.length < parts.length) return undefined;
  return { ...Object.fromEntries(strict), ...(isObject(schema) ? { additionalProperties: false } : {}) };
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
  const parts = Object.entries(value as JsonObject).map(([key, part]) => [key, strictSchema(part)] as const);
  if (parts.some(([, part]) => part === undefined)) return undefined;
  return holds === "schemas"
    ? parts.map(([, part]) => part ?? null)
    : (Object.fromEntries(parts) as JsonObject);
}

import { followPointer } from "../../schema/check-schema.ts";
import { keywords } from "../../schema/keywords.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { remembered } from "../../util/remembered.ts";

/**
 * Ollama makes a grammar of a format. These keywords make it refuse the whole schema, and a `pattern` with a look-ahead, as zod writes for an
 * email address, ends the server itself (0.11.4). What the reply is held to is therefore wider; the runtime judges it by the whole schema.
 */
const droppedInFormats: ReadonlySet<string> = new Set([
  "pattern",
  "not",
  "if",
  "then",
  "else",
  "$dynamicRef",
  "dependentSchemas",
]);

/** Without one of these Ollama takes a schema for that of an object, or refuses it. */
const shapes = [
  "$ref",
  "type",
  "const",
  "enum",
  "properties",
  "items",
  "prefixItems",
  "anyOf",
  "oneOf",
  "allOf",
];

const anyType = ["object", "array", "string", "number", "boolean", "null"];

/** A schema for `format`, made once: what Ollama can hold a reply to, never narrower than the schema given. Depends on: that schema. */
export const toOllamaFormat: (root: JsonSchema) => JsonSchema = remembered((root) => writeFormat(root, root));

function writeFormat(schema: Json, root: JsonSchema): JsonObject {
  if (!isJsonObject(schema)) return { type: anyType };
  const kept = Object.entries(schema).filter(([name, value]) => {
    if (name === "$ref") return isKept(value, root);
    if (name === "items" && Object.hasOwn(schema, "prefixItems")) return false;
    return !droppedInFormats.has(name);
  });
  const format = Object.fromEntries(
    kept.map(([name, value]) => [name, mapHeld(name, value, (held) => writeFormat(held, root))]),
  );
  return shapes.some((shape) => Object.hasOwn(format, shape)) ? format : { ...format, type: anyType };
}

/** References that lead somewhere in what is left. Ollama knows neither anchors nor `#` alone. */
function isKept(reference: Json, root: JsonSchema): boolean {
  if (typeof reference !== "string" || !reference.startsWith("#/")) return false;
  return (
    followPointer(root, reference) !== undefined &&
    !reference.split("/").some((step) => droppedInFormats.has(step))
  );
}

const closedKeywords: ReadonlySet<string> = new Set([
  "additionalProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
]);

/** The value of a keyword with the schemas in it changed; true and false stay where they open or close an object. */
function mapHeld(name: string, value: Json, change: (schema: Json) => Json): Json {
  if (closedKeywords.has(name) && typeof value === "boolean") return value;
  const holds = keywords.get(name)?.holds;
  if (holds === "schema") return change(value);
  if (holds === "schemas" && Array.isArray(value)) return value.map(change);
  if (holds !== "schema-map" || !isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, schema]) => [key, change(schema)]));
}

const lookAround = /\(\?<?[=!]/;
/** In a pattern: what is escaped, and classes. */
const plainSigns = /\\.|\[(?:\\.|[^\]\\])*\]/gs;

/**
 * The schema without patterns that look ahead or behind, as zod writes for durations. OpenAI and llama.cpp refuse each request with one, and the
 * engines of others do not have it. The runtime judges by the whole schema.
 */
export function withoutLookAround(schema: JsonSchema): JsonSchema {
  const kept = Object.entries(schema).filter(
    ([name, value]) =>
      name !== "pattern" || typeof value !== "string" || !lookAround.test(value.replaceAll(plainSigns, "")),
  );
  const change = (held: Json): Json => (isJsonObject(held) ? withoutLookAround(held) : held);
  return Object.fromEntries(kept.map(([name, value]) => [name, mapHeld(name, value, change)]));
}

/** References are written out this many times for a tool; what is left of them stays as it is. */
const maxInlined = 100;

/**
 * A schema for the parameters of a tool, made once. Ollama passes on to the model only the keywords it knows (`type`, `description`, `enum`,
 * `anyOf`, `items`, in later versions `properties`), and refuses the request for a schema that is true or false. So references are written
 * out, and `const` and `oneOf` are said in words that it knows. Depends on: the schema.
 */
export const toOllamaParameters: (root: JsonSchema) => JsonSchema = remembered(writeParameters);

/** The definitions go along only when a reference to them is left: the model would read them twice. */
function writeParameters(root: JsonSchema): JsonSchema {
  const { $defs, definitions, ...body } = root;
  const written: Inlining["written"] = { count: 0, isWhole: true };
  const made = writeParameter(body, { root, inside: [], written });
  return {
    ...made,
    type: "object",
    ...(written.isWhole || $defs === undefined ? {} : { $defs }),
    ...(written.isWhole || definitions === undefined ? {} : { definitions }),
  };
}

interface Inlining {
  readonly root: JsonSchema;
  /** The references that are being written out, so that one that leads to itself ends. */
  readonly inside: readonly string[];
  readonly written: { count: number; isWhole: boolean };
}

function writeParameter(schema: Json, inlining: Inlining): JsonObject {
  if (!isJsonObject(schema)) return {};
  const { $ref: reference, const: only, oneOf, ...others } = schema;
  const written: JsonObject = {
    ...(oneOf === undefined ? {} : { [Object.hasOwn(others, "anyOf") ? "oneOf" : "anyOf"]: oneOf }),
    ...(only === undefined ? {} : { enum: [only] }),
    ...others,
  };
  const parameter = Object.fromEntries(
    Object.entries(written).map(([name, value]) => [
      name,
      mapHeld(name, value, (held) => writeParameter(held, inlining)),
    ]),
  );
  if (typeof reference !== "string") return parameter;
  const target = followPointer(inlining.root, reference);
  const { inside, written: done } = inlining;
  if (!isJsonObject(target) || inside.includes(reference) || done.count >= maxInlined) {
    done.isWhole = false;
    return { $ref: reference, ...parameter };
  }
  done.count += 1;
  return { ...writeParameter(target, { ...inlining, inside: [...inside, reference] }), ...parameter };
}

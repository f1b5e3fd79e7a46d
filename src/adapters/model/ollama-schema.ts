import { followPointer } from "../../schema/check-schema.ts";
import { keywords } from "../../schema/keywords.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { remembered } from "../../util/remembered.ts";

/**
 * The keywords that are dropped from a format. Ollama makes a grammar of it: these keywords make it refuse the whole schema, and a `pattern` with a look-ahead,
 * as zod writes for an email address, ends the server itself (0.11.4). The format is therefore wider; the runtime checks the reply against the whole schema.
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

/** Keywords without which Ollama reads a schema as that of an object, or refuses it. */
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

/** A schema for `format`, made once: as narrow as Ollama can enforce, but never narrower than the given schema. Depends on: that schema. */
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

/** True for a reference that leads somewhere in the remaining schema. Ollama knows neither anchors nor `#` alone. */
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

/** The value of a keyword with the schemas in it changed; true and false stay if they open or close an object. */
function mapHeld(name: string, value: Json, change: (schema: Json) => Json): Json {
  if (closedKeywords.has(name) && typeof value === "boolean") return value;
  const holds = keywords.get(name)?.holds;
  if (holds === "schema") return change(value);
  if (holds === "schemas" && Array.isArray(value)) return value.map(change);
  if (holds !== "schema-map" || !isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, schema]) => [key, change(schema)]));
}

const lookAround = /\(\?<?[=!]/;
/** Escaped characters and classes in a pattern. */
const plainSigns = /\\.|\[(?:\\.|[^\]\\])*\]/gs;

/**
 * The schema without patterns that look ahead or behind, as zod writes for durations. OpenAI and llama.cpp refuse each request with one, and the
 * engines of others do not support them. The runtime checks against the whole schema.
 */
export function withoutLookAround(schema: JsonSchema): JsonSchema {
  const kept = Object.entries(schema).filter(
    ([name, value]) =>
      name !== "pattern" || typeof value !== "string" || !lookAround.test(value.replaceAll(plainSigns, "")),
  );
  const change = (held: Json): Json => (isJsonObject(held) ? withoutLookAround(held) : held);
  return Object.fromEntries(kept.map(([name, value]) => [name, mapHeld(name, value, change)]));
}

/** The most times that references are written out for a tool; later ones stay as they are. */
const maxInlined = 100;

/**
 * A schema for the parameters of a tool, made once. Ollama passes only the keywords it knows on to the model (`type`, `description`, `enum`,
 * `anyOf`, `items`, in later versions `properties`), and refuses the request for a schema that is true or false. So references are written
 * out, and `const` and `oneOf` are replaced by keywords that it knows. Depends on: the schema.
 */
export const toOllamaParameters: (root: JsonSchema) => JsonSchema = remembered(writeParameters);

/** The parameters of a tool. Definitions are kept only if a reference to them is left: the model would read them twice. */
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

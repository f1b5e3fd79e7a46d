import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { messageOf, WritError } from "../error/writ-error.ts";
import { isJsonObject, type Json, type JsonObject, own } from "../util/json.ts";
import { after } from "../util/maybe.ts";
import { copyJson, followPointer } from "./check-schema.ts";
import { type Issue, type JsonSchema, type ParseResult, pathText } from "./schema.ts";
import { unknownFields, withUnknown } from "./unknown-fields.ts";
import type { Work } from "./visit.ts";

/** One of a name's schemas: of what comes in or of what goes out. */
export interface SchemaPlace {
  readonly name: string;
  readonly role: "input" | "output";
}

/** The JSON Schema that tells coercion what is wanted, and where the references in a part of it lead. */
export interface Guide {
  readonly schema: JsonSchema;
  readonly endsOf: (schema: JsonObject) => readonly Json[];
}

/** The owner of a schema, and the fate of fields that it does not have. */
export interface StandardPlace extends SchemaPlace {
  /** Refuses fields for which what the model is shown leaves no room. Default: libraries drop them. */
  readonly refusesUnknown?: boolean;
}

/** A schema before coercion is added. `check` never throws, and tells the issues that it finds with the work that is left. */
export interface CheckedSource {
  readonly jsonSchema: JsonSchema;
  readonly guide: Guide;
  readonly check: (value: unknown, work: Work) => ParseResult<unknown> | Promise<ParseResult<unknown>>;
}

/** Reads a Standard Schema. @throws WritError `schema-invalid`, `schema-without-json-schema` */
export function fromStandard(
  source: StandardSchemaV1,
  { refusesUnknown = false, ...place }: StandardPlace,
): CheckedSource {
  const standard = source["~standard"] as
    | Partial<StandardSchemaV1.Props & StandardJSONSchemaV1.Props>
    | undefined;
  if (typeof standard?.validate !== "function") {
    throw new WritError("schema-invalid", {
      ...place,
      reason: "it has `~standard` but no `~standard.validate`.",
    });
  }
  const validate = standard.validate;
  const jsonSchema = describeAsJson(standard, place);
  const endsOf = (schema: JsonObject): readonly Json[] => {
    const reference = own(schema, "$ref");
    return typeof reference === "string" ? [followPointer(jsonSchema, reference) ?? false] : [];
  };
  const guide = { schema: jsonSchema, endsOf };
  const check = (value: unknown): ReturnType<typeof runCheck> => runCheck(validate, value);
  if (!refusesUnknown) return { jsonSchema, guide, check };
  const whole = (value: unknown): ReturnType<typeof runCheck> =>
    after(check(value), (result) => withUnknown(result, unknownFields(value, jsonSchema)));
  return { jsonSchema, guide, check: whole };
}

type Validate = StandardSchemaV1.Props["validate"];

function runCheck(validate: Validate, value: unknown): ParseResult<unknown> | Promise<ParseResult<unknown>> {
  try {
    const result = validate(value);
    return "then" in result ? settle(result) : toResult(result);
  } catch (error) {
    return threw(error);
  }
}

async function settle(pending: ReturnType<Validate>): Promise<ParseResult<unknown>> {
  try {
    return toResult(await pending);
  } catch (error) {
    return threw(error);
  }
}

function toResult(result: StandardSchemaV1.Result<unknown>): ParseResult<unknown> {
  return result.issues
    ? { ok: false, issues: Array.from(result.issues, toIssue) }
    : { ok: true, value: result.value };
}

function threw(error: unknown): ParseResult<unknown> {
  return { ok: false, issues: [{ path: [], message: `the schema itself failed: ${messageOf(error)}` }] };
}

function toIssue(issue: StandardSchemaV1.Issue): Issue {
  const path = Array.from(issue.path ?? [], (segment) => {
    const key = typeof segment === "object" ? segment.key : segment;
    return typeof key === "symbol" ? String(key) : key;
  });
  // Some libraries (arktype) put the path into the message, where describeIssues puts it too.
  const prefix = `${pathText(path)} `;
  const message =
    path.length > 0 && issue.message.startsWith(prefix) ? issue.message.slice(prefix.length) : issue.message;
  return { path, message };
}

function describeAsJson(standard: Partial<StandardJSONSchemaV1.Props>, place: SchemaPlace): JsonSchema {
  const { vendor = "Standard Schema", jsonSchema } = standard;
  const convert = jsonSchema?.[place.role];
  if (typeof convert !== "function") {
    throw new WritError("schema-without-json-schema", {
      ...place,
      vendor,
      advice: adviceFor(vendor),
    });
  }
  try {
    // The copy leaves behind what is not enumerable: zod hides a "~standard" in what it returns.
    const described = copyJson({ ...convert({ target: "draft-2020-12" }) });
    if (!isJsonObject(described))
      throw new TypeError("it describes itself by something else than an object.");
    if (place.role === "input" && JSON.stringify(described).includes('"contentEncoding":"binary"'))
      throw new TypeError("File cannot be represented in JSON Schema"); // zod says that it is a text
    const { $schema: _, ...rest } = described;
    return place.role === "input" ? closed(rest) : rest;
  } catch (error) {
    const reason = `${vendor} cannot describe it as JSON Schema: ${messageOf(error)}${insteadOf(messageOf(error))}`;
    throw new WritError("schema-invalid", { ...place, reason }, { cause: error });
  }
}

/** Advice in place of types that JSON does not have, by the word for them in a library's message. */
const jsonFor: readonly (readonly [RegExp, string])[] = [
  [/\bFile\b/, "text, like the path or the address of a file"],
  [/\bDate\b/, "text, like `z.iso.datetime()`, of which the tool makes its Date"],
  [
    /\bBigInt\b/i,
    "a whole number or text, like `z.int()` or `z.string()`, of which the tool makes its bigint",
  ],
  [
    /\b(?:Map|Set)\b/,
    "an object or a list, like `z.record(z.string(), z.string())` or `z.array(z.string())`",
  ],
];

function insteadOf(said: string): string {
  const advice = jsonFor.find(([word]) => word.test(said))?.[1];
  return advice === undefined ? "" : `. A model writes JSON: take ${advice}`;
}

const openingKeywords = [
  "additionalProperties",
  "unevaluatedProperties",
  "patternProperties",
  "propertyNames",
  "allOf",
  "anyOf",
  "oneOf",
  "if",
  "dependentSchemas",
  "$ref",
];

/** Libraries leave open whether further properties may come; a model is told plainly that it shall add none, at no depth. */
function closed(schema: JsonObject): JsonSchema {
  const parts = Object.entries(schema).map(
    ([name, part]) => [name, closedWithin(schema, name, part)] as const,
  );
  const inner = Object.fromEntries(parts);
  const isOpen =
    own(schema, "type") !== "object" || openingKeywords.some((name) => Object.hasOwn(schema, name));
  return isOpen ? inner : { ...inner, additionalProperties: false };
}

/** The value of a keyword, with its schemas closed. Alternatives beside `properties` describe one object with these: none of them knows all of its fields. */
function closedWithin(schema: JsonObject, keyword: string, value: Json): Json {
  if (keyword === "properties" && isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, closedPart(part)]));
  if (keyword === "items" || keyword === "additionalProperties") return closedPart(value);
  const isList =
    keyword === "prefixItems" ||
    ((keyword === "anyOf" || keyword === "oneOf") && !Object.hasOwn(schema, "properties"));
  return isList && Array.isArray(value) ? value.map(closedPart) : value;
}

function closedPart(part: Json): Json {
  return isJsonObject(part) ? closed(part) : part;
}

function adviceFor(vendor: string): string {
  if (vendor === "valibot") {
    return `Wrap it: import { toStandardJsonSchema } from "@valibot/to-json-schema"; then give \`toStandardJsonSchema(schema)\` in its place.`;
  }
  if (vendor === "zod")
    return `Import it from "zod" 4.2 or later: zod 3 and "zod/mini" cannot. Or give the JSON Schema that zod 4 makes of it, \`z.toJSONSchema(schema)\`.`;
  if (vendor === "arktype") return `Update ${vendor}: its newest version can.`;
  return `Give a JSON Schema object instead, or a schema whose "~standard" has \`jsonSchema\`, as zod and arktype have.`;
}

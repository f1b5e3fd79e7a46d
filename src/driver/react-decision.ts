import { WritError } from "../error/writ-error.ts";
import { describeIssues, type Schema } from "../schema/schema.ts";
import { type SchemaSource, toSchema } from "../schema/to-schema.ts";
import { asObject, isJsonObject, type JsonObject } from "../util/json.ts";
import { lenientObject } from "../util/lenient-json.ts";
import { insideFence, oneObject } from "./one-object.ts";

/** The author's own fields of each decision, beside those of the protocol. */
export interface OwnFields {
  readonly properties: JsonObject;
  readonly required: readonly string[];
  /** The fault of these fields in the text of a reply; undefined if they fit. */
  faultIn(text: string): string | undefined;
}

const protocolFields = ["thought", "type", "tool", "args", "answer"];

/**
 * Reads an author's schema of decisions: an object with fields that come before those of the protocol.
 *
 * @throws WritError `definition-invalid`, `schema-invalid`
 */
export function ownFields(source: SchemaSource): OwnFields {
  const schema = toSchema(source, { name: "decision", role: "output", coerce: "none" });
  const { properties, required } = schema.jsonSchema;
  const reason = faultOf(schema, properties);
  if (reason !== undefined || !isJsonObject(properties))
    throw new WritError("definition-invalid", { where: "`reactDriver()`", reason: reason ?? "" });
  const names = Object.keys(properties);
  return {
    properties,
    required: Array.isArray(required) ? names.filter((name) => required.includes(name)) : [],
    faultIn(text) {
      const read = oneObject(insideFence(text) ?? text, ({ type }) => type === "final_answer");
      const found = read.ok ? read : lenientObject(text);
      const decision = asObject(found.ok ? found.value : undefined);
      const own = Object.entries(decision).filter(([name]) => !protocolFields.includes(name));
      const parsed = schema.parse(Object.fromEntries(own));
      if (parsed instanceof Promise) return "the fields of the decision cannot be checked at once";
      return parsed.ok ? undefined : `The decision is not valid: ${describeIssues(parsed.issues)}`;
    },
  };
}

function faultOf(schema: Schema, properties: unknown): string | undefined {
  if (!isJsonObject(properties)) return "`decision` must be the schema of an object with fields.";
  const taken = protocolFields.find((name) => Object.hasOwn(properties, name));
  if (taken !== undefined) return `\`decision\` has the field "${taken}", which the protocol has itself.`;
  if (JSON.stringify(schema.jsonSchema).includes('"$ref"'))
    return "`decision` must say all without references.";
  return schema.parse({}) instanceof Promise
    ? "`decision` must be checked at once, without waiting."
    : undefined;
}

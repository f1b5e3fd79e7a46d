import { WritError } from "../error/writ-error.ts";
import type { Schema } from "../schema/schema.ts";
import { type SchemaOptions, type SchemaSource, toSchema } from "../schema/to-schema.ts";
import { after } from "../util/maybe.ts";

const anObject = toSchema({ type: "object" }, { name: "arguments", role: "input" });

function heldToObjects(schema: Schema): Schema {
  return {
    jsonSchema: { type: "object", ...schema.jsonSchema },
    parse: (value) => after(anObject.parse(value), (read) => (read.ok ? schema.parse(read.value) : read)),
  };
}

/**
 * The schema of a tool's arguments. They are always an object, because providers want one: a schema that does not say so is taken as if it did.
 *
 * @throws WritError `schema-invalid`, `schema-without-json-schema`
 */
export function argumentSchema(
  source: SchemaSource,
  { name, refusesSlips }: Pick<SchemaOptions, "name" | "refusesSlips">,
): Schema {
  const schema = toSchema(source, { name, role: "input", refusesUnknown: true, refusesSlips });
  const { type } = schema.jsonSchema;
  if (type === "object") return schema;
  if (type === undefined) return heldToObjects(schema);
  const reason = `the arguments of a tool are an object, and this schema wants ${JSON.stringify(type)}.`;
  throw new WritError("schema-invalid", { role: "input", name, reason });
}

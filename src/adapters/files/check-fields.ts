import { toSchema } from "../../schema/to-schema.ts";
import { type JsonSchema, pathText } from "../../schema/schema.ts";
import { isJsonObject, type Json } from "../../util/json.ts";
import { fieldMeant } from "../../error/other-words.ts";
import type { Located, Problem } from "./located.ts";

/** Checks the fields of a file against a schema. For an unknown field, the error names the field that was probably meant. */
export async function checkFields(
  { fields, lineOf }: Located,
  { schema, file }: { readonly schema: JsonSchema; readonly file: string },
): Promise<readonly Problem[]> {
  const parsed = await toSchema(schema, { name: "file", role: "input", coerce: "none" }).parse(fields);
  if (parsed.ok) return [];
  return parsed.issues
    .map(({ path, message }) => ({
      file,
      line: lineOf(path),
      field: pathText(path),
      reason: meant(schema, path, fields) ?? message,
    }))
    .toSorted((a, b) => (a.line ?? Infinity) - (b.line ?? Infinity));
}

/** The known field that is near an unknown one. */
function meant(schema: JsonSchema, path: readonly (string | number)[], fields: unknown): string | undefined {
  const last = path.at(-1);
  const around = path.slice(0, -1).reduce<Json | undefined>(within, schema);
  const known = isJsonObject(around) ? around["properties"] : undefined;
  if (typeof last !== "string" || !isJsonObject(known) || Object.hasOwn(known, last)) return undefined;
  const near = fieldMeant(last, { known: Object.keys(known), given: path.slice(0, -1).reduce(at, fields) });
  return near === "" ? undefined : `unknown${near}`;
}

/** The value at a key of a value. */
const at = (value: unknown, key: string | number): unknown => Reflect.get(Object(value), key);

function within(schema: Json | undefined, key: string | number): Json | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (typeof key === "number") return schema["items"];
  const properties = schema["properties"];
  return isJsonObject(properties) ? properties[key] : undefined;
}

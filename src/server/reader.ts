import { WritError } from "../error/writ-error.ts";
import { describeIssues, type JsonSchema } from "../schema/schema.ts";
import { toSchema } from "../schema/to-schema.ts";
import type { Json } from "../util/json.ts";

/** Makes the function that checks a value of a request against a schema. @throws WritError (the function) `request-invalid` */
export function reader(source: JsonSchema, where: string): (value: unknown) => Promise<Json> {
  const schema = toSchema<JsonSchema>(source, { name: where, role: "input", coerce: "none" });
  return async (value) => {
    const result = await schema.parse(value);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was parsed from JSON
    if (result.ok) return result.value as Json;
    throw new WritError("request-invalid", { where, reason: describeIssues(result.issues) });
  };
}

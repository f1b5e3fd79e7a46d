import { plainJson } from "../util/plain-json.ts";
import { sameJson } from "../util/same-json.ts";
import type { Schema } from "../schema/schema.ts";

/**
 * Tells whether a schema may have changed a value that a person or a hook wrote. They are shown what the schema made, and write values of that
 * form: a schema that changes values (`transform`) would change those once more.
 */
export async function isChangedAgain(schema: Schema, value: unknown): Promise<boolean> {
  const got = plainJson(value);
  const again = got.ok ? await schema.parse(got.value) : undefined;
  if (!got.ok || again?.ok !== true) return false;
  const then = plainJson(again.value);
  return !then.ok || !sameJson(then.value, got.value);
}

/** The reason why such a call does not run. */
export const changedAgain =
  "its schema changes values, and would change once more what a person wrote who was shown the changed ones";

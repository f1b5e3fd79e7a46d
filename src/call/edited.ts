import { plainJson } from "../util/plain-json.ts";
import { sameJson } from "../util/same-json.ts";
import type { Schema } from "../schema/schema.ts";

/**
 * Tells whether a schema can have changed what a person or a hook wrote, of which it made this value. They are shown what the schema made, and write the
 * like of it: one that changes values (`transform`) makes others of those once more.
 */
export async function isChangedAgain(schema: Schema, value: unknown): Promise<boolean> {
  const got = plainJson(value);
  const again = got.ok ? await schema.parse(got.value) : undefined;
  if (!got.ok || again?.ok !== true) return false;
  const then = plainJson(again.value);
  return !then.ok || !sameJson(then.value, got.value);
}

/** The reason for which its call does not run. */
export const changedAgain =
  "its schema changes values, and would change once more what a person wrote who was shown the changed ones";

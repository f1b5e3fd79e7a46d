import { plainJson } from "../util/plain-json.ts";
import { sameJson } from "../util/same-json.ts";
import type { Ready } from "./call.ts";

/**
 * Tells whether the schema of the tool can have changed what a person wrote. People are shown what the tool would get, and write the like of it: a schema
 * that changes values (`transform`) makes others of those once more.
 */
export async function isChangedAgain({ tool, args }: Pick<Ready, "tool" | "args">): Promise<boolean> {
  const got = plainJson(args);
  const again = got.ok ? await tool.input.parse(got.value) : undefined;
  if (!got.ok || again?.ok !== true) return false;
  const then = plainJson(again.value);
  return !then.ok || !sameJson(then.value, got.value);
}

/** The reason for which its call does not run. */
export const changedAgain =
  "its schema changes values, and would change once more what a person wrote who was shown the changed ones";

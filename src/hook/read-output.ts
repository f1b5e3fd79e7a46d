import { WritError } from "../error/writ-error.ts";
import type { Json } from "../util/json.ts";
import { describeIssues, isChangedAgain, type Schema } from "../schema/schema.ts";
import type { HookPlace } from "./hook.ts";

/** The hook that gave a value, and the name of the value in its error. */
export interface OutputOfHook {
  readonly hook: string;
  readonly place: HookPlace;
  readonly field: "output" | "result";
}

/**
 * A value that a hook gives in place of one that an output schema has made, as that schema parses it.
 *
 * @throws WritError `hook-failed` if it does not match, or if parsing changes once more what the hook was shown
 */
export async function readOutput(
  content: Json,
  schema: Schema | undefined,
  { field, ...about }: OutputOfHook,
): Promise<{ readonly value: unknown }> {
  if (schema === undefined) return { value: content };
  const read = await schema.parse(content);
  if (!read.ok) {
    const reason = `its ${field} does not match the output schema: ${describeIssues(read.issues)}`;
    throw new WritError("hook-failed", { ...about, reason });
  }
  if (!(await isChangedAgain(schema, read.value))) return read;
  const reason =
    "the output schema changes values, and would change once more what the hook gave, which was shown the changed ones";
  throw new WritError("hook-failed", { ...about, reason });
}

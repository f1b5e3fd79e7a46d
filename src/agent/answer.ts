import type { ReadAnswer } from "../loop/options.ts";
import { describeIssues, type Schema } from "../schema/schema.ts";
import { type Json, parseJson } from "../util/json.ts";

/** Makes the reader of answers: text as it is without a schema, else what the schema makes of the answer's JSON. */
export function answerReader(
  output: Schema | undefined,
): (content: Json) => ReadAnswer | Promise<ReadAnswer> {
  if (output === undefined) return (content) => ({ ok: true, output: contentText(content) });
  return async (content) => {
    // Where a text is wanted, "1.50" is a text and no number.
    const wantsText = output.jsonSchema["type"] === "string";
    const parsed =
      typeof content === "string" && !wantsText
        ? parseJson(content)
        : ({ ok: true, value: content } as const);
    // A text that is no JSON can still be what a schema of a text wants.
    const result = await output.parse(parsed.ok ? parsed.value : content);
    if (result.ok) return { ok: true, output: result.value };
    const reason = parsed.ok ? describeIssues(result.issues) : `it is not JSON (${parsed.reason})`;
    const schema = JSON.stringify(output.jsonSchema);
    return {
      ok: false,
      reason,
      feedback: `Your answer was not accepted: ${reason}. Answer with JSON alone that matches: ${schema}`,
    };
  };
}

/** An answer as text. */
export function contentText(content: Json): string {
  return typeof content === "string" ? content : JSON.stringify(content);
}

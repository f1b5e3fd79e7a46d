import { messageOf } from "../error/writ-error.ts";
import type { ReadAnswer } from "../loop/options.ts";
import type { FinishReason } from "../message/message.ts";
import { describeIssues, type Schema } from "../schema/schema.ts";
import { type Json, parseJson } from "../util/json.ts";

/** Makes the author's output of what the model answered, or says what is wrong with it. */
export type AnswerReader = (content: Json, finishReason: FinishReason) => ReadAnswer | Promise<ReadAnswer>;

/**
 * Makes the reader of answers: what the author's own `parse` makes of the text, else text as it is without a schema, else what the schema
 * makes of the answer's JSON.
 */
export function answerReader(output: Schema | undefined, parse?: (text: string) => unknown): AnswerReader {
  if (parse !== undefined) return parsedBy(parse, output);
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

function parsedBy(parse: (text: string) => unknown, output: Schema | undefined): AnswerReader {
  return async (content) => {
    const text = contentText(content);
    try {
      const value: unknown = await parse(text);
      const checked = await output?.parse(value);
      if (checked?.ok !== false) return { ok: true, output: checked === undefined ? value : checked.value };
      return refusedAnswer(text, describeIssues(checked.issues));
    } catch (error) {
      return refusedAnswer(text, messageOf(error));
    }
  };
}

function refusedAnswer(text: string, why: string): ReadAnswer {
  const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  const reason = `Could not parse the answer '${shown}': ${why}`;
  return { ok: false, reason, feedback: `Your answer was not accepted: ${why}. Answer again.` };
}

/** An answer as text. */
export function contentText(content: Json): string {
  return typeof content === "string" ? content : JSON.stringify(content);
}

import { asSentence } from "../util/as-sentence.ts";
import { describeType } from "../driver/describe-type.ts";
import { messageOf } from "../error/writ-error.ts";
import type { ReadAnswer } from "../turn/options.ts";
import { contentText, type FinishReason } from "../message/message.ts";
import { describeIssues, type Issue, type Schema } from "../schema/schema.ts";
import { type Json, parseJson } from "../util/json.ts";
import { lenientJson, lenientValues } from "../util/lenient-json.ts";

/** Makes the author's output from the model's answer, or says what is wrong with it. */
export type AnswerReader = (content: Json, finishReason: FinishReason) => ReadAnswer | Promise<ReadAnswer>;

/** Options of reading answers, apart from the schema. */
export interface Answering {
  readonly parse?: (text: string) => unknown;
  /** True: without a schema, a JSON answer stays JSON. Default: it becomes text. */
  readonly keepsJson?: boolean;
}

/**
 * Makes the reader of answers. The author's `parse` reads the text, if there is one. Without a schema the answer stays as it is. With a schema the JSON in
 * the answer is parsed: strictly first, then leniently (fences, prose around it, extra commas); of several values in prose, the first that fits counts.
 * An answer from which a value is made must be whole: one that was cut off at the token limit is refused.
 */
export function answerReader(
  output: Schema | undefined,
  { parse, keepsJson = false }: Answering = {},
): AnswerReader {
  if (parse !== undefined) return parsedBy(parse, output);
  if (output === undefined)
    return (content) => ({ ok: true, output: keepsJson ? content : contentText(content) });
  return async (content, finishReason) => {
    const found = valuesIn(content, output, finishReason);
    const faults: (readonly Issue[])[] = [];
    for (const value of found.values) {
      const result = await output.parse(value);
      if (result.ok) return { ok: true, output: result.value };
      faults.push(result.issues);
    }
    const problem = found.problem ?? describeIssues(nearest(faults));
    const feedback = `Answer with JSON alone that matches: ${JSON.stringify(output.jsonSchema)}`;
    return refusedAnswer(content, {
      output,
      problem: problem === "" ? "it says nothing" : problem,
      feedback,
    });
  };
}

/** The faults of the first value of the wanted kind, which has faults only inside it; otherwise the faults of the first value. */
function nearest(faults: readonly (readonly Issue[])[]): readonly Issue[] {
  return faults.find((issues) => issues.every(({ path }) => path.length > 0)) ?? faults[0] ?? [];
}

interface Found {
  /** The values that the answer may mean, most likely first. */
  readonly values: Iterable<Json>;
  /** The fault that the model is told if none of them fits. Left out if the schema's own faults say it best. */
  readonly problem?: string;
}

function valuesIn(content: Json, { jsonSchema }: Schema, finishReason: FinishReason): Found {
  if (typeof content !== "string") return { values: [content] };
  const isCut = finishReason === "length";
  const strict = parseJson(content);
  // For a schema of text, "1.50" is text, not a number; some models put it in quotes.
  if (jsonSchema["type"] === "string" && !isCut)
    return { values: strict.ok && typeof strict.value === "string" ? [content, strict.value] : [content] };
  // Only a closing bracket proves that an answer is whole: 12 may be the beginning of 123.
  if (strict.ok && (!isCut || typeof strict.value === "object")) return { values: [strict.value] };
  if (isCut) return { values: [], problem: cutOff };
  const lenient = lenientJson(content);
  if (lenient.ok) return { values: readable(content) };
  // Text that is not JSON can still fit a schema of several types.
  return { values: [content], problem: `it is not JSON (${lenient.reason})` };
}

/** The values in a text, and the text itself. Checking a value can be expensive: of very many, only the first few are tried. */
function* readable(content: string): Generator<Json> {
  let count = 0;
  for (const read of lenientValues(content)) {
    if (read.ok) yield read.value;
    if ((count += 1) === mostTried) break;
  }
  yield content;
}

const mostTried = 32;

/** The order of Agents.KT: the author's function first, then the schema; the model is told of faults. */
function parsedBy(parse: (text: string) => unknown, output: Schema | undefined): AnswerReader {
  return async (content, finishReason) => {
    const refused = (problem: string): ReadAnswer =>
      refusedAnswer(content, { output, problem, feedback: "Answer again." });
    if (finishReason === "length") return refused(cutOff);
    try {
      const value: unknown = await parse(contentText(content));
      const checked = await output?.parse(value);
      if (checked?.ok === false) return refused(describeIssues(checked.issues));
      return { ok: true, output: checked === undefined ? value : checked.value };
    } catch (error) {
      return refused(messageOf(error));
    }
  };
}

const cutOff = "it was cut off at the token limit, write less";

interface Refusal {
  readonly output: Schema | undefined;
  readonly problem: string;
  readonly feedback: string;
}

function refusedAnswer(content: Json, { output, problem, feedback }: Refusal): ReadAnswer {
  const text = contentText(content);
  const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  const wanted = output === undefined ? "the output" : describeType(output.jsonSchema);
  return {
    ok: false,
    reason: `Could not parse LLM output as ${wanted}: '${shown}' (${problem})`,
    feedback: `Your answer was not accepted: ${asSentence(problem)} ${feedback}`,
  };
}

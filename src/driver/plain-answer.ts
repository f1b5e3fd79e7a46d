import type { Schema } from "../schema/schema.ts";
import type { JsonObject } from "../util/json.ts";
import { describeType } from "./describe-type.ts";
import type { GrammarPart } from "./free-text.ts";
import { grammarFor } from "./grammar/grammar.ts";
import type { ReplyShape } from "./reply-shape.ts";

/** What a model is told of the form of such an answer. */
export function answerForm(output: Schema | undefined): string {
  return output === undefined ? "in words" : `with JSON and nothing else: ${describeType(output.jsonSchema)}`;
}

/** How many calls may follow the first one in a reply that is held: small models repeat one call for ever. */
export const moreCalls = "{0,7}";

/**
 * The grammar of a protocol in which a reply is a call or else the answer as it stands: JSON where it is held to a schema, `text` elsewhere.
 * `callsOf` makes the grammar of calls from the expressions of the `schemas`; it is not asked when there is nothing to call.
 */
export function plainAnswer(
  { tools, mayAnswer, output }: ReplyShape,
  { text, schemas }: { readonly text: GrammarPart; readonly schemas: readonly JsonObject[] },
  callsOf: (expressions: readonly string[]) => GrammarPart,
): string {
  const isText = output === undefined || output["type"] === "string";
  const rules: string[] = mayAnswer && isText ? [...text.rules] : [];
  const grammar = grammarFor([isText ? {} : output, ...schemas], ([answer = "value", ...expressions]) => {
    const choices = mayAnswer ? [isText ? text.expression : answer] : [];
    if (tools.length === 0) return choices.join("");
    const calls = callsOf(expressions);
    rules.push(...calls.rules);
    return [calls.expression, ...choices].join(" | ");
  });
  return [grammar, ...rules].join("\n");
}

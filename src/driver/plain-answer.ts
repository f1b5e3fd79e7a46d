import { offeredTools } from "../policy/allow-list.ts";
import type { Tool } from "../tool/tool.ts";
import type { JsonObject } from "../util/json.ts";
import { answerForm } from "./describe-type.ts";
import type { GrammarPart } from "./free-text.ts";
import { grammarFor, terminal } from "./grammar/grammar.ts";
import type { ReplyShape, Shaping } from "./reply-shape.ts";

/** The text that explains a protocol of calls or plain answers. */
export interface CallForm {
  /** The protocol's word for a tool. */
  readonly noun: string;
  /** The lines that describe a tool. */
  readonly tool: (tool: Tool) => string;
  /** The lines that say how to call. */
  readonly calling: readonly string[];
}

/** Makes the instructions of a protocol in which a reply is either calls or a plain answer. */
export function callsOrAnswer({ noun, tool, calling }: CallForm): (shaping: Shaping) => string {
  return ({ allowed, output }) => {
    const form = answerForm(output);
    if (allowed.tools.size === 0) return `Answer ${form}.`;
    const tools = offeredTools(allowed).map(tool);
    const answering = `When no ${noun} is needed, or none is needed any more, answer ${form}.`;
    return [
      `Available ${noun}s, with the types of their arguments:\n${tools.join("\n")}`,
      [...calling, answering].join("\n"),
    ].join("\n\n");
  };
}

/** The input schemas of the tools. */
export function inputsOf(tools: readonly Tool[]): readonly JsonObject[] {
  return tools.map(({ input }) => input.jsonSchema);
}

/** The most calls after the first in a constrained reply: small models repeat one call for ever. */
export const moreCalls = "{0,7}";

/** The expression of one of the calls, each an object: the text of `head` up to the arguments, the arguments, and the end. */
export function objectCalls(
  tools: readonly Tool[],
  args: readonly string[],
  head: (name: string) => string,
): string {
  return tools
    .map(({ name }, index) => `${terminal(head(JSON.stringify(name)))} ${args[index] ?? "object"} "}"`)
    .join(" | ");
}

/**
 * The grammar of a protocol in which a reply is either a call or a plain answer: JSON if the answer has a schema, otherwise `text`.
 * `callsOf` makes the grammar of calls from the expressions of the `schemas`, by default the inputs of the tools; it is
 * not called if there is nothing to call.
 */
export function plainAnswer(
  { tools, mayAnswer, output }: ReplyShape,
  {
    text,
    schemas = inputsOf(tools),
  }: { readonly text: GrammarPart; readonly schemas?: readonly JsonObject[] },
  callsOf: (expressions: readonly string[]) => GrammarPart,
): string {
  const isText = output === undefined || output["type"] === "string";
  const choices: GrammarPart[] = [];
  const grammar = grammarFor([isText ? {} : output, ...schemas], ([answer = "value", ...expressions]) => {
    if (tools.length > 0) choices.push(callsOf(expressions));
    if (mayAnswer) choices.push(isText ? text : { expression: answer, rules: [] });
    return choices.map(({ expression }) => expression).join(" | ");
  });
  return [grammar, ...choices.flatMap(({ rules }) => rules)].join("\n");
}

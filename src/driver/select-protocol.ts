import { offeredTools } from "../policy/allow-list.ts";
import type { ReplyFormat } from "../model/model.ts";
import type { Tool } from "../tool/tool.ts";
import type { JsonObject } from "../util/json.ts";
import { remembered } from "../util/remembered.ts";
import { bundleSchemas } from "./bundle-schemas.ts";
import { answerPlace, describeType } from "./describe-type.ts";
import { grammarFor, grammarOf, terminal } from "./grammar/grammar.ts";
import { anyAnswer, closedObject, oneOf, writtenAnswer } from "./object-replies.ts";
import type { ReplyShape, Shaping } from "./reply-shape.ts";

/** The text of a choice. */
export function choiceOf(tool: string): string {
  return JSON.stringify({ tool });
}

/** Tells the model the names and purposes of the tools. */
export function selectInstructions({ allowed, output }: Shaping): string {
  const answer = answerPlace(output);
  const tools = offeredTools(allowed).map(({ name, description }) => `- ${name}: ${description}`);
  const toAnswer = `To answer: {"answer": ${answer}}`;
  const only = "Reply with exactly one JSON object and nothing else: no markdown, no commentary.";
  if (tools.length === 0) return `${only}\n${toAnswer}`;
  return [
    `Available tools:\n${tools.join("\n")}`,
    [
      only,
      'To use a tool, name it: {"tool": "<name>"}. You are asked for its arguments then, and its result comes back to you.',
      `When no tool is needed, or none is needed any more. ${toAnswer}`,
    ].join("\n"),
  ].join("\n\n");
}

/** Asks the model for the arguments of the chosen tool. */
export function argumentsRequest({ name, input }: Tool): string {
  return `The arguments of ${name}: ${describeType(input.jsonSchema)}\nReply with them as one JSON object and nothing else.`;
}

/** The JSON Schema of a reply that chooses or answers. */
export function choiceSchema({ tools, mayAnswer, output = anyAnswer }: ReplyShape): JsonObject {
  const bundle = bundleSchemas({ $answer: output });
  const choice = closedObject({ tool: { enum: tools.map(({ name }) => name) } });
  const choices = [
    ...(tools.length === 0 ? [] : [choice]),
    ...(mayAnswer ? [closedObject({ answer: bundle.at("$answer") })] : []),
  ];
  return { ...oneOf(choices), ...bundle.root };
}

/** The grammar of a reply that chooses or answers. */
export function choiceGrammar({ tools, mayAnswer, output = writtenAnswer }: ReplyShape): string {
  return grammarFor([output], ([answer = "value"]) => {
    const names = tools.map(({ name }) => terminal(JSON.stringify(name)));
    return [
      ...(names.length === 0 ? [] : [`${terminal('{"tool":')} (${names.join(" | ")}) "}"`]),
      ...(mayAnswer ? [`${terminal('{"answer":')} ${answer} "}"`] : []),
    ].join(" | ");
  });
}

// Depends on: the input schema of the tool.
const grammarOfArguments = remembered(({ input }: Tool) => grammarOf(input.jsonSchema));

/** The format of a reply with the arguments of a tool. */
export function argumentsFormat(tool: Tool, { model }: Pick<Shaping, "model">): ReplyFormat | undefined {
  const schema = tool.input.jsonSchema;
  const { format } = model.features;
  if (format === "schema") return { type: "schema", schema };
  return format === "grammar" ? { type: "grammar", grammar: grammarOfArguments(tool) } : undefined;
}

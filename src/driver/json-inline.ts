import { isJsonObject, type JsonObject } from "../util/json.ts";
import { answerPlace, describeType, type ShownTools, toolList } from "./describe-type.ts";
import type { TurnInput } from "./driver.ts";
import { textWithout } from "./free-text.ts";
import { resultObject } from "./json-action.ts";
import { type JsonSettings, wholeAnswers } from "./json-settings.ts";
import { matchTool } from "./match-tool.ts";
import { closedObject, objectReplies } from "./object-replies.ts";
import { oneObject } from "./one-object.ts";
import { objectCalls, plainAnswer } from "./plain-answer.ts";
import { type ReplyShape, type Shaping } from "./reply-shape.ts";
import { asChat, inWords, resend } from "./text-chat.ts";
import { type TextProtocol, type TextReading, violation } from "./text-protocol.ts";

/** The dialect `inline`: a reply is either `{"tool", "arguments"}` alone, or the answer. After Agents.KT's inline fallback. */
export function inlineProtocol({ show, resultRole, maxRetries }: JsonSettings): TextProtocol {
  return {
    name: "inline",
    maxRetries,
    conversation: asChat(
      (shaping) => instructions(shaping, show),
      inWords({
        calls: (calls) =>
          calls
            .map(({ name, arguments: args }) => JSON.stringify({ tool: name, arguments: args }))
            .join("\n"),
        result: resultObject,
        resultRole,
      }),
    ),
    format: { schema: inlineSchema, grammar: inlineGrammar },
    read: readInline,
    feedback: resend("To call a tool, reply with its JSON object and nothing else; otherwise answer."),
    ...wholeAnswers,
  };
}

/** Sign of a reply that was to be a call, also as Python writes it. */
const signOfCall = /\{\s*(["'])tool\1\s*:/;

function readInline(text: string, turn: TurnInput): TextReading {
  const read = oneObject(text, ({ tool }) => tool === undefined);
  if (!read.ok) {
    return signOfCall.test(text) ? violation(read.reason) : { type: "final", content: text, plain: true };
  }
  const { value } = read;
  const { tool, arguments: args = {}, final } = value;
  if (isJsonObject(final) && Object.hasOwn(final, "content") && Object.keys(value).length === 1)
    return { type: "final", content: final["content"] ?? null };
  if (typeof tool !== "string" || !isCall(value, tool, turn))
    return { type: "final", content: text, plain: true };
  if (!isJsonObject(args)) return violation('"arguments" must be a JSON object');
  return { type: "calls", calls: [{ name: tool, arguments: args }] };
}

/** True if an object is a call: an answer can be an object with a `tool` too. A call of a known tool may leave out the arguments. */
function isCall(reply: JsonObject, tool: string, { allowed }: TurnInput): boolean {
  if (Object.keys(reply).some((key) => key !== "tool" && key !== "arguments")) return false;
  return Object.hasOwn(reply, "arguments") || allowed.tools.has(matchTool(tool, allowed));
}

function instructions({ allowed, output, model }: Shaping, show: ShownTools | undefined): string {
  const answer = answerPlace(output);
  const plain =
    output === undefined ? "plain text" : `JSON and nothing else: ${describeType(output.jsonSchema)}`;
  return [
    ...toolList(allowed, "arguments", show),
    [
      ...(allowed.tools.size === 0
        ? []
        : [
            "To call a tool, reply with exactly one JSON object and nothing else, no markdown and no commentary:",
            '{"tool": "<name>", "arguments": {…}}',
            "One tool call in a reply; its result comes back to you. Never invent tools or arguments.",
          ]),
      model.features.format === "schema"
        ? `To answer: {"final": {"content": ${answer}}}`
        : `When no tool is needed, or none is needed any more, reply with the answer as ${plain}.`,
    ].join("\n"),
  ].join("\n\n");
}

/** The schema of replies. No schema allows plain text, so a model that is held to one answers in an object. */
function inlineSchema(shape: ReplyShape): JsonObject {
  return objectReplies(shape, {
    call: (name, args) => closedObject({ tool: { const: name }, arguments: args }),
    answer: (content) => closedObject({ final: closedObject({ content }) }),
  });
}

function inlineGrammar(shape: ReplyShape): string {
  return plainAnswer(shape, { text: textWithout('"tool"') }, (args) => ({
    expression: objectCalls(shape.tools, args, (name) => `{"tool":${name},"arguments":`),
    rules: [],
  }));
}

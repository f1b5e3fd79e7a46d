import { offeredTools } from "../policy/allow-list.ts";
import type { ResultMessage, ToolCall } from "../message/message.ts";
import { isJsonObject, visibleJson } from "../util/json.ts";
import { describeType } from "./describe-type.ts";
import { textWithout } from "./free-text.ts";
import { terminal } from "./grammar/grammar.ts";
import { type JsonSettings, wholeAnswers } from "./json-settings.ts";
import { toldResult } from "./mark-results.ts";
import { endOfObject, oneObject } from "./one-object.ts";
import { moreCalls, objectCalls, plainAnswer } from "./plain-answer.ts";
import { type ReplyShape, type Shaping } from "./reply-shape.ts";
import { asChat, inWords, resend } from "./text-chat.ts";
import { type TextCall, type TextProtocol, type TextReading, violation } from "./text-protocol.ts";

/**
 * The dialect `hermes`, which Nous Hermes, Qwen and many others were trained on: each call is in `<tool_call>` tags. A reply without a tag is the
 * answer. Tools are always shown as schemas, as in that training.
 */
export function hermesProtocol({ resultRole, maxRetries }: JsonSettings): TextProtocol {
  return {
    name: "hermes",
    maxRetries,
    conversation: asChat(instructions, inWords({ calls: taggedCalls, result: taggedResult, resultRole })),
    format: { grammar: hermesGrammar },
    read: readHermes,
    feedback: resend(
      `To call tools, reply with ${open}{"name": …, "arguments": {…}}${close} for each call and nothing else; otherwise answer in words, without tags.`,
    ),
    ...wholeAnswers,
  };
}

const open = "<tool_call>";
const close = "</tool_call>";

function readHermes(text: string): TextReading {
  if (!signOfCall.test(text)) return { type: "final", content: text, plain: true };
  const calls: TextCall[] = [];
  for (let at = 0; at < text.length;) {
    if (!text.startsWith(open, at)) return violation(`there is text around the calls, or a broken tag`);
    const end = endOfCall(text, at + open.length);
    if (end === undefined) return violation(`a ${open} is not closed`);
    const call = readCall(text.slice(at + open.length, end));
    if ("type" in call) return call;
    calls.push(call);
    at = end + close.length;
    while (text[at]?.trim() === "") at += 1;
  }
  return { type: "calls", calls };
}

/** A sign that a reply was meant to be a call. An answer may mention the tags. */
const signOfCall = /^<tool_call|<tool_call>\s*\{|<\/tool_call>$/;

/** The index of the tag that closes a call: after the object, whose texts may contain the tag too. */
function endOfCall(text: string, start: number): number | undefined {
  const object = text.indexOf("{", start);
  const isObject = object !== -1 && text.slice(start, object).trim() === "";
  const behind = isObject ? endOfObject(text, object) : start;
  const end = behind === undefined ? -1 : text.indexOf(close, behind);
  return end === -1 ? undefined : end;
}

function readCall(text: string): TextCall | ReturnType<typeof violation> {
  const read = oneObject(text);
  if (!read.ok) return violation(`in a ${open}: ${read.reason}`);
  const unknown = Object.keys(read.value).find((key) => key !== "name" && key !== "arguments");
  if (unknown !== undefined) return violation(`a call has the unknown field "${unknown}"`);
  const { name, arguments: args = {} } = read.value;
  if (typeof name !== "string" || name === "") return violation('"name" must be the name of a tool');
  if (!isJsonObject(args)) return violation('"arguments" must be a JSON object');
  return { name, arguments: args };
}

function taggedCalls(calls: readonly ToolCall[]): string {
  return calls
    .map(({ name, arguments: args }) => `${open}\n${JSON.stringify({ name, arguments: args })}\n${close}`)
    .join("\n");
}

function taggedResult(message: ResultMessage): string {
  const { mark, value } = toldResult(message);
  const told = message.status === "ok" ? { content: value } : { error: value };
  return `<tool_response>\n${visibleJson(JSON.stringify({ name: message.name, ...mark, ...told }))}\n</tool_response>`;
}

function instructions({ allowed, output }: Shaping): string {
  const tools = offeredTools(allowed).map(({ name, description, input }) =>
    JSON.stringify({
      type: "function",
      function: { name, description, parameters: input.jsonSchema },
    }),
  );
  const form =
    output === undefined ? "in words" : `as JSON and nothing else: ${describeType(output.jsonSchema)}`;
  if (tools.length === 0) return `Answer ${form}.`;
  return [
    "You may call functions to help with the task. These are the functions:",
    `<tools>\n${tools.join("\n")}\n</tools>`,
    "For each function call reply with a JSON object with its name and arguments in tags, and with nothing else around it:",
    `${open}\n{"name": "<function name>", "arguments": {…}}\n${close}`,
    `Results come back in <tool_response> tags. When no function is needed, or none is needed any more, answer ${form}.`,
  ].join("\n");
}

function hermesGrammar(shape: ReplyShape): string {
  return plainAnswer(shape, { text: textWithout("tool_call") }, (args) => {
    const calls = objectCalls(shape.tools, args, (name) => `{"name":${name},"arguments":`);
    const call = `${terminal(`${open}\n`)} (${calls}) ${terminal(`\n${close}`)}`;
    return { expression: `call (${terminal("\n")} call)${moreCalls}`, rules: [`call ::= ${call}`] };
  });
}

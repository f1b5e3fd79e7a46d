import { asSentence } from "../util/as-sentence.ts";
import { checkArguments, checkShape } from "../error/check-shape.ts";
import { callable, object, oneOf, optional } from "../util/shape.ts";
import {
  callsOf,
  type Message,
  type ReplyMessage,
  type ReplyPart,
  type ResultMessage,
  type SystemMessage,
  textOf,
  type ToolCall,
  userMessage,
} from "../message/message.ts";
import { onceForShape, type Shaping } from "./reply-shape.ts";
import type { Exchanged, TextProtocol } from "./text-protocol.ts";

/**
 * Makes the conversation of a protocol for a chat model: its instructions follow the author's in the system message,
 * user messages stay as they are, and `exchange` writes a reply and its results.
 *
 * The instructions are made once for each list of tools, choice of tools, output and kind of format, and must not depend on anything else.
 *
 * @example
 * ```ts
 * import { asChat, inWords } from "writ/drivers";
 *
 * export const conversation = asChat(
 *   ({ allowed }) => `Write CALL <name> <JSON> to call one of: ${[...allowed.tools.keys()].join(", ")}. Else answer.`,
 *   inWords({
 *     calls: (calls) => calls.map(({ name, arguments: args }) => `CALL ${name} ${JSON.stringify(args)}`).join("\n"),
 *     result: ({ name, text }) => `${name} gave ${text}`,
 *   }),
 * );
 * ```
 */
export function asChat(
  instructions: (shaping: Shaping) => string,
  exchange: (exchanged: Exchanged) => readonly Message[],
): TextProtocol["conversation"] {
  checkArguments("asChat()", { instructions, exchange }, { instructions: callable, exchange: callable });
  const instructionsOf = onceForShape(instructions);
  return (turn) => {
    const { messages } = turn.transcript;
    const told: Message[] = [systemMessage(messages[0], instructionsOf(turn))];
    for (let index = 0; index < messages.length; index += 1) {
      const reply = messages[index];
      if (reply?.role === "user") told.push(reply);
      if (reply?.role !== "assistant") continue;
      const results: ResultMessage[] = [];
      let next = messages[index + 1];
      for (; next?.role === "tool"; next = messages[index + 1]) {
        results.push(next);
        index += 1;
      }
      for (const each of exchange({ reply, results, next, turn })) told.push(each);
    }
    return { messages: told };
  };
}

/** The author's words and the protocol. A conversation without a system message gets one, because the protocol has to be told somewhere. */
function systemMessage(first: Message | undefined, instructions: string): SystemMessage {
  const blocks = [first?.role === "system" ? first.text : "", instructions];
  return { role: "system", text: blocks.filter((text) => text !== "").join("\n\n") };
}

/** The text forms of calls, answers and results. */
export interface TextWords {
  calls(calls: readonly ToolCall[]): string;
  /** Default: the text of the answer. */
  answer?(text: string): string;
  result(message: ResultMessage): string;
  /** A reply of the model in this protocol, as it is shown again. Default: as it is. */
  again?(raw: string): string;
  /** The role of messages with results. Chat templates of models without tools often refuse `tool`. Default `user`. */
  readonly resultRole?: "user" | "tool";
}

const wordsShape = object({
  calls: callable,
  answer: optional(callable),
  result: callable,
  again: optional(callable),
  resultRole: optional(oneOf("user", "tool")),
});

/**
 * Makes the plain `exchange` of {@link asChat}: a reply as the model wrote it, or as written here if another driver read it, followed by the
 * results. The results of one reply are one user message, because many chat templates want user and assistant to alternate.
 *
 * @example
 * ```ts
 * import { inWords } from "writ/drivers";
 *
 * export const exchange = inWords({
 *   calls: (calls) => calls.map(({ name, arguments: args }) => `CALL ${name} ${JSON.stringify(args)}`).join("\n"),
 *   result: ({ name, text }) => `${name} gave ${text}`,
 *   resultRole: "tool",
 * });
 * ```
 */
export function inWords(words: TextWords): (exchanged: Exchanged) => readonly Message[] {
  checkShape("inWords()", words, wordsShape);
  const told = onceForResults((reply, results) => [
    spoken(reply.raw === undefined ? written(reply, words) : (words.again?.(reply.raw) ?? reply.raw)),
    ...resultMessages(results, words),
  ]);
  return ({ reply, results }) => told(reply, results);
}

/**
 * The messages that `make` makes from a reply and its results, made once: the same objects for the same input. The reply alone is not a sufficient key:
 * another run may have marked the results.
 */
export function onceForResults(
  make: (reply: ReplyMessage, results: readonly ResultMessage[]) => readonly Message[],
): (reply: ReplyMessage, results: readonly ResultMessage[]) => readonly Message[] {
  const made = new WeakMap<
    ReplyMessage,
    { readonly of: readonly ResultMessage[]; readonly told: readonly Message[] }
  >();
  return (reply, results) => {
    const last = made.get(reply);
    if (last?.of.length === results.length && last.of.every((result, index) => result === results[index]))
      return last.told;
    const told = make(reply, results);
    made.set(reply, { of: results, told });
    return told;
  };
}

function written(message: ReplyMessage, words: TextWords): string {
  const calls = callsOf(message);
  if (calls.length > 0) return words.calls(calls);
  return words.answer?.(textOf(message)) ?? textOf(message);
}

function resultMessages(results: readonly ResultMessage[], words: TextWords): readonly Message[] {
  const shown = results.map((result) => words.result(result));
  if (words.resultRole === "tool")
    return results.map((result, index) => ({ ...result, text: shown[index] ?? "" }));
  return shown.length === 0 ? [] : [userMessage(shown.join("\n"))];
}

/** A reply with this text, after its other parts. */
export function spoken(text: string, others: readonly ReplyPart[] = []): ReplyMessage {
  return { role: "assistant", parts: [...others, { type: "text", text }] };
}

/** Makes the feedback on a refused reply: the reason, and the form to write. */
export function resend(form: string): (reason: string) => string {
  return (reason) => `Your reply was not accepted: ${asSentence(reason)} ${form}`;
}

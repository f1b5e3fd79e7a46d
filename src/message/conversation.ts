import { isWritError, messageOf } from "../error/writ-error.ts";
import { fits } from "../util/shape.ts";
import { type Fields, fieldsOf, isPart, readPart } from "./foreign-parts.ts";
import { ForeignCalls, readReply, readResults } from "./foreign-replies.ts";
import { isAsked, type Message, type UserMessage } from "./message.ts";
import { messageShape } from "./message-shape.ts";
import { readTranscript } from "./read-transcript.ts";

/**
 * A message of a conversation, as this package, the AI SDK (`ModelMessage`, `UIMessage`) or OpenAI's chat completions have it.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import type { ConversationMessage } from "writ/doors";
 *
 * const guide = agent({ name: "guide", model: "ollama/qwen2.5:7b" });
 * export const answer = (messages: readonly ConversationMessage[]) => guide.run(messages);
 * ```
 */
export interface ConversationMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly parts?: unknown;
}

/** A conversation whose last message is the question. */
export interface Conversation {
  readonly before: readonly Message[];
  readonly asked: UserMessage;
}

/** True for a value that means a message, a part of one, or a list of either: nothing else that is asked has this form. */
export function meansConversation(value: unknown): boolean {
  return Array.isArray(value) || isPart(value) || hasRole(value);
}

function hasRole(value: unknown): boolean {
  return typeof fieldsOf(value)["role"] === "string";
}

/** Reads parts, a message or a list of messages. @throws TypeError that says what is wrong where, and what to pass */
export function readConversation(value: unknown): Conversation {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length === 0) throw new TypeError("the list is empty: give texts and files, or messages");
  if (list.some(hasRole)) return readMessages(list);
  const parts = list.map((each, index) => inPlace(`[${index}]`, () => readPart(each)));
  return { before: [], asked: { role: "user", parts } };
}

function readMessages(list: readonly unknown[]): Conversation {
  const messages: Message[] = [];
  const places: number[] = [];
  const calls = new ForeignCalls();
  for (const [index, each] of list.entries())
    for (const message of inPlace(`message ${index}`, () => readMessage(each, calls))) {
      messages.push(message);
      places.push(index);
    }
  checkTranscript(messages, places);
  const asked = messages.at(-1);
  if (asked !== undefined && isAsked(asked)) return { before: messages.slice(0, -1), asked };
  throw new TypeError(
    `message ${list.length - 1} is the last, and not of the user: it is what the agent is asked`,
  );
}

function inPlace<Value>(place: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new TypeError(`${place}: ${messageOf(error)}`, { cause: error });
  }
}

function checkTranscript(messages: readonly Message[], places: readonly number[]): void {
  try {
    readTranscript({ messages });
  } catch (error) {
    if (!isWritError(error, "transcript-invalid")) throw error;
    const { index, reason } = error.data;
    throw new TypeError(`message ${String(places[Number(index)])} ${String(reason)}`, { cause: error });
  }
}

function readMessage(given: unknown, calls: ForeignCalls): readonly Message[] {
  const message = fieldsOf(given);
  const { role } = message;
  if (role === "system" || role === "developer")
    throw new TypeError("it is the author's, not the user's; give its words as `instructions`");
  if (isOwn(given)) return [calls.kept(given)];
  if (role === "user") return [readUser(message)];
  if (role === "assistant") return readReply(message, calls);
  if (role === "tool" || role === "function") return readResults(message, calls);
  const { type } = message;
  throw new TypeError(
    role === undefined && typeof type === "string"
      ? `it is an item "${type}" and no message; give calls as \`tool_calls\` of the assistant, results as messages of the role "tool"`
      : `its role is ${JSON.stringify(role)}; there are user, assistant and tool`,
  );
}

/** True for a message of this package, which keeps its label. */
function isOwn(message: unknown): message is Message {
  return !("id" in fieldsOf(message)) && fits(messageShape, message);
}

/** Pages keep more beside a text than a model is told. */
const isDecoration = /^(?:step-start|data-)/;

function readUser({ content, parts }: Fields): UserMessage {
  const given = parts ?? content;
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const told = list.filter((each) => !isDecoration.test(String(fieldsOf(each)["type"])));
  if (given === undefined || told.length === 0) throw new TypeError("it has neither `content` nor `parts`");
  return { role: "user", parts: told.map((each) => readPart(each)) };
}

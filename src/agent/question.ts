import { messageOf, WritError } from "../error/writ-error.ts";
import { readConversation, meansConversation } from "../message/conversation.ts";
import { fileText } from "../message/file-part.ts";
import type { Message, UserMessage } from "../message/message.ts";
import { type Json, jsonOrNull } from "../util/json.ts";
import { leaveUnheard } from "../util/maybe.ts";
import { fits, kindOf, record } from "../util/shape.ts";

/** A question that is not plain text: parts, or the messages of a conversation. */
export interface ReadQuestion {
  /** The question, for the model. */
  readonly message: UserMessage;
  /** The messages before it. */
  readonly before: readonly Message[];
  /** The words of the question that the user wrote, without its files. */
  readonly said: string;
  /** The question as text, with its files in words. */
  readonly text: string;
}

/** A value that an agent made, on its way to another one: no question, whatever it looks like. */
export class MadeValue {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }

  /** A journal names a run by its input. */
  toJSON(): unknown {
    return this.value;
  }
}

/**
 * Reads the question to an agent without an input schema. Undefined for text, and for a JSON object, which the model gets as JSON.
 *
 * @throws WritError `input-invalid` for anything that is not a question: nothing, a promise, a function, a malformed message
 */
export function readQuestion(input: unknown, name: string): ReadQuestion | undefined {
  if (typeof input === "string") return undefined;
  const refuse = (issues: string, cause?: unknown): never => {
    throw new WritError("input-invalid", { name, issues }, { cause });
  };
  const fault = faultOf(input);
  if (fault !== undefined) return refuse(fault);
  if (!meansConversation(input)) return undefined;
  try {
    const { before, asked: message } = readConversation(input);
    const words = message.parts.filter((part) => part.type === "text").map(({ text }) => text);
    const told = message.parts.map((part) => (part.type === "file" ? fileText(part) : part.text));
    return { before, message, said: words.join("\n"), text: told.join("\n") };
  } catch (error) {
    return refuse(messageOf(error), error);
  }
}

/** The question as hooks see it, and may return it. */
export function questionJson({ before, message }: ReadQuestion): Json {
  return jsonOrNull(before.length === 0 ? message : [...before, message]);
}

const takes = "give a text, a list of texts and files, a message or a list of messages";

/** The fields of requests to models, which are not part of a question. */
const requestFields: ReadonlySet<string> = new Set([
  "prompt",
  "messages",
  "system",
  "instructions",
  "model",
  "tools",
]);

function faultOf(input: unknown): string | undefined {
  if (input === undefined || input === null) return `there is none (it is ${String(input)}); ${takes}`;
  if (typeof input === "function" || typeof input === "symbol" || typeof input === "bigint")
    return `it is a ${typeof input}; ${takes}`;
  if (typeof input !== "object" || Array.isArray(input)) return undefined;
  leaveUnheard(input);
  if ("then" in input && typeof input.then === "function") return "it is a promise: await it first";
  const isPlain = fits(record, input) && isPlainObject(input);
  if (!isPlain) return `it is ${kindOf(input)} of the class ${className(input)}; ${takes}`;
  const fields = Object.keys(input);
  const asks = "prompt" in input ? "prompt" : "messages" in input ? "messages" : undefined;
  if (asks === undefined || !fields.every((field) => requestFields.has(field))) return undefined;
  return `it is an object with \`${asks}\`; give the value of \`${asks}\` itself`;
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || "toJSON" in value;
}

function className(value: object): string {
  return value.constructor.name;
}

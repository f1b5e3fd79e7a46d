import type {
  Message,
  ReplyMessage,
  ReplyPart,
  ResultMessage,
  SystemMessage,
  UserMessage,
} from "../message/message.ts";
import { textOf, userMessage } from "../message/message.ts";
import type { Reply } from "../model/assemble.ts";
import type { ReplyFormat } from "../model/model.ts";
import type { AllowList } from "../policy/allow-list.ts";
import type { Json } from "../util/json.ts";
import { remembered } from "../util/remembered.ts";
import type { Driver, Reading, TurnInput } from "./driver.ts";
import { matchTool } from "./match-tool.ts";
import { onceForShape, type Shaping } from "./reply-shape.ts";
import { callWords, visibleText } from "./recognise/visible-text.ts";
import { readTextReply } from "./text-reply.ts";

/** A call as it was found in text. */
export interface TextCall {
  readonly name: string;
  readonly arguments: Json;
}

/**
 * What the text of a reply says. A final reply is `plain` when its answer is the text as it stands, in no frame that would tell it from words
 * around a call. `feedback` is for a violation that the protocol's own words do not fit.
 */
export type TextReading =
  | {
      readonly type: "calls";
      readonly calls: readonly TextCall[];
      readonly thought?: string;
      /** What stands around the calls. */
      readonly text?: string;
      readonly repairs?: readonly string[];
    }
  | {
      readonly type: "final";
      readonly content: Json;
      readonly thought?: string;
      readonly plain?: true;
      readonly repairs?: readonly string[];
    }
  | { readonly type: "violation"; readonly reason: string; readonly feedback?: string };

/** One way of writing calls in text. */
export interface TextProtocol {
  readonly name: string;
  /** How often in a row the model is asked again for a reply that counts. */
  readonly maxRetries: number;
  /** The role in which results go back. Chat templates of models without tools often refuse `tool`. */
  readonly resultRole?: "user" | "tool";
  /** What the model is told of the protocol. */
  instructions(shaping: Shaping): string;
  /** An answer is the text as it stands, so that it can be shown while it is written. */
  readonly plainAnswers?: true;
  /** What the reply is held to, when the model can be constrained. */
  format(turn: TurnInput): ReplyFormat | undefined;
  /** Never throws. The text is trimmed and not empty. */
  read(text: string, turn: TurnInput): TextReading;
  /** The words of a reply; those of one with calls are read back as these calls. */
  words(message: ReplyMessage): string;
  result(message: ResultMessage): string;
  /** What the model is told when its reply was not accepted. */
  feedback(reason: string): string;
}

/**
 * Makes a driver of a protocol: it stands in the system message, calls and answers are the text of replies, results go back as text. A reply
 * that was cut off makes no call, whatever can be read of it.
 */
export function textDriver(protocol: TextProtocol): Driver {
  const encode = encoder(protocol);
  return {
    name: protocol.name,
    passthrough: false,
    maxViolations: protocol.maxRetries + 1,
    toolName: matchTool,
    request(turn) {
      const { settings } = turn;
      return {
        messages: encode(turn),
        tools: [],
        toolChoice: "none",
        settings,
        format: protocol.format(turn),
      };
    },
    read: (reply, turn) => readTextReply(reply, turn, (said) => readReply(said, turn, protocol)),
    ...(protocol.plainAnswers === true
      ? { visibleText: ({ allowed }) => visibleText(wordsOf(allowed)) }
      : {}),
  };
}

// Depends on: the names of the tools.
const wordsOf = remembered(({ tools }: AllowList) => callWords([...tools.keys()]));

function readReply(reply: Reply, turn: TurnInput, protocol: TextProtocol): Reading {
  const raw = textOf(reply.message);
  const text = raw.trim();
  const read: TextReading =
    text === "" ? { type: "violation", reason: "it is empty" } : protocol.read(text, turn);
  const others = reply.message.parts.filter((part) => part.type !== "text" && part.type !== "tool-call");
  const message = (...parts: readonly ReplyPart[]): ReplyMessage => ({
    role: "assistant",
    parts: [...others, ...thoughtsOf(read), ...parts],
    raw,
  });
  const isCut = reply.finishReason === "length";
  if (read.type === "violation" || (isCut && read.type === "calls")) {
    const refused = isCut || read.type === "calls" ? wasCut : read;
    const { reason, feedback = protocol.feedback(reason) } = refused;
    return { type: "violation", message: message(textPart(text === "" ? "(empty)" : raw)), reason, feedback };
  }
  const repairs = read.repairs === undefined || read.repairs.length === 0 ? {} : { repairs: read.repairs };
  if (read.type === "final") {
    const { content } = read;
    const answer = typeof content === "string" ? content : JSON.stringify(content);
    return { type: "final", message: message(textPart(answer)), content, ...repairs };
  }
  const calls = read.calls.map(({ name, arguments: args }): ReplyPart => {
    return { type: "tool-call", id: "", name: matchTool(name, turn.allowed), arguments: args };
  });
  const said = read.text === undefined || read.text === "" ? [] : [textPart(read.text)];
  return { type: "calls", message: message(...said, ...calls), ...repairs };
}

function thoughtsOf(read: TextReading): readonly ReplyPart[] {
  const thought = read.type === "violation" ? undefined : read.thought;
  return thought === undefined ? [] : [{ type: "reasoning", text: thought }];
}

const wasCut: Extract<TextReading, { type: "violation" }> = {
  type: "violation",
  reason: "it was cut off at the token limit; write less",
};

function textPart(text: string): ReplyPart {
  return { type: "text", text };
}

/** The messages as the model sees them; the same object for the same message. */
function encoder(protocol: TextProtocol): (turn: TurnInput) => readonly Message[] {
  const encoded = remembered((message: Exclude<Message, SystemMessage>) => encodeMessage(message, protocol));
  const alone = remembered((result: ResultMessage) => userMessage(protocol.result(result)));
  const together = remembered((before: UserMessage) =>
    remembered((result: ResultMessage) => userMessage(`${textOf(before)}\n${protocol.result(result)}`)),
  );
  const instructions = onceForShape((shaping) => protocol.instructions(shaping));
  return (turn) => {
    const { messages } = turn.transcript;
    const told: Message[] = [systemMessage(messages[0], instructions(turn))];
    for (let index = 0; index < messages.length; index += 1) {
      const message = messages[index];
      if (message === undefined || message.role === "system") continue;
      if (message.role !== "tool" || protocol.resultRole === "tool") {
        told.push(encoded(message));
        continue;
      }
      let results = alone(message);
      for (let next = messages[index + 1]; next?.role === "tool"; next = messages[index + 1]) {
        results = together(results)(next); // many chat templates want user and assistant to take turns
        index += 1;
      }
      told.push(results);
    }
    return told;
  };
}

/** The author's words and the protocol. A conversation without a system message gets one: the protocol has to be told somewhere. */
export function systemMessage(first: Message | undefined, instructions: string): SystemMessage {
  const blocks = [first?.role === "system" ? first.text : "", instructions];
  return { role: "system", text: blocks.filter((text) => text !== "").join("\n\n") };
}

function encodeMessage(message: Exclude<Message, SystemMessage>, protocol: TextProtocol): Message {
  if (message.role === "user") return message;
  if (message.role === "tool") return { ...message, text: protocol.result(message) };
  return { role: "assistant", parts: [textPart(message.raw ?? protocol.words(message))] };
}

import type { Message, ReplyMessage, ResultMessage } from "../message/message.ts";
import type { ModelSettings, ReplyFormat } from "../model/model.ts";
import type { Json } from "../util/json.ts";
import { list, object, type Shape, shapeOf, string, variants } from "../util/shape.ts";
import type { TurnInput } from "./driver.ts";
import type { ShapeWriter } from "./reply-shape.ts";

/** A call found in the text of a reply. Its name may be spelled differently from the tool's. */
export interface TextCall {
  readonly name: string;
  readonly arguments: Json;
}

/** The reason why a reply is refused. */
export interface TextRefusal {
  /** For people, and for the model if `feedback` is left out. */
  readonly reason: string;
  /** The reason in words for the model. Default: the protocol's `feedback` of the reason. */
  readonly feedback?: string;
}

/**
 * The meaning of a reply's text: calls, an answer, one half of a turn, or nothing that can be acted on.
 * `thought` becomes reasoning; `repairs` says, for people, what was repaired to read it.
 */
export type TextReading =
  | {
      readonly type: "calls";
      readonly calls: readonly TextCall[];
      readonly thought?: string;
      /** The text around the calls. */
      readonly text?: string;
      readonly repairs?: readonly string[];
    }
  | {
      readonly type: "final";
      readonly content: Json;
      readonly thought?: string;
      /** True if the answer is the plain text, without a frame that would distinguish it from words around a call. */
      readonly plain?: true;
      /** True if the answer was extracted from other text: it does not count in a reply that was cut off. */
      readonly partial?: true;
      /** True if the transcript keeps the answer without the model's own spelling of the frame around it. */
      readonly unframed?: true;
      readonly repairs?: readonly string[];
    }
  /** Half of a turn: the transcript keeps `text`, from which the protocol's `question` sees what to ask for. */
  | { readonly type: "pending"; readonly text: string }
  | ({ readonly type: "violation" } & TextRefusal);

/** The shape of a {@link TextReading}. */
export const someReading: Shape<object> = variants("type", {
  calls: object({ calls: list(object({ name: string })) }),
  final: object({ content: shapeOf("JSON", (value) => value !== undefined) }),
  pending: object({ text: string }),
  violation: object({ reason: string }),
});

/** The reading of a reply that cannot be acted on. */
export function violation(reason: string): Extract<TextReading, { type: "violation" }> {
  return { type: "violation", reason };
}

/** The conversation in the form of a protocol. */
export interface TextConversation {
  readonly messages: readonly Message[];
  /** The conversation as one text, for models that complete text. */
  readonly prompt?: string;
  /** Model settings that the protocol needs. Default: those of the turn. */
  readonly settings?: ModelSettings;
}

/** A reply of an earlier turn, with the results of its calls. */
export interface Exchanged {
  readonly reply: ReplyMessage;
  readonly results: readonly ResultMessage[];
  /** The message after them; undefined at the end of the conversation. */
  readonly next: Message | undefined;
  readonly turn: TurnInput;
}

/** A question that a turn asks in place of "call or answer": for example, the arguments of a chosen tool. */
export interface TextQuestion extends Pick<TextProtocol, "read" | "feedback" | "cut"> {
  /** The messages after the conversation. */
  readonly asked: readonly Message[];
  /** The format of the reply, if the model can be constrained. */
  readonly format: ReplyFormat | undefined;
  /** The text that the transcript keeps for a refused reply. Default: the reply. */
  readonly refused?: string;
}

/**
 * One way of writing calls in text, from which {@link textDriver} makes a driver. It has no state: the same transcript gives the same
 * conversation, and a longer transcript one that begins like the shorter one's.
 */
export interface TextProtocol {
  readonly name: string;
  /** The most retries in a row for a valid reply. Default 3. */
  readonly maxRetries?: number;
  /** The conversation as the model sees it, made by {@link asChat}, or by the protocol's own function. */
  conversation(turn: TurnInput): TextConversation;
  /** The form of a reply, as a JSON Schema and as a grammar, for models that support one of them. */
  readonly format?: ShapeWriter;
  /** Reads the text of a reply. Never throws. The text is trimmed, and may be empty: an empty answer is refused. */
  read(text: string, turn: TurnInput): TextReading;
  /** Tells the model why its reply was refused, and how to write it. */
  feedback(reason: string): string;
  /** The refusal of a reply that was cut off at the token limit, in the protocol's own words. */
  readonly cut?: TextRefusal;
  /** The question of this turn; undefined if the model is to call a tool or to answer. */
  question?(turn: TurnInput): TextQuestion | undefined;
  /** True if an answer is plain text, so that it can be shown while it is written. */
  readonly plainAnswers?: true;
  /**
   * Follows a reply whose answer has a frame: returns what each piece of the reply adds to the answer. The rest of it is told at its end. Left out if answers
   * are plain text, or if they are not told as text.
   */
  readonly answerText?: (turn: TurnInput) => (piece: string) => string;
  /** The answer so far, from the readable part of a JSON reply; undefined while there is none. */
  readonly partialAnswer?: (partial: Json) => Json | undefined;
  /** True if results are shown without the mark of untrusted ones: it would not fit the notation. */
  readonly plainResults?: true;
}

import type { Message, ReplyMessage, ResultMessage } from "../message/message.ts";
import type { ModelSettings, ReplyFormat } from "../model/model.ts";
import type { Json } from "../util/json.ts";
import type { TurnInput } from "./driver.ts";
import type { ShapeWriter } from "./reply-shape.ts";

/** A call as it was found in the text of a reply. The name may be spelled otherwise than the tool's. */
export interface TextCall {
  readonly name: string;
  readonly arguments: Json;
}

/** The reason for which a reply is not accepted. */
export interface TextRefusal {
  /** For people, and for the model where `feedback` is left out. */
  readonly reason: string;
  /** The model's copy of the reason. Default: the protocol's `feedback` of the reason. */
  readonly feedback?: string;
}

/**
 * The meaning of a reply's text: calls, an answer, one half of a turn, or nothing that can be acted on.
 * `thought` becomes reasoning; `repairs` says, for people, what had to be mended to read it.
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
      /** The answer is the text as it stands, in no frame that would tell it from words around a call. */
      readonly plain?: true;
      /** The answer was taken out of other text: it does not count in a reply that was cut off. */
      readonly partial?: true;
      /** The transcript keeps the answer without the model's own spelling of the frame around it. */
      readonly unframed?: true;
      readonly repairs?: readonly string[];
    }
  /** Half a turn: the transcript keeps `text`, and the protocol's `question` sees there what to ask for. */
  | { readonly type: "pending"; readonly text: string }
  | ({ readonly type: "violation" } & TextRefusal);

/** The reading of a reply that says nothing that can be acted on. */
export function violation(reason: string): Extract<TextReading, { type: "violation" }> {
  return { type: "violation", reason };
}

/** The conversation in the words of a protocol. */
export interface TextConversation {
  readonly messages: readonly Message[];
  /** The conversation as one text, for models that complete texts. */
  readonly prompt?: string;
  /** Settings of the model that the protocol needs. Default: those of the turn. */
  readonly settings?: ModelSettings;
}

/** A reply of an earlier turn, with all that its calls gave. */
export interface Exchanged {
  readonly reply: ReplyMessage;
  readonly results: readonly ResultMessage[];
  /** The message behind them; undefined where the conversation ends. */
  readonly next: Message | undefined;
  readonly turn: TurnInput;
}

/** A question that a turn asks in place of "call or answer": the arguments of a tool that was chosen, say. */
export interface TextQuestion extends Pick<TextProtocol, "read" | "feedback" | "cut"> {
  /** The messages behind the conversation. */
  readonly asked: readonly Message[];
  /** The format of the reply, when the model can be constrained. */
  readonly format: ReplyFormat | undefined;
  /** The text that the transcript keeps for a reply that is refused. Default: the reply. */
  readonly refused?: string;
}

/**
 * One way of writing calls in text, from which {@link textDriver} makes a driver. It holds no state: the same transcript gives the same
 * conversation, and a longer transcript one that begins with the shorter one's.
 */
export interface TextProtocol {
  readonly name: string;
  /** Most retries in a row for a reply that counts. Default 3. */
  readonly maxRetries?: number;
  /** The conversation as the model sees it, made by {@link asChat}, or by a function of the protocol's own. */
  conversation(turn: TurnInput): TextConversation;
  /** The form of a reply, as a JSON Schema and as a grammar, for models that can be held to one of them. */
  readonly format?: ShapeWriter;
  /** Reads the text of a reply. Never throws. The text is trimmed, and may be empty: an empty answer is refused. */
  read(text: string, turn: TurnInput): TextReading;
  /** Tells the model why its reply was not accepted, and how to write it. */
  feedback(reason: string): string;
  /** The refusal of a reply that was cut off at the token limit, in words of the protocol's own. */
  readonly cut?: TextRefusal;
  /** The question of this turn; undefined where the model is to call a tool or to answer. */
  question?(turn: TurnInput): TextQuestion | undefined;
  /** An answer is the text as it stands, so that it can be shown while it is written. */
  readonly plainAnswers?: true;
  /** The answer so far in the readable part of a reply that is JSON; undefined while there is none. */
  readonly partialAnswer?: (partial: Json) => Json | undefined;
  /** Results are shown without the mark of results that are not trusted: it would not fit the notation. */
  readonly plainResults?: true;
}

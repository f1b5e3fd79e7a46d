import type { ReplyMessage } from "../message/message.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import type { Reply } from "../model/assemble.ts";
import type { Model, ModelRequest, ModelSettings, ToolChoice } from "../model/model.ts";
import type { AllowList } from "../policy/allow-list.ts";
import type { Schema } from "../schema/schema.ts";
import type { Json, JsonObject } from "../util/json.ts";

/** An example of a task done well: the calls with their results, and the answer. */
export interface WorkedExample {
  readonly input: string;
  readonly calls: readonly { readonly tool: string; readonly arguments: JsonObject; readonly result: Json }[];
  readonly answer: string;
}

/** The facts of a turn from which a driver makes its request. */
export interface TurnInput {
  readonly transcript: ReadyTranscript;
  readonly allowed: AllowList;
  readonly model: Model;
  readonly settings: ModelSettings;
  /** The author's worked examples, for drivers of weak models. */
  readonly examples: readonly WorkedExample[];
  /** `none` on a last turn that must answer. */
  readonly toolChoice: ToolChoice;
  /** The schema of the answer: some models can be held to it while they write. It is checked in any case. */
  readonly output?: Schema;
  /** True if untrusted results are marked for the model. */
  readonly marks?: boolean;
}

/**
 * The meaning of a reply. `message` is its form in the transcript; `repairs` says, for people, what was
 * repaired to read it.
 *
 * A `pending` reply is one half of a turn: the model is asked again at once, with its message in the transcript, from which the driver sees
 * what to ask for (the arguments of a chosen tool, an answer in words). It costs a turn and is not a violation. A violation
 * is a reply on which the loop cannot act: `reason` is for people, `feedback` is for the model, so that it can write the
 * reply again.
 */
export type Reading =
  | { readonly type: "calls"; readonly message: ReplyMessage; readonly repairs?: readonly string[] }
  | {
      readonly type: "final";
      readonly message: ReplyMessage;
      readonly content: Json;
      readonly repairs?: readonly string[];
      /** The calls whose results the answer repeats word for word: the program wrote it, not a model. */
      readonly quotes?: readonly string[];
    }
  | { readonly type: "pending"; readonly message: ReplyMessage }
  | {
      readonly type: "violation";
      readonly message: ReplyMessage;
      readonly reason: string;
      readonly feedback: string;
    };

/**
 * The decision of a driver for a turn: a reading, or a short form of one, for which the runtime makes the message.
 */
export type DriverDecision =
  | Reading
  | {
      readonly type: "calls";
      readonly calls: readonly { readonly name: string; readonly arguments: Json }[];
    }
  | { readonly type: "final"; readonly content: Json };

/**
 * Asks the model of the run once. The request is retried, seen by hooks, bounded by the rest of the budget, paid for and recorded like
 * any other.
 *
 * @throws WritError the error of the model's adapter; `model-missing` if the agent has no model; `budget-exhausted` if a bound forbids it
 */
export type AskModel = (request: ModelRequest) => Promise<Reply>;

/**
 * A codec between the loop and one way of talking to a model. It has no state: the same transcript gives the same request, and a longer
 * transcript gives a request that begins like the shorter one's, so that prompt caches hold.
 */
export interface Driver {
  readonly name: string;
  /** True if the deltas of a reply are its text and its calls. Otherwise only the whole reply has a meaning. */
  readonly passthrough: boolean;
  /** True if results are shown without marks, whatever their label: a mark would not fit the few words of its notation. */
  readonly plainResults?: boolean;
  /** Set if its answers are JSON: if a program chose this driver and gave no schema, the agent returns them as JSON, not as text. */
  readonly answers?: "json";
  /** The number of violations in a row that end the run. Default 4: the model is asked again three times. */
  readonly maxViolations?: number;
  request(turn: TurnInput): ModelRequest;
  /** Reads a reply. Never throws, whatever the model wrote. `place` makes the ids of calls that the driver finds in text. */
  read(reply: Reply, turn: TurnInput): Reading;
  /**
   * Decides a turn in place of `request` and `read`: without the model, with several questions to it, or by another driver. It is one turn
   * of the budget however often the model is asked, with the finish reason of the last reply, and it is recorded as a whole: a replay does not decide
   * again. Calls and answers of the decision are treated like those of a model.
   *
   * An error that is not of the catalogue ends the run as failed (`driver-failed`).
   */
  decide?(turn: TurnInput, ask: AskModel): DriverDecision | Promise<DriverDecision>;
  /** The name of the tool that a call of the model means; the name as it is if it means none. */
  toolName(wireName: string, allowed: AllowList): string;
  /**
   * Follows a reply: returns, for each piece, the text that is certainly not part of a call. The model's thoughts in the text are removed before. The rest of
   * an answer is told at its end. Left out by a driver whose answers have a frame; with `passthrough`, by one that never reads a call in text.
   */
  visibleText?(turn: TurnInput): (piece: string) => string;
  /**
   * Follows a reply whose answer has a frame, in place of `visibleText`: returns what each piece adds to the answer, exactly as it is there. The rest of an
   * answer is told at its end.
   */
  answerText?(turn: TurnInput): (piece: string) => string;
  /**
   * The answer so far, from the readable part of a JSON reply; undefined while there is none. Left out by a driver whose replies
   * are not JSON.
   */
  partialAnswer?(partial: Json): Json | undefined;
}

/** A driver with JSON answers, not just text. */
export interface JsonAnswering extends Driver {
  readonly answers: "json";
}

import type { ReplyMessage } from "../message/message.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import type { Reply } from "../model/assemble.ts";
import type { Model, ModelRequest, ModelSettings, ToolChoice } from "../model/model.ts";
import type { AllowList } from "../policy/allow-list.ts";
import type { Schema } from "../schema/schema.ts";
import type { Json, JsonObject } from "../util/json.ts";

/** A task as it should go: the calls with their results, and the answer. */
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
  /** Worked examples of the author, for drivers of weak models. */
  readonly examples: readonly WorkedExample[];
  /** `none` on a last turn that must answer. */
  readonly toolChoice: ToolChoice;
  /** The schema of the answer: some models can be held to it while they write. Checked in any case. */
  readonly output?: Schema;
  /** Results that are not trusted are marked for the model. */
  readonly marks?: boolean;
}

/**
 * The meaning of a reply. `message` is how it stands in the transcript; `repairs` says, for people, what had
 * to be mended to read it.
 *
 * A `pending` reply is one half of a turn: with its message in the transcript the model is asked on at once, and the driver sees in the
 * transcript what to ask for (the arguments of a tool that was chosen, an answer in words). It costs a turn and is no violation. A violation
 * is a reply that says nothing the loop could act on: `reason` is for people, `feedback` is what the model is told, so that it can write the
 * reply again.
 */
export type Reading =
  | { readonly type: "calls"; readonly message: ReplyMessage; readonly repairs?: readonly string[] }
  | {
      readonly type: "final";
      readonly message: ReplyMessage;
      readonly content: Json;
      readonly repairs?: readonly string[];
      /** The calls whose results the answer says word for word: the program wrote it, and no model. */
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
 * The decision of a driver for a turn: a reading, or a short form of one, of which the runtime makes the message.
 */
export type DriverDecision =
  | Reading
  | {
      readonly type: "calls";
      readonly calls: readonly { readonly name: string; readonly arguments: Json }[];
    }
  | { readonly type: "final"; readonly content: Json };

/**
 * Asks the model of the run once. The request is retried, seen by the hooks, bounded by what is left of the budget, paid for and recorded like
 * any other.
 *
 * @throws WritError what a model's adapter throws; `model-missing` when the agent has none; `budget-exhausted` when a bound forbids it
 */
export type AskModel = (request: ModelRequest) => Promise<Reply>;

/**
 * A codec between the loop and one way of talking to a model. It holds no state: the same transcript gives the same request, and a longer
 * transcript gives a request that begins with the shorter one's, so that caches of prompts hold.
 */
export interface Driver {
  readonly name: string;
  /** True if the deltas of a reply are its text and its calls. Else only the whole reply means something. */
  readonly passthrough: boolean;
  /** Results are shown as they are, whatever their label: a mark would not fit the few words of its notation. */
  readonly plainResults?: boolean;
  /** Its answers are JSON: where a program chose it and wants no schema, an agent gives them as they are, and not as text. */
  readonly answers?: "json";
  /** Number of violations in a row that end the run. Default 4: the model is asked again three times. */
  readonly maxViolations?: number;
  request(turn: TurnInput): ModelRequest;
  /** Never throws, whatever the model wrote. `place` makes the ids of calls that the driver finds in text. */
  read(reply: Reply, turn: TurnInput): Reading;
  /**
   * Decides a turn in the place of `request` and `read`: without the model, with several questions to it, or by another driver. It is one turn
   * of the budget however often the model is asked, with the finish reason of the last reply, and it is recorded whole: a replay does not decide
   * again. All that holds for calls and answers of a model holds for these.
   *
   * An error that it throws which is not of the catalogue ends the run as failed (`driver-failed`).
   */
  decide?(turn: TurnInput, ask: AskModel): DriverDecision | Promise<DriverDecision>;
  /** The name of the tool that a call of the model means; the name as it is when it means none. */
  toolName(wireName: string, allowed: AllowList): string;
  /**
   * Follows a reply whose deltas are protocol: gives back of each piece the text that is no part of a call, whatever comes next. What the model
   * thinks in the text is taken out before. Left out by a driver whose answers stand in a frame.
   */
  visibleText?(turn: TurnInput): (piece: string) => string;
  /**
   * The answer so far in what can be read so far of the JSON of a reply; undefined while there is none. Left out by a driver whose replies
   * are no JSON.
   */
  partialAnswer?(partial: Json): Json | undefined;
}

/** A driver whose answers are JSON, not only text. */
export interface JsonAnswering extends Driver {
  readonly answers: "json";
}

import {
  callsOf,
  type Message,
  type ReplyMessage,
  type ResultMessage,
  textOf,
  userMessage,
} from "../message/message.ts";
import type { SchemaSource } from "../schema/to-schema.ts";
import { anything, boolean } from "../util/shape.ts";
import { isJsonObject, type JsonObject, parseJson } from "../util/json.ts";
import { remembered } from "../util/remembered.ts";
import { checkOptions } from "./text-options.ts";
import { grammarOf } from "./grammar/grammar.ts";
import type { JsonAnswering, TurnInput } from "./driver.ts";
import { insideFence, oneObject } from "./one-object.ts";
import {
  decisionGrammar,
  decisionSchema,
  reactInstructions,
  readDecision,
  readWritten,
} from "./react-protocol.ts";
import { type OwnFields, ownFields } from "./react-decision.ts";
import { answerFormat } from "./reply-shape.ts";
import { asChat, spoken } from "./text-chat.ts";
import { textDriver } from "./text-driver.ts";
import type { Exchanged, TextQuestion, TextReading, TextRefusal } from "./text-protocol.ts";

/** Options of {@link reactDriver}. */
export interface ReactDriverOptions {
  /** The most retries in a row for a valid decision, before the run fails. Default 2. */
  readonly maxRetries?: number;
  /** True: asks once more for the answer, as plain text, after the model has decided that it is done: one more turn. Default false. */
  readonly finalViaInference?: boolean;
  /**
   * The author's own fields of each decision, beside `thought`, `type`, `tool`, `args` and `answer`: the schema of an object, without
   * references. A model that can be constrained writes them first; the model is told of a decision without them, which does not count. They are in
   * `raw` of the reply.
   */
  readonly decision?: SchemaSource;
}

/**
 * Makes the driver that lets the model think, act and observe: each reply is a decision in JSON, with a thought before it. For models without
 * native calls that need to think aloud; it needs nothing of the model but JSON, and enforces that if the model can be constrained.
 *
 * An invalid decision (not JSON, no such tool, no arguments) is told to the model as an observation, and the run fails with
 * `protocol-violated` after `maxRetries` retries. Other faults of arguments are left to the tool's own schema.
 *
 * @throws WritError `definition-invalid` unless `maxRetries` is a whole number of at least 0 and `decision` such a schema; `schema-invalid`
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { reactDriver } from "writ/drivers";
 *
 * export const thinker = agent({
 *   name: "thinker",
 *   model: () => '{"thought": "I know this.", "type": "final_answer", "answer": "4"}',
 *   driver: reactDriver({ maxRetries: 3 }),
 * });
 * ```
 */
export function reactDriver(options: ReactDriverOptions = {}): JsonAnswering {
  checkOptions("reactDriver()", options, { finalViaInference: boolean, decision: anything });
  const { maxRetries = 2, finalViaInference = false, decision } = options;
  const own = decision === undefined ? undefined : ownFields(decision);
  const restates = (turn: TurnInput): boolean =>
    finalViaInference && (turn.toolChoice === "none" || endsWithReply(turn));
  const driver = textDriver({
    name: "react",
    maxRetries,
    conversation: asChat(({ allowed, output }) => reactInstructions(allowed, { output, own }), exchange),
    format: {
      schema: (shape) => decisionSchema(shape, own),
      grammar: (shape) =>
        own === undefined ? decisionGrammar(shape) : grammarOf(decisionSchema(shape, own)),
    },
    read: (text, turn) => withOwnFields(readReply(text, turn), text, own),
    feedback: observedError,
    cut: refusal("decision_extraction", "The reply was cut off at the token limit: write less."),
    question: (turn) => (restates(turn) ? answerQuestion(turn) : undefined),
    partialAnswer: (partial) =>
      isJsonObject(partial) && partial["type"] === "final_answer" ? partial["answer"] : undefined,
  });
  return {
    ...driver,
    answers: "json",
    read(reply, turn) {
      const reading = driver.read(reply, turn);
      const isHalf = finalViaInference && reading.type === "final" && !restates(turn);
      return isHalf ? { type: "pending", message: reading.message } : reading;
    },
  };
}

function readReply(text: string, turn: TurnInput): TextReading {
  const isWhole = parseJson(text).ok;
  const decision = readDecision(text, turn);
  if (decision.type === "invalid") return { type: "violation", ...refusal(decision.stage, decision.problem) };
  const taken = isWhole ? [] : ["the decision was taken out of other text"];
  const thought = decision.thought === undefined ? {} : { thought: decision.thought };
  if (decision.type === "final_answer") {
    const partial = isWhole ? {} : { partial: true as const };
    return { type: "final", content: decision.answer, ...thought, ...partial, repairs: taken };
  }
  const { tool: name, args, repairs } = decision;
  return { type: "calls", calls: [{ name, arguments: args }], ...thought, repairs: [...taken, ...repairs] };
}

/** The reading, if the author's own fields are in the decision; otherwise a violation. */
function withOwnFields(reading: TextReading, text: string, own: OwnFields | undefined): TextReading {
  const fault = reading.type === "violation" ? undefined : own?.faultIn(text);
  return fault === undefined ? reading : { type: "violation", ...refusal("decision_validation", fault) };
}

function refusal(stage: string, problem: string): TextRefusal {
  return { reason: `${stage}: ${problem}`, feedback: observedError(problem) };
}

function observedError(text: string): string {
  return `Observation: ERROR - ${text}`;
}

/**
 * A reply with its results, each as an observation. A decision whose answer was asked for again is shown only as made, with that question: the
 * next reply has the answer.
 */
function exchange({ reply, results, next, turn }: Exchanged): readonly Message[] {
  const mayBeHalf = callsOf(reply).length === 0;
  if (mayBeHalf && next === undefined) return [];
  if (mayBeHalf && next?.role === "assistant") return callsOf(next).length > 0 ? [] : [decided, wanted(turn)];
  return [encoded(reply), ...results.map(encoded)];
}

// Depends on: the message.
const encoded = remembered((message: ReplyMessage | ResultMessage): Message => {
  if (message.role === "assistant") return spoken(wordsOf(message));
  const { status, text } = message;
  if (status !== "ok") return userMessage(observedError(text));
  return userMessage(`Observation: ${parseJson(text).ok ? text : JSON.stringify(text)}`);
});

/** A call in the form of this protocol, with the thought and the arguments that the model wrote. */
function wordsOf(message: ReplyMessage): string {
  const calls = callsOf(message);
  if (calls.length === 0) return textOf(message);
  const { thought, args } = writtenIn(message);
  const actions = calls.map(
    (call) => `Action: ${call.name}\nAction Input: ${JSON.stringify(args ?? call.arguments)}`,
  );
  return [...(thought === "" ? [] : [`Thought: ${thought}`]), ...actions].join("\n");
}

/** The thought and the arguments of a decision. Thinking that a provider reports separately is not sent back. */
function writtenIn(message: ReplyMessage): { readonly thought: string; readonly args?: JsonObject } {
  const raw = message.raw ?? "";
  const read = oneObject(insideFence(raw) ?? raw);
  const { thought, args } = readWritten(raw) ?? (read.ok ? read.value : {});
  return {
    thought: typeof thought === "string" ? thought.trim() : textOf(message),
    ...(isJsonObject(args) ? { args } : {}),
  };
}

/** Asks for the answer in words; the earlier conversation does not change. */
function answerQuestion(turn: TurnInput): TextQuestion {
  return {
    asked: endsWithReply(turn) ? [decided, wanted(turn)] : [wanted(turn)],
    format: answerFormat(turn),
    read: (text) =>
      text === "" ? { type: "violation", ...noAnswer } : { type: "final", content: text, unframed: true },
    feedback: observedError,
    cut: noAnswer,
  };
}

const noAnswer: TextRefusal = {
  reason: "the final answer was empty",
  feedback: observedError("Answer is required when type=final_answer."),
};

const decided = spoken('{"type":"final_answer"}');

function wanted({ output }: TurnInput): Message {
  return userMessage(`Return only the final answer as ${output === undefined ? "plain text" : "JSON"}.`);
}

/** True if the model's own reply is the last message, which only happens for a decision whose answer is asked for again. */
function endsWithReply({ transcript }: TurnInput): boolean {
  return transcript.since(transcript.length - 1)[0]?.role === "assistant";
}

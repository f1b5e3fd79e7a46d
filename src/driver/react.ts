import { WritError } from "../error/writ-error.ts";
import type { Message, ReplyMessage, ReplyPart } from "../message/message.ts";
import { callsOf, textOf, userMessage } from "../message/message.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import type { Reply } from "../model/assemble.ts";
import type { ModelRequest } from "../model/model.ts";
import { isJsonObject, type JsonObject, parseJson } from "../util/json.ts";
import { remembered } from "../util/remembered.ts";
import type { Driver, Reading, TurnInput } from "./driver.ts";
import { matchTool } from "./match-tool.ts";
import { oneObject } from "./one-object.ts";
import { insideFence } from "./fence.ts";
import {
  decisionGrammar,
  decisionSchema,
  reactInstructions,
  readDecision,
  readWritten,
} from "./react-protocol.ts";
import { answerFormat, onceForShape, shapeFormat } from "./reply-shape.ts";
import { systemMessage } from "./text-driver.ts";
import { readTextReply } from "./text-reply.ts";
import { withoutThinking } from "./thinking.ts";

/** How the ReAct driver speaks. */
export interface ReactDriverOptions {
  /** How often in a row the model may be asked again for a decision that counts, before the run fails. Default 2. */
  readonly maxRetries?: number;
  /** Asks once more for the answer, as plain text, when the model has decided that it is done: one more turn. Default false. */
  readonly finalViaInference?: boolean;
}

/**
 * Makes the driver that lets the model think, act and observe: each reply is a decision in JSON, with a thought before it. For models without
 * native calls that need to think aloud; it needs nothing of the model but JSON, and is held to that where the model can be constrained.
 *
 * A decision that does not count (no JSON, no such tool, no arguments) is told to the model as an observation, and the run fails with
 * `protocol-violated` after `maxRetries` more. What is wrong with arguments beyond that, the tool's own schema says.
 *
 * @throws WritError `definition-invalid` when `maxRetries` is no whole number from 0 on.
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
export function reactDriver(options: ReactDriverOptions = {}): Driver {
  const { maxRetries = 2, finalViaInference = false } = options;
  if (!Number.isSafeInteger(maxRetries) || maxRetries < 0)
    throw new WritError("definition-invalid", {
      where: "`reactDriver()`",
      reason: "`maxRetries` must be a whole number from 0 on.",
    });
  const encode = remembered(encodeMessage);
  const restates = (turn: TurnInput): boolean =>
    finalViaInference && (turn.toolChoice === "none" || endsWithReply(turn.transcript));
  return {
    name: "react",
    passthrough: false,
    maxViolations: maxRetries + 1,
    toolName: matchTool,
    request(turn) {
      if (restates(turn)) return finalRequest(turn, encode);
      const messages = shownMessages(turn, encode);
      return { messages, tools: [], toolChoice: "none", settings: turn.settings, format: formatOf(turn) };
    },
    read(reply, turn) {
      if (restates(turn)) return readAnswer(withoutThinking(reply));
      const reading = readTextReply(reply, turn, (said) => readReply(said, turn));
      return reading.type === "final" && finalViaInference
        ? { type: "pending", message: reading.message }
        : reading;
    },
    partialAnswer(partial) {
      return isJsonObject(partial) && partial["type"] === "final_answer" ? partial["answer"] : undefined;
    },
  };
}

const formatOf = shapeFormat({ schema: decisionSchema, grammar: decisionGrammar });

const wasCut = {
  type: "invalid",
  stage: "decision_extraction",
  problem: "The reply was cut off at the token limit: write less.",
} as const;

function readReply(reply: Reply, { allowed }: TurnInput): Reading {
  const raw = textOf(reply.message);
  const others = reply.message.parts.filter((part) => part.type !== "text" && part.type !== "tool-call");
  const message = (...parts: readonly ReplyPart[]): ReplyMessage => ({
    role: "assistant",
    parts: [...others, ...parts],
    raw,
  });
  const isWhole = parseJson(raw.trim()).ok;
  const read = readDecision(raw, allowed);
  const isAnswer = read.type === "final_answer" && isWhole;
  const decision = reply.finishReason === "length" && !isAnswer ? wasCut : read;
  if (decision.type === "invalid") {
    const { stage, problem } = decision;
    return {
      type: "violation",
      message: message({ type: "text", text: raw.trim() === "" ? "(empty)" : raw }),
      reason: `${stage}: ${problem}`,
      feedback: observedError(problem),
    };
  }
  const dropped = decision.type === "call_tool" ? decision.repairs : [];
  const repairs = [...(isWhole ? [] : ["the decision was taken out of other text"]), ...dropped];
  const mended = repairs.length === 0 ? {} : { repairs };
  const thought: ReplyPart[] =
    decision.thought === undefined ? [] : [{ type: "reasoning", text: decision.thought }];
  if (decision.type === "final_answer") {
    const { answer } = decision;
    const text = typeof answer === "string" ? answer : JSON.stringify(answer);
    return {
      type: "final",
      message: message(...thought, { type: "text", text }),
      content: answer,
      ...mended,
    };
  }
  const { tool: name, args } = decision;
  const call: ReplyPart = { type: "tool-call", id: "", name, arguments: args };
  return { type: "calls", message: message(...thought, call), ...mended };
}

type Encode = (message: Message) => Message;

const instructions = onceForShape(({ allowed, output }) => reactInstructions(allowed, output));

/** The message as the model sees it. */
function encodeMessage(message: Message): Message {
  if (message.role === "user" || message.role === "system") return message;
  if (message.role === "assistant")
    return { role: "assistant", parts: [{ type: "text", text: wordsOf(message) }] };
  const { status, text } = message;
  if (status !== "ok") return userMessage(observedError(text));
  return userMessage(`Observation: ${parseJson(text).ok ? text : JSON.stringify(text)}`);
}

function observedError(text: string): string {
  return `Observation: ERROR - ${text}`;
}

/** A call in the form of this protocol, with the thought and the arguments as the model wrote them. */
function wordsOf(message: ReplyMessage): string {
  const calls = callsOf(message);
  if (calls.length === 0) return textOf(message);
  const { thought, args } = writtenIn(message);
  const actions = calls.map(
    (call) => `Action: ${call.name}\nAction Input: ${JSON.stringify(args ?? call.arguments)}`,
  );
  return [...(thought === "" ? [] : [`Thought: ${thought}`]), ...actions].join("\n");
}

/** What a model thinks by itself, its provider shows apart from this, and it is not sent back as words. */
function writtenIn(message: ReplyMessage): { readonly thought: string; readonly args?: JsonObject } {
  const raw = message.raw ?? "";
  const read = oneObject(insideFence(raw) ?? raw);
  const { thought, args } = readWritten(raw) ?? (read.ok ? read.value : {});
  return {
    thought: typeof thought === "string" ? thought.trim() : textOf(message),
    ...(isJsonObject(args) ? { args } : {}),
  };
}

/** Asks for the answer in words: nothing of what was said before changes. */
function finalRequest(turn: TurnInput, encode: Encode): ModelRequest {
  const { settings, transcript } = turn;
  const asked = endsWithReply(transcript) ? [] : [userMessage(wanted(turn))];
  const messages = [...shownMessages(turn, encode), ...asked];
  return { messages, tools: [], toolChoice: "none", settings, format: answerFormat(turn) };
}

function wanted({ output }: TurnInput): string {
  return `Return only the final answer as ${output === undefined ? "plain text" : "JSON"}.`;
}

function readAnswer({ message }: Reply): Reading {
  const text = textOf(message);
  const others = message.parts.filter((part) => part.type !== "tool-call");
  if (text.trim() !== "") return { type: "final", message: { ...message, parts: others }, content: text };
  return {
    type: "violation",
    message: { ...message, parts: [...others, { type: "text", text: "(empty)" }] },
    reason: "the final answer was empty",
    feedback: observedError("Answer is required when type=final_answer."),
  };
}

/**
 * The conversation as the model sees it. Of a decision that is restated stands there only that it was made, and what was asked then: the reply
 * after it says the answer.
 */
function shownMessages(turn: TurnInput, encode: Encode): readonly Message[] {
  const { messages } = turn.transcript;
  const [first] = messages;
  const said = first?.role === "system" ? messages.slice(1) : messages;
  const shown = said.flatMap((message, index) => {
    const next = said[index + 1];
    const isHalf = message.role === "assistant" && callsOf(message).length === 0;
    if (!isHalf || (next !== undefined && next.role !== "assistant")) return [encode(message)];
    return next !== undefined && callsOf(next).length > 0 ? [] : [decided, userMessage(wanted(turn))];
  });
  return [systemMessage(first, instructions(turn)), ...shown];
}

const decided: ReplyMessage = {
  role: "assistant",
  parts: [{ type: "text", text: '{"type":"final_answer"}' }],
};

/** Only a decision that is to be restated leaves the model's own reply as the last word. */
function endsWithReply(transcript: ReadyTranscript): boolean {
  return transcript.since(transcript.length - 1)[0]?.role === "assistant";
}

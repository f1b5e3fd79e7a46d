import { WritError } from "../error/writ-error.ts";
import type { Message, ReplyMessage, ReplyPart, SystemMessage } from "../message/message.ts";
import { callsOf, textOf, userMessage } from "../message/message.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import type { Reply } from "../model/assemble.ts";
import type { ModelRequest } from "../model/model.ts";
import { isJsonObject, parseJson } from "../util/json.ts";
import { lenientJson } from "../util/lenient-json.ts";
import type { Driver, Reading, TurnInput } from "./driver.ts";
import { matchTool } from "./match-tool.ts";
import { decisionGrammar, decisionSchema, reactInstructions, readDecision } from "./react-protocol.ts";
import { answerFormat, heldToShape, shapeFormat } from "./reply-shape.ts";
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
 * import { agent, reactDriver } from "writ";
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
  const encode = encoder();
  const restates = (turn: TurnInput): boolean =>
    finalViaInference && (turn.toolChoice === "none" || endsWithReply(turn.transcript));
  return {
    name: "react",
    passthrough: false,
    maxViolations: maxRetries + 1,
    toolName: matchTool,
    request(turn) {
      if (restates(turn)) return finalRequest(turn, encode);
      const messages = standing(turn.transcript).map((message) => encode(message, turn));
      return { messages, tools: [], toolChoice: "none", settings: turn.settings, format: formatOf(turn) };
    },
    read(reply, turn) {
      if (restates(turn)) return readAnswer(reply);
      const reading = heldToShape(readReply(reply, turn), turn);
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

const quoted = {
  type: "invalid",
  stage: "decision_extraction",
  problem: "The reply must be one JSON object and nothing else.",
} as const;

/**
 * Around a decision there may be words, but then it must be the only thing that looks like one, and whole: a call that is quoted in an answer,
 * or in a text that was read, never runs.
 */
function isQuoted(raw: string): boolean {
  return !parseJson(raw.trim()).ok && (raw.match(/"type"\s*:/g)?.length ?? 0) > 1;
}

function readReply(reply: Reply, { allowed }: TurnInput): Reading {
  const { text: raw } = withoutThinking(textOf(reply.message));
  const isCut = reply.finishReason === "length";
  const others = reply.message.parts.filter((part) => part.type !== "text" && part.type !== "tool-call");
  const message = (...parts: readonly ReplyPart[]): ReplyMessage => ({
    role: "assistant",
    parts: [...others, ...parts],
    raw,
  });
  const read = isQuoted(raw) ? quoted : readDecision(raw, allowed);
  const decision = isCut && (read.type === "call_tool" || !parseJson(raw.trim()).ok) ? quoted : read;
  if (decision.type === "invalid") {
    const stage = isCut ? "decision_extraction" : decision.stage;
    const problem = isCut ? "The reply was cut off at the token limit: write less." : decision.problem;
    return {
      type: "violation",
      message: message({ type: "text", text: raw.trim() === "" ? "(empty)" : raw }),
      reason: `${stage}: ${problem}`,
      feedback: observedError(problem),
    };
  }
  const mended = parseJson(raw.trim()).ok ? {} : { repairs: ["the decision was taken out of other text"] };
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

type Encode = (message: Message, turn: TurnInput) => Message;

/** The message as the model sees it; the same object for the same message. */
function encoder(): Encode {
  const encoded = new WeakMap<Message, Message>();
  return (message, turn) => {
    let result = encoded.get(message);
    if (result === undefined) encoded.set(message, (result = encodeMessage(message, turn)));
    return result;
  };
}

function encodeMessage(message: Message, { allowed, output }: TurnInput): Message {
  if (message.role === "user") return message;
  if (message.role === "system") {
    const blocks = [message.text, reactInstructions(allowed, output)];
    return { role: "system", text: blocks.filter((text) => text !== "").join("\n\n") };
  }
  if (message.role === "assistant")
    return { role: "assistant", parts: [{ type: "text", text: wordsOf(message) }] };
  const { status, text } = message;
  if (status !== "ok") return userMessage(observedError(text));
  return userMessage(`Observation: ${parseJson(text).ok ? text : JSON.stringify(text)}`);
}

function observedError(text: string): string {
  return `Observation: ERROR - ${text}`;
}

function wordsOf(message: ReplyMessage): string {
  const calls = callsOf(message);
  if (calls.length === 0) return textOf(message);
  const thought = thoughtOf(message);
  const actions = calls.map(
    (call) => `Action: ${call.name}\nAction Input: ${JSON.stringify(call.arguments)}`,
  );
  return [...(thought === "" ? [] : [`Thought: ${thought}`]), ...actions].join("\n");
}

/** What a model thinks by itself, its provider shows apart from this, and it is not sent back as words. */
function thoughtOf(message: ReplyMessage): string {
  const written = lenientJson(message.raw ?? "");
  const thought = written.ok && isJsonObject(written.value) ? written.value["thought"] : undefined;
  return typeof thought === "string" ? thought.trim() : textOf(message);
}

/** Asks for the answer in words, without the protocol and without the decision that there is one. */
function finalRequest(turn: TurnInput, encode: Encode): ModelRequest {
  const { settings, output } = turn;
  const wanted = `Return only the final answer as ${output === undefined ? "plain text" : "JSON"}.`;
  const messages = standing(turn.transcript).filter(
    (message, index, all) => message.role !== "assistant" || index < all.length - 1,
  );
  const [first] = messages;
  const told = first?.role === "system" ? first.text : "";
  const system: SystemMessage = { role: "system", text: told === "" ? wanted : `${wanted}\n\n${told}` };
  const others = first?.role === "system" ? messages.slice(1) : messages;
  return {
    messages: [system, ...others.map((message) => encode(message, turn))],
    tools: [],
    toolChoice: "none",
    settings,
    format: answerFormat(turn),
  };
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

/** A decision that was restated is not shown: the reply after it says the same. */
function standing(transcript: ReadyTranscript): readonly Message[] {
  return transcript.messages.filter(
    (message, index, all) => message.role !== "assistant" || all[index + 1]?.role !== "assistant",
  );
}

/** Only a decision that is to be restated leaves the model's own reply as the last word. */
function endsWithReply(transcript: ReadyTranscript): boolean {
  return transcript.since(transcript.length - 1)[0]?.role === "assistant";
}

import { callsOf, type Message, type ReplyMessage, textOf, userMessage } from "../message/message.ts";
import type { AllowList } from "../policy/allow-list.ts";
import type { Tool } from "../tool/tool.ts";
import { isJsonObject, parseJson } from "../util/json.ts";
import { remembered } from "../util/remembered.ts";
import { checkOptions, type TextDriverOptions } from "./text-options.ts";
import type { JsonAnswering, TurnInput } from "./driver.ts";
import { resultObject } from "./json-action.ts";
import { shapeOf } from "./reply-shape.ts";
import {
  argumentsFormat,
  argumentsRequest,
  choiceGrammar,
  choiceOf,
  choiceSchema,
  selectInstructions,
} from "./select-protocol.ts";
import { readArguments, readChoice } from "./select-reading.ts";
import { asChat, onceForResults, resend, spoken } from "./text-chat.ts";
import { textDriver } from "./text-driver.ts";
import type { Exchanged, TextQuestion } from "./text-protocol.ts";

/** Options of {@link selectDriver}. */
export type SelectDriverOptions = Pick<TextDriverOptions, "maxRetries">;

/**
 * Makes the driver that asks twice for a call: first for the tool, by its name alone, or for the answer; then for the arguments of that tool under its own
 * schema. For models that confuse tools or schemas when one prompt has them all. A call costs two turns, or one if the tool takes no arguments.
 *
 * The choice is in the transcript, so a run can be replayed and resumed between the two.
 *
 * @throws WritError `definition-invalid` unless `maxRetries` is a whole number of at least 0
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { selectDriver } from "writ/drivers";
 *
 * export const careful = agent({
 *   name: "careful",
 *   model: () => '{"answer": "Nothing to do."}',
 *   driver: selectDriver({ maxRetries: 1 }),
 * });
 * ```
 */
export function selectDriver(options: SelectDriverOptions = {}): JsonAnswering {
  checkOptions("selectDriver()", options);
  const driver = textDriver({
    name: "select",
    maxRetries: options.maxRetries,
    conversation: asChat(selectInstructions, exchange),
    format: { schema: choiceSchema, grammar: choiceGrammar },
    read: readChoice,
    feedback: resend('Reply with {"tool": "<name>"} or {"answer": …} and nothing else.'),
    question: argumentsQuestion,
    partialAnswer: (partial) => (isJsonObject(partial) ? partial["answer"] : undefined),
  });
  return { ...driver, answers: "json" };
}

/** Asks for the arguments of the chosen tool. Refused arguments leave their tool in the transcript, and the model chooses again. */
function argumentsQuestion(turn: TurnInput): TextQuestion | undefined {
  const tool = chosenTool(turn);
  if (tool === undefined) return undefined;
  const choice = choiceOf(tool.name);
  return {
    asked: askedFor(tool),
    format: argumentsFormat(tool, turn),
    read: (text) => readArguments(text, tool),
    feedback: resend(`Choose again: {"tool": ${JSON.stringify(tool.name)}}, another tool, or {"answer": …}.`),
    refused: choice,
  };
}

/**
 * The tool whose arguments are asked for: the chosen one, if the choice is the last message, or the only one that may be called. Undefined
 * while the model is to choose.
 */
function chosenTool(turn: TurnInput): Tool | undefined {
  const { transcript, toolChoice } = turn;
  if (toolChoice === "none") return undefined;
  const last = transcript.since(transcript.length - 1)[0];
  const chosen = last?.role === "assistant" ? toolOf(last, turn.allowed) : undefined;
  const { tools, mayAnswer } = shapeOf(turn);
  return chosen ?? (tools.length === 1 && !mayAnswer ? tools[0] : undefined);
}

/** The tool that a pending reply chose. */
function toolOf(message: ReplyMessage, { tools }: AllowList): Tool | undefined {
  const parsed = parseJson(textOf(message));
  const name = parsed.ok && isJsonObject(parsed.value) ? parsed.value["tool"] : undefined;
  return typeof name === "string" ? tools.get(name) : undefined;
}

function exchange({ reply, results, next, turn }: Exchanged): readonly Message[] {
  if (callsOf(reply).length > 0) return callMessages(turn.allowed)(reply, results);
  return next === undefined ? [] : wordsOf(reply, next, turn.allowed);
}

/** Each call with its result, after the question for its arguments. Depends on: the tools; the reply and its results. */
const callMessages = remembered(({ tools }: AllowList) =>
  onceForResults((reply, results) =>
    callsOf(reply).flatMap(({ name, arguments: args }, index) => {
      const result = results[index];
      if (result === undefined) return [];
      const tool = tools.get(name);
      const asked =
        tool === undefined ? [spoken(choiceOf(name))] : [...askedFor(tool), spoken(JSON.stringify(args))];
      return [...asked, userMessage(resultObject(result))];
    }),
  ),
);

/**
 * A reply without a call. A choice is shown with the question for its arguments. Refused arguments are shown with it too, because their message names the tool;
 * the choice before them is then left out, as before a call.
 */
function wordsOf(reply: ReplyMessage, next: Message, allowed: AllowList): readonly Message[] {
  const { raw } = reply;
  const text = textOf(reply);
  const tool = toolOf(reply, allowed);
  if (raw !== undefined)
    return [...askedFor(raw === text ? undefined : tool), spoken(raw.trim() === "" ? "(empty)" : raw)];
  if (tool === undefined || next.role !== "assistant") return [spoken(JSON.stringify({ answer: text }))];
  return callsOf(next).length > 0 || toolOf(next, allowed) !== undefined ? [] : askedFor(tool);
}

function askedFor(tool: Tool | undefined): readonly Message[] {
  return tool === undefined ? [] : [spoken(choiceOf(tool.name)), userMessage(argumentsRequest(tool))];
}

import {
  callsOf,
  type Message,
  type ReplyMessage,
  type ResultMessage,
  textOf,
  type ToolCall,
  userMessage,
} from "../message/message.ts";
import type { AllowList } from "../policy/allow-list.ts";
import type { Tool } from "../tool/tool.ts";
import { isJsonObject, parseJson } from "../util/json.ts";
import { remembered } from "../util/remembered.ts";
import type { Driver, TurnInput } from "./driver.ts";
import { resultObject } from "./json-action.ts";
import { matchTool } from "./match-tool.ts";
import { shapeOf } from "./reply-shape.ts";
import { checkedCount, defaultRetries } from "./checked.ts";
import {
  argumentsFormat,
  argumentsRequest,
  choiceFormat,
  choiceOf,
  selectInstructions,
} from "./select-protocol.ts";
import { readArguments, readChoice } from "./select-reading.ts";
import { systemMessage } from "./text-driver.ts";
import { readTextReply } from "./text-reply.ts";

/** How the select driver speaks. */
export interface SelectDriverOptions {
  /** How often in a row the model is asked again for a reply that counts, before the run fails. Default 3. */
  readonly maxRetries?: number;
}

/**
 * Makes the driver that asks twice for a call: first which tool, by its name alone, or the answer; then the arguments of that tool under its own
 * schema. For models that mix up tools or schemas when all stand in one prompt. A call costs two turns, one when the tool takes no arguments.
 *
 * What was chosen stands in the transcript, so a run can be replayed and resumed between the two.
 *
 * @throws WritError `definition-invalid` when `maxRetries` is no whole number from 0 on.
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
export function selectDriver(options: SelectDriverOptions = {}): Driver {
  const maxRetries = checkedCount("maxRetries", options.maxRetries ?? defaultRetries, "selectDriver()");
  return {
    name: "select",
    passthrough: false,
    maxViolations: maxRetries + 1,
    toolName: matchTool,
    request(turn) {
      const { settings } = turn;
      const tool = chosenTool(turn);
      const format = tool === undefined ? choiceFormat(turn) : argumentsFormat(tool, turn);
      return { messages: messagesOf(turn), tools: [], toolChoice: "none", settings, format };
    },
    read(reply, turn) {
      const tool = chosenTool(turn);
      return readTextReply(reply, turn, (said) =>
        tool === undefined ? readChoice(said, turn) : readArguments(said, tool),
      );
    },
    partialAnswer: (partial) => (isJsonObject(partial) ? partial["answer"] : undefined),
  };
}

/**
 * The tool whose arguments are asked for: the one that was chosen, which is the last word then, or the only one that may be called. Undefined
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

/** The conversation as the model sees it: before the arguments of every call stands that they were asked for. */
function messagesOf(turn: TurnInput): readonly Message[] {
  const { messages } = turn.transcript;
  const told: Message[] = [systemMessage(messages[0], selectInstructions(turn))];
  for (const [index, message] of messages.entries()) {
    if (message.role === "user") told.push(message);
    if (message.role !== "assistant") continue;
    const calls = callsOf(message);
    if (calls.length > 0) {
      for (const [at, call] of calls.entries()) {
        const result = messages[index + 1 + at];
        if (result?.role === "tool") told.push(...callMessages(turn.allowed)(call)(result));
      }
    } else told.push(...wordsOf(message, messages[index + 1], turn));
  }
  if (messages.at(-1)?.role !== "assistant") told.push(...askedFor(chosenTool(turn)));
  return told;
}

/**
 * A reply without a call. A choice stands there with what was asked of it; so do arguments that were refused, whose message names their tool,
 * and the choice before them is passed over then, as it is before a call.
 */
function wordsOf(message: ReplyMessage, next: Message | undefined, turn: TurnInput): readonly Message[] {
  if (next === undefined) return askedFor(chosenTool(turn));
  const { raw } = message;
  const tool = toolOf(message, turn.allowed);
  if (raw !== undefined) return [...askedFor(raw === textOf(message) ? undefined : tool), said(raw)];
  if (tool === undefined || next.role !== "assistant")
    return [said(JSON.stringify({ answer: textOf(message) }))];
  return callsOf(next).length > 0 || toolOf(next, turn.allowed) !== undefined ? [] : askedFor(tool);
}

function askedFor(tool: Tool | undefined): readonly Message[] {
  return tool === undefined ? [] : [said(choiceOf(tool.name)), userMessage(argumentsRequest(tool))];
}

/** A call and its result. Depends on: the tool in the list; the call; the result, which another conversation may have otherwise. */
const callMessages = remembered(({ tools }: AllowList) =>
  remembered(({ name, arguments: args }: ToolCall) =>
    remembered((result: ResultMessage): readonly Message[] => {
      const tool = tools.get(name);
      const asked =
        tool === undefined ? [said(choiceOf(name))] : [...askedFor(tool), said(JSON.stringify(args))];
      return [...asked, userMessage(resultObject(result))];
    }),
  ),
);

function said(text: string): ReplyMessage {
  return { role: "assistant", parts: [{ type: "text", text }] };
}

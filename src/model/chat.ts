import {
  callsOf,
  type FinishReason,
  type Message,
  type ReplyMessage,
  textOf,
  type ToolCall,
} from "../message/message.ts";
import { charactersOf } from "../message/measure.ts";
import { completeUsage, type Usage } from "../message/usage.ts";
import type { Tool } from "../tool/tool.ts";
import { assemble } from "./assemble.ts";
import type { Model, ModelSettings, ReplyFormat, ToolChoice, ToolDescription } from "./model.ts";

/** One question without a loop. */
export interface ChatRequest {
  readonly messages: readonly Message[];
  /** Tools, or only their descriptions: nothing is carried out here. */
  readonly tools?: readonly (Tool | ToolDescription)[];
  readonly toolChoice?: ToolChoice;
  readonly format?: ReplyFormat;
  readonly settings?: ModelSettings;
  readonly signal?: AbortSignal;
}

/** The model's reply: `message` goes into the next request as it is, followed by one result for each of `calls`. */
export interface ChatReply {
  readonly message: ReplyMessage;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly usage: Usage;
  readonly finishReason: FinishReason;
}

/** Asks the model once. Calls without an id get one. */
export async function chatWith(model: Model, request: ChatRequest): Promise<ChatReply> {
  const {
    messages,
    tools = [],
    toolChoice = "auto",
    format,
    settings = {},
    signal = new AbortController().signal,
  } = request;
  const used = new Set(
    messages.flatMap((message) =>
      message.role === "assistant" ? callsOf(message).map((call) => call.id) : [],
    ),
  );
  const assembler = assemble(model.id, ({ id, name, index }) => ({
    id: freeId(id, `call_${messages.length}_${index}`, used),
    name,
  }));
  const described = tools.map((tool) => ("input" in tool ? describe(tool) : tool));
  for await (const delta of model.stream(
    { messages, tools: described, toolChoice, format, settings },
    { signal },
  ))
    assembler.push(delta);
  const { message, finishReason, usage } = assembler.reply();
  const input = messages.reduce((sum, sent) => sum + charactersOf(sent), 0);
  return {
    message,
    text: textOf(message),
    calls: callsOf(message),
    usage: completeUsage(usage, { input, output: charactersOf(message) }),
    finishReason,
  };
}

function freeId(proposed: string, fallback: string, used: Set<string>): string {
  const id = proposed === "" || used.has(proposed) ? fallback : proposed;
  used.add(id);
  return id;
}

function describe({ name, description, input }: Tool): ToolDescription {
  return { name, description, inputSchema: input.jsonSchema };
}

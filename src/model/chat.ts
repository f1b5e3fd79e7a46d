import { WritError } from "../error/writ-error.ts";
import {
  charactersOf,
  callsOf,
  type FinishReason,
  type Message,
  type ReplyMessage,
  textOf,
  type ToolCall,
  type UserMessage,
  userMessage,
} from "../message/message.ts";
import { readTranscript } from "../message/read-transcript.ts";
import { acceptableId, namedCalls, type ReadyTranscript } from "../message/transcript.ts";
import { completeUsage, type ReportedUsage, type Usage } from "../message/usage.ts";
import { type DataTool, inputOf } from "../tool/data-tool.ts";
import { checkToolName, type Tool } from "../tool/tool.ts";
import { drain } from "../util/drain.ts";
import { fits, map, optional, record, shownValue, string } from "../util/shape.ts";
import { assemble, type NameCall, type Reply } from "./assemble.ts";
import { asWritError } from "./function-model.ts";
import type {
  Delta,
  Model,
  ModelSettings,
  ReplyFormat,
  ReportedResponse,
  ToolChoice,
  ToolDescription,
} from "./model.ts";
import { type WireNames, wireNames } from "./tool-names.ts";

/** Tools, tools as data, and collections of both, of any depth: none of them is run here. */
export type ChatTools = readonly (Tool | DataTool | ChatTools)[];

/** One question without a loop. */
export interface ChatRequest {
  /** The whole history, each call with its result; or just the user's question. */
  readonly messages: readonly Message[] | UserMessage | string;
  readonly tools?: ChatTools;
  readonly toolChoice?: ToolChoice;
  readonly format?: ReplyFormat;
  readonly settings?: ModelSettings;
  readonly signal?: AbortSignal;
}

/** The model's reply: `message` goes into the next request as it is, followed by one result for each of `calls`, in order. */
export interface ChatReply {
  readonly message: ReplyMessage;
  readonly text: string;
  /** The calls, with unchecked arguments as the model wrote them: `execute` and `callTool` check them. */
  readonly calls: readonly ToolCall[];
  readonly usage: Usage;
  readonly finishReason: FinishReason;
  /** The id of the model that was asked, such as `ollama/qwen2.5:7b`. */
  readonly model: string;
  /** The provider's own metadata on its reply, if there is any. */
  readonly response?: ReportedResponse;
}

/**
 * Asks the model once. Faults of the request are found before the model is asked. Calls get unique ids that every
 * provider takes; tools keep their names, whatever names the provider takes.
 *
 * @throws WritError `transcript-invalid` for a history that no provider takes, `name-invalid`, `name-taken`, `definition-invalid` and
 * `schema-invalid` for the tools; the errors of the model's adapter, others as `provider-failed`. An aborted request throws the signal's reason.
 */
export function chatWith(model: Model, request: ChatRequest, onFailed?: OnFailed): Promise<ChatReply> {
  return drain(chatStreamWith(model, request, onFailed));
}

/** Receives the usage that a provider reported for a failed reply: it is paid for like any other. */
type OnFailed = (usage: Usage) => void;

/** Asks the model once, and yields its reply while it is written. Calls have the same ids and names as in the reply. */
export async function* chatStreamWith(
  model: Model,
  request: ChatRequest,
  onFailed?: OnFailed,
): AsyncGenerator<Delta, ChatReply, undefined> {
  const { format, settings = {}, signal = new AbortController().signal } = request;
  const tools = describeAll(request.tools ?? []);
  const toolChoice = checkChoice(request.toolChoice ?? "auto", tools);
  const transcript = historyOf(request.messages);
  const names = wireNames({ tools }, model.features.toolNames);
  const calls = callNames(transcript, names);
  const assembler = assemble(model.id, calls.name);
  const { messages } = transcript;
  const sent = {
    messages: names.identity ? messages : messages.map((message) => names.message(message)),
    tools: [...tools.values()].map((tool) => ({ ...tool, name: names.toWire(tool.name) })),
    toolChoice: typeof toolChoice === "object" ? { tool: names.toWire(toolChoice.tool) } : toolChoice,
    settings,
    ...(format === undefined ? {} : { format }),
  };
  let reported: ReportedUsage | undefined;
  try {
    for await (const delta of model.stream(sent, { signal })) {
      if (delta.type === "end") reported = delta.usage;
      assembler.push(delta);
      yield calls.renamed(delta);
    }
    return replyOf(assembler.reply(), model, messages);
  } catch (error) {
    signal.throwIfAborted();
    if (reported !== undefined) onFailed?.(completeUsage(reported, { input: 0, output: 0 }));
    throw asWritError(error, model.id);
  }
}

function replyOf(reply: Reply, model: Model, messages: readonly Message[]): ChatReply {
  const { message, finishReason, usage, response, unreadable } = reply;
  if (unreadable !== undefined)
    throw failure(
      model,
      `it could not read the call that the model wrote: ${unreadable.reason} ${unreadable.written ?? ""}`,
    );
  if (finishReason === "error") throw failure(model, "the reply ended with an error");
  const input = messages.reduce((sum, sent) => sum + charactersOf(sent), 0);
  return {
    message,
    text: textOf(message),
    calls: callsOf(message),
    usage: completeUsage(usage, { input, output: charactersOf(message) }),
    finishReason,
    model: model.id,
    ...(response === undefined ? {} : { response }),
  };
}

function failure({ id }: Model, reason: string): WritError {
  return new WritError("provider-failed", { provider: id, model: id, reason });
}

/** Checks the history as a transcript: providers refuse a call without its result, and do not say which. */
function historyOf(messages: ChatRequest["messages"]): ReadyTranscript {
  const given = typeof messages === "string" ? userMessage(messages) : messages;
  if (!fits(record, given) && !Array.isArray(given)) {
    const reason = `\`messages\` must be a text, a message or a list of them, got ${shownValue(given)}.`;
    throw new WritError("definition-invalid", { where: "A chat request", reason });
  }
  const history = "role" in given ? [given] : given;
  const transcript = readTranscript({ messages: history });
  if (transcript.state === "ready") return transcript;
  const index = history.findLastIndex(({ role }) => role === "assistant");
  const reason = `has calls without a result: ${namedCalls(transcript.open)}`;
  throw new WritError("transcript-invalid", { index, reason });
}

/** Names the calls of a reply, and their deltas accordingly: a provider may give several calls the same id, or none. */
function callNames(
  transcript: ReadyTranscript,
  names: WireNames,
): { readonly name: NameCall; readonly renamed: (delta: Delta) => Delta } {
  const taken = new Set<string>();
  const open = new Map<string, ReturnType<NameCall>>();
  return {
    name({ id: proposed, name, index }) {
      const fallback = `call_${transcript.length}_${index}`;
      const id = acceptableId(transcript, proposed, { taken, fallback });
      taken.add(id);
      const call = { id, name: names.fromWire(name) };
      open.set(proposed, call);
      return call;
    },
    renamed(delta) {
      if (delta.type === "call-start") return { ...delta, ...open.get(delta.id) };
      if (delta.type !== "call-delta" && delta.type !== "call-end") return delta;
      return { ...delta, id: open.get(delta.id)?.id ?? delta.id };
    },
  };
}

function describeAll(tools: ChatTools, found = new Map<string, ToolDescription>()): typeof found {
  for (const entry of tools) {
    if (isCollection(entry)) {
      describeAll(entry, found);
      continue;
    }
    const { name, description, providerOptions } = dataOf(entry);
    checkToolName(name);
    if (found.has(name)) throw new WritError("name-taken", { kind: "tool", name, where: "a chat request" });
    const told = { name, description, inputSchema: inputOf(entry).jsonSchema };
    found.set(name, providerOptions === undefined ? told : { ...told, providerOptions });
  }
  return found;
}

function dataOf(entry: Tool | DataTool): Tool | DataTool {
  const isTold = fits(record, entry) && fits(string, entry.description);
  if (isTold && fits(optional(map(record)), entry.providerOptions)) return entry;
  const reason = isTold
    ? `\`providerOptions\` of "${entry.name}" must be objects by the names of providers, got ${shownValue(entry.providerOptions)}.`
    : `a tool is an object with name and description, got ${shownValue(entry)}.`;
  throw new WritError("definition-invalid", { where: "The `tools` of a chat request", reason });
}

function isCollection(entry: ChatTools[number]): entry is ChatTools {
  return Array.isArray(entry);
}

/** Checks that there is a tool if a call is required. @throws WritError `definition-invalid` */
export function checkRequired(choice: ToolChoice, tools: { readonly size: number }, where: string): void {
  if (choice !== "required" || tools.size > 0) return;
  throw new WritError("definition-invalid", { where, reason: "it requires a call, and there are no tools." });
}

function checkChoice(choice: ToolChoice, tools: ReadonlyMap<string, unknown>): ToolChoice {
  const where = "The `toolChoice` of a chat request";
  if (typeof choice === "object" && !tools.has(choice.tool)) {
    const reason = `it wants the tool "${choice.tool}", which is not among its tools.`;
    throw new WritError("definition-invalid", { where, reason });
  }
  checkRequired(choice, tools, where);
  return choice;
}

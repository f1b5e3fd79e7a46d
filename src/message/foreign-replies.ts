import { parseCallJson } from "../util/call-json.ts";
import { parseJson, toJson, type Json } from "../util/json.ts";
import { type Fields, fieldsOf, isPart, readPart } from "./foreign-parts.ts";
import {
  type Message,
  type ReplyPart,
  type ResultMessage,
  callsOf,
  contentText,
  type ToolCall,
  type ToolResult,
} from "./message.ts";
import { acceptableId, emptyTranscript } from "./transcript.ts";

/** The calls of a conversation from outside, by the ids that they have there. */
export class ForeignCalls {
  private readonly known = new Map<unknown, { readonly id: string; readonly name: string }>();
  private readonly taken = new Set<string>();

  /** The call as it stands in a transcript, where ids are well-formed and unique. @throws TypeError for one without a name */
  begin(given: unknown, name: unknown, args: Arguments): ReplyPart {
    if (typeof name !== "string" || name === "") throw new TypeError("has a call without a name");
    const place = { taken: this.taken, fallback: `call_${this.taken.size}` };
    const id = acceptableId(emptyTranscript(), String(given), place);
    this.taken.add(id);
    this.known.set(given, { id, name });
    return { type: "tool-call", id, name, ...args };
  }

  /** A message that keeps the ids of its calls. */
  kept(message: Message): Message {
    if (message.role === "assistant") for (const { id } of callsOf(message)) this.taken.add(id);
    return message;
  }

  /** The result of a call, for the call that has this id outside. */
  result(given: unknown, result: ToolResult): ResultMessage {
    const { id, name } = this.known.get(given) ?? { id: String(given), name: "" };
    return { role: "tool", callId: id, name, ...result };
  }
}

type Arguments = Pick<ToolCall, "arguments" | "malformed">;

function argumentsOf(given: unknown): Json {
  const parsed = typeof given === "string" ? parseJson(given) : toJson(given ?? {});
  return parsed.ok ? parsed.value : String(given);
}

/** The text of JSON, as a model of OpenAI's wrote it. An empty one has no arguments. */
function writtenArguments(given: unknown): Arguments {
  if (typeof given !== "string") return { arguments: argumentsOf(given) };
  const parsed = parseCallJson(given === "" ? "{}" : given);
  return parsed.ok
    ? { arguments: parsed.value }
    : { arguments: given, malformed: `they are not valid JSON: ${parsed.reason}` };
}

/** Reads a reply, with the results that the AI SDK's `UIMessage` has in it. @throws TypeError for a part that is none */
export function readReply(
  { content, parts, refusal, tool_calls: wanted, function_call: only }: Fields,
  calls: ForeignCalls,
): Message[] {
  const messages: Message[] = [];
  let said: ReplyPart[] = [];
  let results: ResultMessage[] = [];
  const close = (): void => {
    if (said.length > 0) messages.push({ role: "assistant", parts: said });
    messages.push(...results);
    [said, results] = [[], []];
  };
  for (const each of listOf(parts ?? content ?? refusal)) {
    const part = fieldsOf(each);
    const isCall = part["type"] === "tool-call" || "toolCallId" in part;
    if (results.length > 0 && !isCall) close();
    if (!isCall) said.push(...saidIn(each));
    else if (part["type"] === "tool-result") results.push(resultIn(part, calls)); // of a tool that the provider ran
    else {
      said.push(callOf(part, calls));
      if (part["type"] !== "tool-call") results.push(calls.result(part["toolCallId"], endOf(part)));
    }
  }
  for (const each of listOf(wanted)) said.push(openaiCall(fieldsOf(each), calls));
  for (const each of listOf(only)) {
    const { name } = fieldsOf(each);
    said.push(openaiCall({ id: onlyCall(name), function: each }, calls));
  }
  close();
  return messages;
}

/** The one call of a reply as OpenAI had it first: it has no id, and its result names the function. */
const onlyCall = (name: unknown): string => `function_call: ${String(name)}`;

/** A call of a function, or of a custom tool, which takes a text. */
function openaiCall({ id, function: called, custom }: Fields, calls: ForeignCalls): ReplyPart {
  const { name, input } = fieldsOf(custom);
  if (typeof input === "string") return calls.begin(id, name, { arguments: input });
  const { name: its, arguments: args } = fieldsOf(called);
  return calls.begin(id, its, writtenArguments(args));
}

function listOf(given: unknown): readonly unknown[] {
  if (Array.isArray(given)) return given;
  return given === undefined || given === null || given === "" ? [] : [given];
}

/** Another model's thoughts, and parts that pages show beside a text, are not sent to any model. */
function saidIn(part: unknown): readonly ReplyPart[] {
  if (typeof part === "string" || isPart(part)) return [readPart(part)].filter(saysSomething);
  const { type } = fieldsOf(part);
  if (typeof type === "string" && /^(?:reasoning|step-start|source|data-)/.test(type)) return [];
  return [readPart(part)];
}

function saysSomething(part: ReplyPart): boolean {
  return part.type !== "text" || part.text !== "";
}

function callOf(part: Fields, calls: ForeignCalls): ReplyPart {
  const { type, toolName, toolCallId, input, args } = part;
  const name = toolName ?? String(type).replace(/^tool-/, "");
  return calls.begin(toolCallId, name, { arguments: argumentsOf(input ?? args) });
}

const unknownEnd: ToolResult = {
  status: "unknown",
  text: "Nobody knows whether it happened: its result is not in the conversation.",
};

const notApproved = "It was not approved.";

/** The end of a call as a `UIMessage` has it. */
function endOf({ state, output, errorText }: Fields): ToolResult {
  if (state === "output-error") return { status: "error", text: String(errorText) };
  if (state === "output-denied") return { status: "denied", text: notApproved };
  return state === "output-available" ? resultOf(output) : unknownEnd;
}

function resultOf(value: unknown): ToolResult {
  const json = toJson(value);
  return json.ok ? { status: "ok", text: contentText(json.value), value: json.value } : unknownEnd;
}

/** Reads the results in a message of the role `tool`, or the older `function`. @throws TypeError for what is none */
export function readResults(message: Fields, calls: ForeignCalls): Message[] {
  const { role, name, content } = message;
  const callId = role === "function" ? onlyCall(name) : message["tool_call_id"];
  if (callId !== undefined) return [calls.result(callId, told(content))];
  return listOf(content).map((each) => {
    const part = fieldsOf(each);
    if (part["type"] !== "tool-result") throw new TypeError("has a part that is no `tool-result`");
    return resultIn(part, calls);
  });
}

function resultIn({ toolCallId, output, result }: Fields, calls: ForeignCalls): ResultMessage {
  return calls.result(toolCallId, output === undefined ? resultOf(result) : outputOf(fieldsOf(output)));
}

/** The result in a content of texts and files. */
function told(content: unknown): ToolResult {
  const parts = listOf(content).map((each) => readPart(each));
  const files = parts.filter((part) => part.type === "file");
  const text = parts.map((part) => (part.type === "file" ? "[a file]" : part.text)).join("\n");
  return { status: "ok", text, ...(files.length === 0 ? {} : { files }) };
}

/** The result in the output of a `tool-result`. */
function outputOf({ type, value, reason }: Fields): ToolResult {
  if (type === "content") return told(value);
  if (type === "execution-denied")
    return { status: "denied", text: typeof reason === "string" ? reason : notApproved };
  const result = resultOf(value);
  return String(type).startsWith("error") ? { status: "error", text: result.text } : result;
}

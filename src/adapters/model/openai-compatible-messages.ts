import { WritError } from "../../error/writ-error.ts";
import type { FilePart, Message, ReplyMessage, ToolCall, UserMessage } from "../../message/message.ts";
import { textOf } from "../../message/message.ts";
import { assertNever } from "../../util/assert-never.ts";
import { objectArguments, saidFields } from "./wire-fields.ts";

/** A message of `/v1/chat/completions`. */
export interface OpenaiMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  /** Text wherever it says enough: not all servers read parts. Null in a reply that only calls. */
  readonly content: string | null | readonly object[];
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly OpenaiCall[];
  readonly tool_call_id?: string;
}

/** A call in a message, its arguments as text. */
export interface OpenaiCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/**
 * The messages as OpenAI has them. Reasoning goes back as `reasoning_content`, where servers give it. Parts that only another provider
 * understands, and files that a model wrote, have no place here.
 *
 * @throws WritError `provider-failed` for a file that is neither an image, audio nor a PDF.
 */
export function toOpenaiMessages(messages: readonly Message[], model: string): readonly OpenaiMessage[] {
  return messages.map((message) => toOpenaiMessage(message, model));
}

function toOpenaiMessage(message: Message, model: string): OpenaiMessage {
  switch (message.role) {
    case "system":
      return { role: "system", content: message.text };
    case "user":
      return { role: "user", content: contentOf(message, model) };
    case "assistant":
      return toReply(message);
    case "tool":
      return { role: "tool", tool_call_id: message.callId, content: message.text };
    default:
      return assertNever(message);
  }
}

function contentOf(message: UserMessage, model: string): OpenaiMessage["content"] {
  const { parts } = message;
  if (parts.every((part) => part.type === "text")) return textOf(message);
  return parts.map((part) =>
    part.type === "text" ? { type: "text", text: part.text } : filePart(part, model),
  );
}

function filePart({ mediaType, data }: FilePart, model: string): object {
  const url = /^(?:data|https?):/i.test(data) ? data : `data:${mediaType};base64,${data}`;
  if (mediaType.startsWith("image/")) return { type: "image_url", image_url: { url } };
  if (mediaType === "application/pdf")
    return { type: "file", file: { filename: "file.pdf", file_data: url } };
  const audio = audioFormats.get(mediaType);
  if (audio !== undefined)
    return { type: "input_audio", input_audio: { data: data.replace(/^data:[^,]*,/, ""), format: audio } };
  const reason = `a message has a file of type "${mediaType}"; it takes images, wav and mp3, and PDFs`;
  throw new WritError(
    "provider-failed",
    { provider: "An OpenAI-compatible server", model, reason },
    { retryable: false },
  );
}

const audioFormats: ReadonlyMap<string, string> = new Map([
  ["audio/wav", "wav"],
  ["audio/x-wav", "wav"],
  ["audio/mpeg", "mp3"],
  ["audio/mp3", "mp3"],
]);

function toReply(message: ReplyMessage): OpenaiMessage {
  const { content, reasoning, calls } = saidFields(message);
  return {
    role: "assistant",
    content,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(toCall) }),
  };
}

function toCall(call: ToolCall): OpenaiCall {
  const { id, name } = call;
  return { id, type: "function", function: { name, arguments: JSON.stringify(objectArguments(call)) } };
}

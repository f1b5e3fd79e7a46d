import { WritError } from "../../error/writ-error.ts";
import type {
  FilePart,
  Message,
  ReplyMessage,
  ResultMessage,
  ToolCall,
  UserMessage,
} from "../../message/message.ts";
import { textOf } from "../../message/message.ts";
import { type FilePlace, withFilesPlaced } from "../../message/place-files.ts";
import { withTextsRead } from "../../message/text-files.ts";
import { withWholeTexts } from "../../message/whole-texts.ts";
import { assertNever } from "../../util/assert-never.ts";
import { isJsonList, type Json, type JsonObject } from "../../util/json.ts";
import { isAddress } from "../../util/media.ts";
import { keptFrom, wireIds, type WireIds } from "./kept.ts";
import { objectArguments, saidFields, wordsAfterResults } from "./wire-fields.ts";

/** A message of `/v1/chat/completions`. */
export interface OpenaiMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  /** A text wherever that is enough, because not all servers read parts. Null in a reply with only calls. */
  readonly content: string | null | readonly object[];
  readonly tool_calls?: readonly OpenaiCall[];
  readonly tool_call_id?: string;
}

/** A call in a message, with its arguments as text. */
export interface OpenaiCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** The server and the model that messages go to, with what the server was found to refuse or to require. */
export interface Addressee {
  readonly server: string;
  readonly model: string;
  readonly learned: ReadonlySet<string>;
  /** True if the server fetches no PDF from an address. */
  readonly fetchesNoPdf?: boolean;
  /** The place of the files of results. Default: `after`. */
  readonly place?: FilePlace;
  /** Fields beside the text of the system message. */
  readonly systemOptions?: JsonObject;
}

/** The addressee, with the ids of calls in its requests. */
interface Addressed extends Addressee {
  readonly ids: WireIds;
}

/**
 * The messages in OpenAI's form. Reasoning, signatures and ids go back only to the server that wrote them, under the name and in the form in which
 * they came. Parts that only another provider understands, and files that a model wrote, are left out.
 *
 * The files of results follow in a message after them, because this interface takes none in results.
 *
 * @throws WritError `model-without-files` for a file of a user that is neither a picture, a sound, a PDF nor a text
 */
export function toOpenaiMessages(messages: readonly Message[], to: Addressee): readonly OpenaiMessage[] {
  const addressed = { ...to, ids: wireIds(to.server, to.learned.has("id")) };
  const { place = "after" } = to;
  const placed = withFilesPlaced(withTextsRead(withWholeTexts(messages)), {
    place,
    takes: (file) => partOf(file, to) !== undefined,
  });
  return placed.flatMap((message, index) => {
    addressed.ids.take(message);
    const isApart = message.role === "user" && placed[index - 1]?.role === "tool";
    const made = toOpenaiMessage(message, addressed);
    return isApart && to.learned.has("reply after results") ? [replyAfterResults, made] : [made];
  });
}

const replyAfterResults: OpenaiMessage = { role: "assistant", content: wordsAfterResults };

function toOpenaiMessage(message: Message, to: Addressed): OpenaiMessage {
  switch (message.role) {
    case "system":
      return { role: "system", content: systemContent(message.text, to) };
    case "user":
      return { role: "user", content: contentOf(message, to) };
    case "assistant":
      return toReply(message, to);
    case "tool":
      return {
        role: "tool",
        tool_call_id: to.ids.of(message.callId),
        content: resultContent(message, to),
      };
    default:
      return assertNever(message);
  }
}

function systemContent(text: string, { systemOptions }: Addressee): OpenaiMessage["content"] {
  return systemOptions === undefined ? text : [{ type: "text", text, ...systemOptions }];
}

function resultContent({ text, files }: ResultMessage, to: Addressee): OpenaiMessage["content"] {
  if (files === undefined) return text;
  return [{ type: "text", text }, ...files.map((file) => filePart(file, to))];
}

function contentOf(message: UserMessage, to: Addressee): OpenaiMessage["content"] {
  const { parts } = message;
  if (parts.every((part) => part.type === "text")) return textOf(message);
  return parts.map((part) => (part.type === "text" ? { type: "text", text: part.text } : filePart(part, to)));
}

function filePart(file: FilePart, to: Addressee): object {
  const part = partOf(file, to);
  if (part !== undefined) return part;
  const { model, fetchesNoPdf = false } = to;
  const pdfs = fetchesNoPdf ? "PDFs (with their data too)" : "PDFs";
  const takes = `a chat of an OpenAI-compatible server takes pictures, wav and mp3 that are given with their data, ${pdfs}, and text`;
  throw new WritError("model-without-files", { model, mediaType: file.mediaType, takes });
}

/** A file in the server's form; undefined for one that it does not take. */
function partOf({ mediaType, data }: FilePart, { fetchesNoPdf = false }: Addressee): object | undefined {
  const url = /^(?:data|https?):/i.test(data) ? data : `data:${mediaType};base64,${data}`;
  if (mediaType.startsWith("image/")) return { type: "image_url", image_url: { url } };
  if (mediaType === "application/pdf" && !(fetchesNoPdf && /^https?:/i.test(url)))
    return { type: "file", file: { filename: "file.pdf", file_data: url } };
  const format = audioFormats.get(mediaType);
  const sound = data.replace(/^data:[^,]*,/, "");
  if (format === undefined || isAddress(sound)) return undefined; // no server fetches a sound
  return { type: "input_audio", input_audio: { data: sound, format } };
}

const audioFormats: ReadonlyMap<string, string> = new Map([
  ["audio/wav", "wav"],
  ["audio/x-wav", "wav"],
  ["audio/mpeg", "mp3"],
  ["audio/mp3", "mp3"],
]);

function toReply(message: ReplyMessage, to: Addressed): OpenaiMessage {
  const { content, calls } = saidFields(message);
  const { thinking, ...fields } = reasoningFields(message, to);
  return {
    role: "assistant",
    content: typeof thinking === "string" ? thoughtParts(thinking, content) : content,
    ...fields,
    ...(calls.length > 0 && to.learned.has("reasoning_content required")
      ? { reasoning_content: fields["reasoning_content"] ?? "" }
      : {}),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => toCall(call, to)) }),
  };
}

/** The reasoning that this server wrote, by the field in which it sent it. */
function reasoningFields({ parts }: ReplyMessage, { server, learned }: Addressed): JsonObject {
  const fields: Record<string, Json> = {};
  for (const part of parts) {
    if (part.type !== "reasoning") continue;
    const kept = keptFrom(server, part) ?? {};
    const { form } = kept;
    if (typeof form !== "string" || learned.has(form)) continue;
    const details = kept[form];
    const before = fields[form];
    fields[form] = isJsonList(details) ? details : `${typeof before === "string" ? before : ""}${part.text}`;
  }
  return fields;
}

/** The form of Mistral: reasoning and text as the parts of one list. */
function thoughtParts(thinking: string, content: string | null): readonly object[] {
  const thought = { type: "thinking", thinking: [{ type: "text", text: thinking }] };
  return [thought, ...(content === null || content === "" ? [] : [{ type: "text", text: content }])];
}

function toCall(call: ToolCall, to: Addressed): OpenaiCall {
  const { server: _server, id: _id, ...fields } = keptFrom(to.server, call) ?? {};
  const kept = Object.entries(fields).filter(([field]) => !to.learned.has(field));
  return {
    id: to.ids.of(call.id),
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(objectArguments(call)) },
    ...Object.fromEntries(kept),
  };
}

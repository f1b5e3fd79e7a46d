import { WritError } from "../../error/writ-error.ts";
import type { FilePart, Message, ReplyMessage, ToolCall, UserMessage } from "../../message/message.ts";
import { textOf } from "../../message/message.ts";
import { type TakesFiles, withFilesPlaced } from "../../message/place-files.ts";
import { withTextsRead } from "../../message/text-files.ts";
import { withWholeTexts } from "../../message/whole-texts.ts";
import type { ToolDescription } from "../../model/model.ts";
import { assertNever } from "../../util/assert-never.ts";
import type { JsonObject } from "../../util/json.ts";
import { keptFrom, wireIds, type WireIds } from "./kept.ts";
import { toOllamaParameters } from "./ollama-schema.ts";
import { objectArguments, saidFields, type WireTool, wireTools } from "./wire-fields.ts";

/** A message of `/api/chat`. */
export interface OllamaMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  /** Null in a reply with only calls: strict validators in front of Ollama refuse an empty text there, and Ollama reads null as one. */
  readonly content: string | null;
  readonly thinking?: string;
  readonly images?: string[];
  readonly tool_calls?: readonly OllamaCall[];
  readonly tool_name?: string;
  readonly tool_call_id?: string;
}

/** A call in a message. Older servers ignore the id. */
export interface OllamaCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: JsonObject };
}

/** The model that messages go to, with its server. */
interface Addressee {
  readonly model: string;
  readonly server: string;
}

/**
 * The messages in Ollama's form. Reasoning and ids of calls go back to the server that wrote them. Calls that another provider carried out itself, and parts
 * that only another provider understands, are left out.
 *
 * The images of results follow in a message after them.
 *
 * @throws WritError `model-without-files` for a file of a user that is neither a picture in base64 nor a text
 */
export function toOllamaMessages(messages: readonly Message[], to: Addressee): readonly OllamaMessage[] {
  const ids = wireIds(to.server, false);
  return withFilesPlaced(withTextsRead(withWholeTexts(messages)), imagesAfter).map((message) => {
    ids.take(message);
    return toOllamaMessage(message, to, ids);
  });
}

function toOllamaMessage(message: Message, to: Addressee, ids: WireIds): OllamaMessage {
  switch (message.role) {
    case "system":
      return { role: "system", content: message.text };
    case "user":
      return { role: "user", content: textOf(message), ...imagesOf(message, to.model) };
    case "assistant":
      return toReply(message, to, ids);
    case "tool":
      return {
        role: "tool",
        content: message.text,
        tool_name: message.name,
        tool_call_id: ids.of(message.callId),
      };
    default:
      return assertNever(message);
  }
}

function toReply(message: ReplyMessage, to: Addressee, ids: WireIds): OllamaMessage {
  const { content, calls } = saidFields(message);
  const own = message.parts.filter((part) => part.type === "reasoning" && keptFrom(to.server, part));
  const reasoning = own.map((part) => (part.type === "reasoning" ? part.text : "")).join("");
  return {
    role: "assistant",
    content,
    ...(reasoning === "" ? {} : { thinking: reasoning }),
    ...ownImages(message),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => toCall(call, ids)) }),
  };
}

function toCall(call: ToolCall, ids: WireIds): OllamaCall {
  return { id: ids.of(call.id), function: { name: call.name, arguments: objectArguments(call) } };
}

const dataUrlStart = /^data:[^,]*;base64,/i;
const outsideBase64 = /[^a-zA-Z0-9+/=\r\n]/;

const imagesAfter: TakesFiles = { place: "after", takes: (file) => imageOf(file) !== undefined };

/** The base64 of an image; undefined for a file that Ollama does not take. */
function imageOf({ mediaType, data: given }: FilePart): string | undefined {
  const data = given.replace(dataUrlStart, "");
  return mediaType.startsWith("image/") && data !== "" && !outsideBase64.test(data) ? data : undefined;
}

function imagesOf({ parts }: UserMessage, model: string): { readonly images?: string[] } {
  const images = parts.flatMap((part) => {
    if (part.type !== "file") return [];
    const data = imageOf(part);
    if (data !== undefined) return [data];
    const takes = "Ollama takes text, and pictures with their data in base64";
    throw new WritError("model-without-files", { model, mediaType: part.mediaType, takes });
  });
  return images.length === 0 ? {} : { images };
}

/** The images that a model made. Its other files go back as words. */
function ownImages({ parts }: ReplyMessage): { readonly images?: string[] } {
  const images = parts.flatMap((part) => (part.type === "file" ? (imageOf(part) ?? []) : []));
  return images.length === 0 ? {} : { images };
}

/** The tools in Ollama's form. */
export function toOllamaTools(tools: readonly ToolDescription[]): readonly WireTool[] {
  return wireTools(tools, toOllamaParameters);
}

import type {
  FilePart,
  Message,
  ReplyMessage,
  ReplyPart,
  ResultMessage,
  ToolCall,
} from "../../message/message.ts";
import { type TakesFiles, withFilesPlaced } from "../../message/place-files.ts";
import { withTextsRead } from "../../message/text-files.ts";
import { wholeTexts } from "../../message/whole-texts.ts";
import { assertNever } from "../../util/assert-never.ts";
import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { remembered } from "../../util/remembered.ts";
import type { ResultForm } from "./ai-sdk-bound.ts";
import { optionsOf, partsFor, renamedResults, takesTexts } from "./ai-sdk-own.ts";
import { wireIds, type WireIds } from "./kept.ts";
import { objectArguments, wordsAfterResults, wordsBeforeReply } from "./wire-fields.ts";

/** The versions of the AI SDK's provider specification that this adapter supports: `ai` 5, 6 and 7. */
export type AiSdkVersion = "v2" | "v3" | "v4";

/** A part of a prompt message. Its fields depend on the version. */
export interface PromptPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A message of an AI SDK prompt: a text for `system`, parts for the others. */
export interface PromptMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly PromptPart[];
  readonly providerOptions?: JsonObject;
}

/** The forms in which a receiver takes results. */
interface PromptWays {
  readonly files?: TakesFiles;
  /** The forms of the results of some tools, by the names of the tools. */
  readonly forms?: ReadonlyMap<string, ResultForm>;
}

/**
 * Makes the function that converts messages for one receiver: for the version that its package supports, and the name of its provider. Each message is
 * converted once: the list only grows, and later turns reuse the converted messages of earlier ones. Consecutive results become one `tool` message: Gemini
 * counts the results of a message against the calls before it. The files of results are put where the model takes them.
 */
export function promptFor(
  version: AiSdkVersion,
  server?: string,
  { files = noFiles, forms }: PromptWays = {},
): (messages: readonly Message[]) => readonly PromptMessage[] {
  const ownParts = (message: ReplyMessage): readonly ReplyPart[] =>
    takesTexts(server) ? partsFor(server, message) : partsFor(server, message).map(withObject);
  // Depends on: the receiver; the message.
  const converted = remembered((message: Message) => {
    if (message.role === "tool") {
      const part = resultPart(message, version, forms?.get(message.name));
      return wholeTexts([{ role: "tool" as const, content: [part] }]);
    }
    const own = message.role === "assistant" ? { ...message, parts: ownParts(message) } : message;
    return wholeTexts(convert(own, version));
  });
  const isMistral = server?.startsWith("mistral") === true;
  const wantsUser = /anthropic|bedrock/.test(server ?? "");
  return (messages) => {
    const ids = wireIds(server, isMistral);
    const prompt: PromptMessage[] = [];
    let results: PromptPart[] | undefined;
    for (const message of withFilesPlaced(withTextsRead(messages), files)) {
      ids.take(message);
      for (const made of converted(message)) {
        const part = renamed(made, ids);
        if (part.role !== "tool" || typeof part.content === "string") {
          if (isMistral && results !== undefined && part.role === "user") prompt.push(replyAfterResults);
          results = undefined;
          prompt.push(part);
        } else if (results === undefined) {
          results = [...part.content];
          prompt.push({ role: "tool", content: results });
        } else {
          results.push(...part.content);
        }
      }
    }
    return wantsUser ? begunByUser(prompt) : prompt;
  };
}

/** A prompt that begins with a user: Claude, at least behind Bedrock, refuses a conversation that begins with a reply, as a page's greeting does. */
function begunByUser(prompt: readonly PromptMessage[]): readonly PromptMessage[] {
  const first = prompt.findIndex(({ role }) => role !== "system");
  if (prompt[first]?.role !== "assistant") return prompt;
  const begun: PromptMessage = { role: "user", content: [{ type: "text", text: wordsBeforeReply }] };
  return prompt.toSpliced(first, 0, begun);
}

/** A reply between results and a user: Mistral refuses a user directly after results. */
const replyAfterResults: PromptMessage = {
  role: "assistant",
  content: [{ type: "text", text: wordsAfterResults }],
};

/** The message with the ids of its calls as the receiver knows them. */
function renamed(message: PromptMessage, ids: WireIds): PromptMessage {
  if (ids.areSame() || typeof message.content === "string") return message;
  const content = message.content.map((part) =>
    typeof part["toolCallId"] === "string" ? { ...part, toolCallId: ids.of(part["toolCallId"]) } : part,
  );
  return { ...message, content };
}

const noFiles: TakesFiles = { place: "none", takes: () => false };

/** Converts a message; an empty one becomes no message, because providers refuse empty ones. */
function convert(message: Exclude<Message, ResultMessage>, version: AiSdkVersion): readonly PromptMessage[] {
  if (message.role === "system")
    return message.text === "" ? [] : [{ role: "system", content: message.text }];
  if (message.role === "assistant") return convertReply(message, version);
  return messageOf(
    "user",
    message.parts.flatMap((part) => convertPart(part, version)),
  );
}

function messageOf(
  role: "user" | "assistant" | "tool",
  content: readonly PromptPart[],
): readonly PromptMessage[] {
  return content.length === 0 ? [] : [{ role, content }];
}

function convertReply(message: ReplyMessage, version: AiSdkVersion): readonly PromptMessage[] {
  const renamed = renamedResults(message.parts);
  const content = message.parts.flatMap((part) => convertPart(renamed.get(part) ?? part, version));
  return [
    ...messageOf("assistant", content),
    ...messageOf("tool", version === "v2" ? [] : refusals(message.parts)),
  ];
}

function convertPart(part: ReplyPart, version: AiSdkVersion): readonly PromptPart[] {
  switch (part.type) {
    case "text":
      if (part.text === "" && part.providerMetadata === undefined) return [];
      return [{ type: "text", text: part.text, ...optionsOf(part) }];
    case "reasoning":
      return [{ type: "reasoning", text: part.text, ...optionsOf(part) }];
    case "file":
      return [filePart(part, version)];
    case "tool-call":
      return [callPart(part)];
    case "provider":
      return convertProviderPart(part.data, version);
    default:
      return assertNever(part);
  }
}

function callPart(call: ToolCall): PromptPart {
  return {
    type: "tool-call",
    toolCallId: call.id,
    toolName: call.name,
    input: inputOf(call),
    ...(call.providerExecuted === true ? { providerExecuted: true } : {}),
    ...optionsOf(call),
  };
}

/**
 * The arguments of a call. A malformed call, and one whose arguments are a list or a number, goes back with empty arguments: providers want an object, and the
 * model learns from the result what was wrong. A text stays: custom tools take one. A call that the provider carried out stays as it is.
 */
function inputOf(call: ToolCall): Json {
  if (call.providerExecuted === true) return call.arguments;
  if (call.malformed !== undefined) return {};
  return typeof call.arguments === "string" ? call.arguments : objectArguments(call);
}

/** A call for a provider that takes only objects as arguments. */
function withObject(part: ReplyPart): ReplyPart {
  if (part.type !== "tool-call" || part.providerExecuted === true) return part;
  return typeof part.arguments === "string" ? { ...part, arguments: objectArguments(part) } : part;
}

function resultPart(message: ResultMessage, version: AiSdkVersion, form?: ResultForm): PromptPart {
  return {
    type: "tool-result",
    toolCallId: message.callId,
    toolName: message.name,
    output: form === undefined ? outputOf(message, version) : { type: "json", value: form(message) },
  };
}

function outputOf({ status, text, files }: ResultMessage, version: AiSdkVersion): PromptPart {
  if (files !== undefined)
    return {
      type: "content",
      value: [{ type: "text", text }, ...files.map((file) => resultFile(file, version))],
    };
  if (status === "ok") return { type: "text", value: text };
  if (status === "denied" && version !== "v2") return { type: "execution-denied", reason: text };
  return { type: "error-text", value: text };
}

/** A file in a result. Each version has its own names for it. */
function resultFile(file: FilePart, version: AiSdkVersion): PromptPart {
  if (version === "v4") return filePart(file, version);
  const { mediaType, data } = file;
  const url = urlOf(data)?.href;
  const kind = mediaType.startsWith("image/") ? "image" : "file";
  if (url !== undefined) return { type: `${kind}-url`, url };
  return { type: version === "v2" ? "media" : `${kind}-data`, data: base64Of(data), mediaType };
}

/** A file. V4 tags the kind of its data; V2 and V3 distinguish them by class. */
function filePart(file: Omit<FilePart, "type">, version: AiSdkVersion, type = "file"): PromptPart {
  const url = urlOf(file.data);
  const tagged = url === undefined ? { type: "data", data: base64Of(file.data) } : { type: "url", url };
  const data = version === "v4" ? tagged : (url ?? base64Of(file.data));
  return { type, mediaType: file.mediaType, data, ...optionsOf(file) };
}

const base64DataUrl = /^data:[^,]*;base64,/i;

function base64Of(data: string): string {
  return data.replace(base64DataUrl, "");
}

/** The address of a file. Base64 has no colon, so data that begins like a URL is one. A `data:` URL in base64 is sent as its data instead. */
function urlOf(data: string): URL | undefined {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(data) || base64DataUrl.test(data)) return undefined;
  return URL.canParse(data) ? new URL(data) : undefined;
}

/**
 * A part that a provider sent beside text and calls, in its place. A prompt has no place for sources, nor for
 * parts of another adapter.
 */
function convertProviderPart(data: JsonObject, version: AiSdkVersion): readonly PromptPart[] {
  const providerMetadata = isJsonObject(data["providerMetadata"]) ? data["providerMetadata"] : undefined;
  const options = optionsOf({ providerMetadata });
  const { type, toolCallId, toolName, kind, mediaType } = data;
  if (type === "tool-result" && typeof toolCallId === "string" && typeof toolName === "string") {
    return [
      {
        type,
        toolCallId,
        toolName,
        output: executedOutput(data["result"] ?? null, data["isError"] === true),
        ...options,
      },
    ];
  }
  if (type === "file" || (type === "reasoning-file" && version === "v4")) {
    if (typeof mediaType !== "string" || typeof data["data"] !== "string") return [];
    return [filePart({ mediaType, data: data["data"], providerMetadata }, version, type)];
  }
  return type === "custom" && version === "v4" && typeof kind === "string"
    ? [{ type, kind, ...options }]
    : [];
}

function executedOutput(result: Json, isError: boolean): PromptPart {
  if (isError) return { type: "error-json", value: result };
  return typeof result === "string" ? { type: "text", value: result } : { type: "json", value: result };
}

/**
 * Denials for a provider that asks whether it may run a tool of its own: nobody was asked. Without an answer it would refuse the next request.
 */
function refusals(parts: readonly ReplyPart[]): readonly PromptPart[] {
  return parts.flatMap((part) => {
    const approvalId =
      part.type === "provider" && part.data["type"] === "tool-approval-request"
        ? part.data["approvalId"]
        : undefined;
    if (typeof approvalId !== "string") return [];
    return [
      {
        type: "tool-approval-response",
        approvalId,
        approved: false,
        reason: "This program does not approve it.",
      },
    ];
  });
}

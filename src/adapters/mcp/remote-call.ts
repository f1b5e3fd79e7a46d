import { messageOf } from "../../error/writ-error.ts";
import type { Enforcement } from "../../tool/enforcement.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { isAddress } from "../../util/media.ts";
import { file } from "../../message/file-part.ts";
import type { FilePart } from "../../message/message.ts";
import type { ToolContext } from "../../tool/tool.ts";
import type { McpClient, McpRequestOptions } from "./client.ts";
import { noteDigits, withDigits } from "./digits.ts";
import { asRuntime } from "../../run/around.ts";
import { nodePowers } from "../capability/node-powers.ts";
import { inTime } from "./in-time.ts";
import { type WithFiles, withFiles } from "../../tool/with-files.ts";

/** The enforcement of a server's tools: they run elsewhere, and nothing here restricts them. */
export const enforcement = (): Enforcement => ({
  level: "remote",
  mechanism: "mcp",
  platform: process.platform,
  probes: [],
});

/** One call of a tool of a server. */
export interface RemoteCall {
  /** The tool, by the server's name. */
  readonly name: string;
  readonly args: JsonObject;
  readonly inputSchema: JsonObject;
  readonly timeoutMs: number;
  /** True if a schema of its result checks it afterwards. */
  readonly isChecked: boolean;
}

/** The extra time before the client's own time-out: the runtime's clock ends a call first. For calls outside a run. */
const clientGraceMs = 1_000;
/** The same, until a call ends even if its client does nothing. */
export const ownGraceMs = 2_000;

/** The error of a tool that reports a failure. The server itself works. */
export class RemoteFailure extends Error {
  override readonly name: string = "RemoteFailure";
}

/**
 * Sends a call and reads its result: the structured content if there is some, otherwise the text; with the pictures, sounds and files beside
 * it. Ends in time whatever the client does.
 *
 * The client gets the tool's schema without that of its result, which is checked here, because clients would compile a stranger's patterns.
 *
 * @throws RemoteFailure if the tool reports a failure, and for an invalid result; the errors of the client
 */
export async function callRemote(
  client: McpClient,
  call: RemoteCall,
  context: ToolContext,
): Promise<Json | WithFiles<Json>> {
  const { name, args, inputSchema, timeoutMs } = call;
  const { progress } = context;
  const send = (signal: AbortSignal): Promise<object> => {
    const options: McpRequestOptions & { readonly toolDefinition: object } = {
      signal,
      timeout: timeoutMs + clientGraceMs,
      onprogress: (told) => progress({ ...told }),
      toolDefinition: { name, inputSchema: { ...inputSchema, type: "object" } },
    };
    return client.callTool({ name, arguments: args }, options);
  };
  const bounds = { timeoutMs: timeoutMs + ownGraceMs, signal: context.signal, what: "the call" };
  const result: unknown = await asRuntime({ powers: nodePowers }, () => inTime(send, bounds));
  if (!isJsonObject(result)) throw new RemoteFailure("what the client gave is no result of a tool");
  const { content, structuredContent, isError } = result;
  // A client that does not check results accepts other spellings of a failure.
  if (isError !== undefined && isError !== null && isError !== false)
    throw new RemoteFailure(
      boundedText(contentText(content) ?? "the server says that it failed, and not why"),
    );
  const files = filesIn(content);
  if (structuredContent !== undefined && structuredContent !== null) {
    noteDigits(structuredContent, contentText(content));
    const value = call.isChecked ? structuredContent : withDigits(structuredContent);
    return files.length === 0 ? value : withFiles(value, files);
  }
  return files.length === 0 ? (contentText(content) ?? "(no content)") : partsOf(content);
}

/** The content of a read resource or prompt: its text, or texts and files. */
export function contentOf(blocks: readonly Json[]): Json | WithFiles<Json> {
  return filesIn(blocks).length === 0 ? (contentText(blocks) ?? "(no content)") : partsOf(blocks);
}

/** The content of a result as texts and files, in order. */
function partsOf(content: Json | undefined): readonly Json[] {
  const blocks = isJsonList(content) ? content : [];
  return blocks.map((block) => {
    const found = fileIn(block);
    return found === undefined ? blockText(block) : { ...found };
  });
}

function filesIn(content: Json | undefined): readonly FilePart[] {
  return isJsonList(content) ? content.flatMap((block) => fileIn(block) ?? []) : [];
}

/** The picture, sound or file of a block that has its data; undefined for any other block. */
function fileIn(block: Json): FilePart | undefined {
  if (!isJsonObject(block)) return undefined;
  const { type, data, mimeType, resource } = block;
  const isResource = type === "resource" && isJsonObject(resource);
  const base64 = isResource ? resource["blob"] : type === "image" || type === "audio" ? data : undefined;
  const mediaType = (isResource ? resource["mimeType"] : mimeType) ?? "application/octet-stream";
  if (typeof base64 !== "string" || typeof mediaType !== "string") return undefined;
  try {
    return isAddress(base64) ? undefined : file(base64, mediaType);
  } catch {
    return undefined;
  }
}

/** The most characters of a description: a longer one helps no model, and a stranger wrote it. */
const longestText = 2_000;

/** A description, cut at its end if it is too long. */
export function boundedText(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}

/** The error itself, or one with the beginning of its message: a stranger writes it, and a model reads it. */
export function withBoundedWords(error: unknown): unknown {
  const words = messageOf(error);
  const bounded = boundedText(words);
  return bounded === words ? error : new RemoteFailure(bounded);
}

/** The content of a result as text; undefined if there is none. Other content is named. Never throws. */
function contentText(content: Json | undefined): string | undefined {
  if (!Array.isArray(content)) return undefined;
  const lines = content.map(blockText);
  return lines.length === 0 ? undefined : lines.join("\n");
}

function blockText(block: Json): string {
  if (!isJsonObject(block)) return "[content]";
  const { type, text, mimeType, uri, resource } = block;
  if (type === "text" && typeof text === "string") return text;
  if (isJsonObject(resource))
    return typeof resource["text"] === "string" ? resource["text"] : blockName(type, resource);
  return blockName(type, { mimeType, uri });
}

function blockName(type: Json | undefined, about: { readonly [field: string]: Json | undefined }): string {
  const words = [type ?? "content", about["mimeType"], about["uri"]];
  return `[${words.filter((word) => typeof word === "string").join(" ")}]`;
}

import { WritError } from "../error/writ-error.ts";
import { base64Of, bytesOfBase64, isAddress, mediaTypeOf, readDataUrl, sizeOf } from "../util/media.ts";
import { shownValue } from "../util/shape.ts";
import type { FilePart, Message, ReplyMessage, ReplyPart, ToolResult } from "./message.ts";

/** The contents of a file: bytes, their base64, or an address (`https:`, `data:`) as a text or a URL. */
export type FileData = string | Uint8Array | ArrayBuffer | URL;

/**
 * Makes the part of a message, or of a tool's result, that is a file: a sound, a document, a picture. `data` is its
 * bytes, their base64, or an address that the provider reads.
 *
 * @throws WritError `definition-invalid` for data that is empty or neither of these, and for what is no media type
 * @example
 * ```ts
 * import { readFile } from "node:fs/promises";
 * import { agent } from "writ";
 * import { file } from "writ/tools";
 *
 * const reader = agent({ name: "reader", model: "ollama/qwen2.5:7b" });
 * export const ask = async (path: string) =>
 *   reader(["What is the sum of this bill?", file(await readFile(path), "application/pdf")]);
 * ```
 */
export function file(data: FileData, mediaType: string): FilePart {
  return filePart("file()", data, { mediaType });
}

/**
 * Makes the part of a message, or of a tool's result, that is a picture: of its bytes, their base64, or an address that
 * the provider reads. Left out, the media type is what the bytes or the address say.
 *
 * @throws WritError `definition-invalid` for data that is empty or neither of these, and where nothing says the media type
 * @example
 * ```ts
 * import { tool } from "writ";
 * import { image } from "writ/tools";
 *
 * export const chart = tool({
 *   name: "chart",
 *   description: "Draw the sales of a month",
 *   inputSchema: { type: "object", properties: { month: { type: "string" } }, required: ["month"] },
 *   effect: "read",
 *   execute: async ({ month }) => image(await (await fetch(`https://example.com/${String(month)}.png`)).arrayBuffer()),
 * });
 * ```
 */
export function image(data: FileData, mediaType?: string): FilePart {
  return filePart("image()", data, { mediaType, ofAddress: "image/*" });
}

interface Typed {
  readonly mediaType?: string;
  /** The media type of an address that shows none. */
  readonly ofAddress?: string;
}

function filePart(where: string, given: FileData, { mediaType, ofAddress }: Typed): FilePart {
  const refuse = (reason: string): never => {
    throw new WritError("definition-invalid", { where, reason });
  };
  const data = dataOf(given);
  if (data === undefined || data === "")
    return refuse("`data` is bytes, their base64, or an address, and not empty.");
  const found = mediaType ?? mediaTypeOf(data) ?? (isAddress(data) ? ofAddress : undefined);
  if (found === undefined) return refuse('nothing says what it is: give its media type, like "image/png".');
  const type = typeof found === "string" ? mediaTypeIn(found) : undefined;
  if (type === undefined) return refuse(`${shownValue(found)} is no media type, like "image/png".`);
  return { type: "file", mediaType: type, data };
}

/** A media type as all ask for it: in small letters, without spaces and the `charset` that headers of servers have. */
function mediaTypeIn(given: string): string | undefined {
  const written = given
    .trim()
    .replaceAll(/\s*;\s*/g, ";")
    .replace(/;charset=[^;]*/i, "");
  const [, type, parameters = ""] = /^([a-z]+\/[^\s/;]+)(;[^\s/]+)?$/i.exec(written) ?? [];
  return type === undefined ? undefined : `${type.toLowerCase()}${parameters}`;
}

function dataOf(given: unknown): string | undefined {
  if (given instanceof URL) return given.href;
  if (given instanceof ArrayBuffer) return base64Of(new Uint8Array(given));
  if (given instanceof Uint8Array) return base64Of(given);
  if (typeof given !== "string") return undefined;
  return isAddress(given) || /^[a-z0-9+/=_\s-]*$/i.test(given) ? given : undefined;
}

/** The number of bytes of a file; undefined for one that stands elsewhere. */
export function bytesOf({ data, bytes }: FilePart): number | undefined {
  return bytes ?? sizeOf(data);
}

/** The words of a text file, on lines of their own: parts of text are joined as they are. */
export function wordsOfFile({ data }: FilePart): string {
  return `\n${new TextDecoder().decode(bytesOfBase64(readDataUrl(data)?.data ?? data))}\n`;
}

/** A file in words, for whoever is shown none: `[image: image/png, 12.3 kB]`. */
export function fileText(part: FilePart): string {
  const bytes = bytesOf(part);
  const [kind = "file"] = part.mediaType.split("/");
  const named = kind === "application" || kind === "text" ? "file" : kind;
  return `[${named}: ${part.mediaType}, ${bytes === undefined ? part.data : sizeText(bytes)}]`;
}

function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** The result with the sizes of its files in the place of their data: for events, which are kept and sent on. */
export function sizedResult<Result extends ToolResult>(result: Result): Result {
  return result.files === undefined ? result : { ...result, files: result.files.map(sized) };
}

/** The reply with the sizes of its files in the place of their data: for events. */
export function sizedReply(reply: ReplyMessage): ReplyMessage {
  return reply.parts.some(isFilePart) ? { ...reply, parts: sizedParts(reply.parts) } : reply;
}

/** The message with the sizes of its files in the place of their data: for whoever counts what it says. */
export function sizedMessage(message: Message): Message {
  if (message.role === "tool") return sizedResult(message);
  if (message.role === "assistant") return sizedReply(message);
  if (message.role === "system" || !message.parts.some(isFilePart)) return message;
  return { ...message, parts: sizedParts(message.parts) };
}

/** The files of a message. */
export function filesIn(message: Message): readonly FilePart[] {
  if (message.role === "system") return [];
  const parts: readonly ReplyPart[] = message.role === "tool" ? (message.files ?? []) : message.parts;
  return parts.filter(isFilePart);
}

function isFilePart(part: ReplyPart): part is FilePart {
  return part.type === "file";
}

function sizedParts<Part extends ReplyPart>(parts: readonly Part[]): readonly (Part | FilePart)[] {
  return parts.map((part) => (part.type === "file" ? sized(part) : part));
}

/** A file that stands elsewhere is told as it is. */
function sized(part: FilePart): FilePart {
  const bytes = bytesOf(part);
  return bytes === undefined ? part : { ...part, data: "", bytes };
}

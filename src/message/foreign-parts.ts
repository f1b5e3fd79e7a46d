import { isJsonObject } from "../util/json.ts";
import { readDataUrl } from "../util/media.ts";
import { fits, record } from "../util/shape.ts";
import { file, type FileData, image } from "./file-part.ts";
import type { FilePart, TextPart } from "./message.ts";

/** A part of what an agent is asked: a text, a picture, another file. */
export type InputPart = string | TextPart | FilePart;

/** The fields of a value from outside; none where it is no object. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields of a value, and none of one that has none. */
export function fieldsOf(value: unknown): Fields {
  return fits(record, value) ? value : {};
}

/** The types of parts of users that can be read, as this package and others call them. */
const readers: Readonly<Record<string, (part: Fields) => TextPart | FilePart | undefined>> = {
  text: textPart,
  input_text: textPart,
  output_text: textPart,
  refusal: ({ refusal }) => textPart({ text: refusal }),
  file: ({ data, url, mediaType, mimeType, file: inner, ...part }) => {
    const { file_data: given } = fieldsOf(inner);
    return fileOf(given ?? url ?? plainData(data), mediaType ?? mimeType, part);
  },
  media: resultFile,
  "file-data": resultFile,
  "image-data": resultFile,
  "file-url": resultFile,
  "image-url": resultFile,
  image: ({ image: given, source, mediaType, mimeType, ...part }) =>
    source === undefined ? pictureOf(given, mediaType ?? mimeType, part) : ofSource(fieldsOf(source)),
  document: ({ source }) => ofSource(fieldsOf(source)),
  image_url: ({ image_url: given }) => pictureOf(fieldsOf(given)["url"] ?? given),
  input_image: ({ image_url: given }) => pictureOf(given),
  input_file: ({ file_data: data, file_url: url }) => fileOf(data ?? url, undefined),
  input_audio: ({ input_audio: given }) => {
    const { data, format } = fieldsOf(given);
    return fileOf(data, format === "mp3" ? "audio/mpeg" : `audio/${String(format)}`);
  },
};

/** True for an object that says it is a part of a message. */
export function isPart(value: unknown): boolean {
  const { type, role } = fieldsOf(value);
  return typeof type === "string" && role === undefined && Object.hasOwn(readers, type);
}

/** Reads one part that a user, or a program in the user's place, wrote. @throws TypeError for what is none, with what to write */
export function readPart(value: unknown): TextPart | FilePart {
  if (typeof value === "string") return { type: "text", text: value };
  const part = fieldsOf(value);
  const { type } = part;
  const read = typeof type === "string" && Object.hasOwn(readers, type) ? readers[type] : undefined;
  const found = read?.(part);
  if (found !== undefined) return found;
  const what = read === undefined ? "is no part that is known" : "has no data that can be sent";
  const shown = typeof type === "string" ? ` of the type ${JSON.stringify(type)}` : "";
  throw new TypeError(
    `a part${shown} ${what}; give a text, image(data) or file(data, mediaType) of "writ/tools"`,
  );
}

function textPart({ text, ...part }: Fields): TextPart | undefined {
  return typeof text === "string" ? { type: "text", text, ...metadataOf(part) } : undefined;
}

function pictureOf(given: unknown, mediaType?: unknown, part: Fields = {}): FilePart | undefined {
  return isData(given)
    ? { ...image(given, typeof mediaType === "string" ? mediaType : undefined), ...metadataOf(part) }
    : undefined;
}

function fileOf(given: unknown, mediaType: unknown, part: Fields = {}): FilePart | undefined {
  if (!isData(given)) return undefined;
  const ofUrl = typeof given === "string" ? readDataUrl(given)?.mediaType : undefined;
  const type = typeof mediaType === "string" ? mediaType : (ofUrl ?? "application/octet-stream");
  return { ...file(given, type), ...metadataOf(part) };
}

/** The ways in which results of the AI SDK's tools name a file. */
function resultFile({ data, url, mediaType, type }: Fields): FilePart | undefined {
  return fileOf(data ?? url, mediaType ?? (String(type).startsWith("image") ? "image/*" : undefined));
}

/** Anthropic's way to name the data of a part. */
function ofSource({ data, url, media_type: mediaType }: Fields): FilePart | undefined {
  return fileOf(data ?? url, mediaType ?? (data === undefined ? "image/*" : undefined));
}

/** The AI SDK's newest version tags what its data is. */
function plainData(data: unknown): unknown {
  return fits(record, data) && "type" in data ? (data["data"] ?? data["url"]) : data;
}

function isData(value: unknown): value is FileData {
  if (typeof value === "string") return value !== "";
  return value instanceof Uint8Array || value instanceof ArrayBuffer || value instanceof URL;
}

/** Metadata that a provider wants with the part; the AI SDK calls it options on the way there. */
function metadataOf({ providerMetadata, providerOptions }: Fields): Pick<TextPart, "providerMetadata"> {
  const given = providerMetadata ?? providerOptions;
  return isJsonObject(given) ? { providerMetadata: given } : {};
}

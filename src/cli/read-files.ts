import { type Dirent, type Stats } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, extname } from "node:path";
import { messageOf, WritError } from "../error/writ-error.ts";
import { file } from "../message/file-part.ts";
import type { FilePart } from "../message/message.ts";
import { nearest } from "../util/nearest.ts";

/** The parts of a question: text and files. */
export type QuestionPart = string | FilePart;

/** The largest size of all files. Requests grow by a third through base64, and providers take 20 to 50 MB. */
const mostBytes = 20_000_000;

/**
 * Reads the files of `--file`, each with its name before it, in order. The contents decide the kind of a file, or else its name.
 *
 * @throws WritError `option-invalid` for a file that does not exist, is empty, is too large, or of an unknown kind
 */
export async function readFiles(paths: readonly string[]): Promise<readonly QuestionPart[]> {
  await checkSizes(paths);
  const parts: QuestionPart[] = [];
  for (const path of paths) {
    const bytes = await readFile(path).catch((error: unknown) => refuse(path, sentence(messageOf(error))));
    parts.push(`File ${basename(path)}:`, file(bytes, mediaTypeOf(bytes, path)));
  }
  return parts;
}

/** Checks all sizes before the first file is read. */
async function checkSizes(paths: readonly string[]): Promise<void> {
  let sum = 0;
  for (const path of paths) {
    const found: Stats | undefined = await stat(path).catch(() => undefined);
    if (found === undefined) return refuse(path, `There is no such file${await meantIn(path)}`);
    if (found.isDirectory()) return refuse(path, "It is a folder: name its files one by one.");
    if (found.size === 0 && found.isFile()) return refuse(path, "It is empty.");
    sum += found.size;
    const has =
      found.size > mostBytes ? `It has ${megabytes(found.size)}` : `The files have ${megabytes(sum)}`;
    if (sum > mostBytes)
      return refuse(path, `${has}; the files of one question may have at most 20 MB together.`);
  }
}

/** The name of a file in the same folder that was probably meant. */
async function meantIn(path: string): Promise<string> {
  const beside: readonly Dirent[] = await readdir(dirname(path), { withFileTypes: true }).catch(() => []);
  const names = beside.filter((entry) => entry.isFile()).map(({ name }) => name);
  const meant = nearest(basename(path), names);
  return meant === undefined ? "." : `; did you mean "${meant}"?`;
}

/** The first bytes of files, as Latin-1, and the media type that they indicate. */
const beginnings: readonly (readonly [beginning: RegExp, mediaType: string])[] = [
  [/^\x89PNG\r\n/, "image/png"],
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^GIF8[79]a/, "image/gif"],
  [/^RIFF.{4}WEBP/s, "image/webp"],
  [/^RIFF.{4}WAVE/s, "audio/wav"],
  [/^%PDF-/, "application/pdf"],
  [/^ID3|^\xff[\xe2-\xe7\xf2-\xf7\xfa-\xfd]/, "audio/mpeg"], // FF FE begins a text in UTF-16
];

/** Kinds that few models take, by the ending of the name. */
const endings: Readonly<Record<string, string>> = {
  ".avif": "image/avif",
  ".bmp": "image/bmp",
  ".flac": "audio/flac",
  ".heic": "image/heic",
  ".m4a": "audio/mp4",
  ".mov": "video/quicktime",
  ".mp4": "video/mp4",
  ".ogg": "audio/ogg",
  ".tif": "image/tiff",
  ".tiff": "image/tiff",
  ".webm": "video/webm",
};

/** @throws WritError `option-invalid` if neither contents nor name show the kind */
function mediaTypeOf(bytes: Uint8Array, path: string): string {
  const head = String.fromCharCode(...bytes.subarray(0, 16));
  const shown = beginnings.find(([beginning]) => beginning.test(head))?.[1];
  const named = shown ?? endings[extname(path).toLowerCase()];
  if (named !== undefined) return named;
  if (isText(bytes)) return "text/plain";
  return refuse(
    path,
    "The kind of the file cannot be recognised. Give a picture (png, jpeg, gif, webp), a PDF, a sound (wav, mp3), or a text in UTF-8.",
  );
}

function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function sentence(text: string): string {
  return `It cannot be read: ${text}.`;
}

function refuse(path: string, advice: string): never {
  throw new WritError("option-invalid", { option: "--file", value: path, advice });
}

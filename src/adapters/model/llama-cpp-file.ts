import { closeSync, openSync, readSync } from "node:fs";
import { messageOf, WritError } from "../../error/writ-error.ts";

/** The head of a GGUF file, read without loading the model. */
export interface GgufSummary {
  readonly architecture: string;
  /** The number of weights in all tensors. */
  readonly parameters: number;
  /** The number of tokens that the model was trained to see at once, if the file says so. */
  readonly contextLength?: number;
  /** The Jinja template of its conversations; models that only complete text have none. */
  readonly chatTemplate?: string;
}

/**
 * Reads the head of a GGUF file (versions 2 and 3, little-endian). Reads a few megabytes at most, because the head contains the vocabulary.
 *
 * @throws WritError `model-file-invalid` if the file cannot be read, is not GGUF, is cut, or has impossible sizes
 */
export function readGgufSummary(path: string): GgufSummary {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    return summarize(new Cursor(file));
  } catch (error) {
    throw new WritError("model-file-invalid", { path, reason: messageOf(error) }, { cause: error });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const maxEntries = 100_000;
const maxItems = 10_000_000;
const maxTextBytes = 16 * 1024 * 1024;

/** The bytes of each scalar value type of GGUF, by its number. */
const scalarBytes: Readonly<Record<number, number>> = {
  0: 1,
  1: 1,
  2: 2,
  3: 2,
  4: 4,
  5: 4,
  6: 4,
  7: 1,
  10: 8,
  11: 8,
  12: 8,
};
const textType = 8;
const arrayType = 9;

function summarize(cursor: Cursor): GgufSummary {
  if (cursor.take(4).toString("latin1") !== "GGUF") throw new Error("it does not begin with GGUF");
  const version = cursor.take(4).readUInt32LE();
  if (version !== 2 && version !== 3)
    throw new Error(`it is GGUF version ${version}; versions 2 and 3 are known`);
  const tensors = cursor.count(maxEntries, "tensors");
  const entries = cursor.count(maxEntries, "metadata entries");
  const found = new Map<string, string | number>();
  for (let index = 0; index < entries; index += 1) {
    const key = cursor.text();
    const value = readValue(cursor, cursor.take(4).readUInt32LE());
    if (value !== undefined) found.set(key, value);
  }
  let parameters = 0;
  for (let index = 0; index < tensors; index += 1) parameters += weightsOfTensor(cursor);
  return summaryOf(found, parameters);
}

function summaryOf(found: ReadonlyMap<string, string | number>, parameters: number): GgufSummary {
  const architecture = String(found.get("general.architecture") ?? "unknown");
  const contextLength = found.get(`${architecture}.context_length`);
  const chatTemplate = found.get("tokenizer.chat_template");
  return {
    architecture,
    parameters,
    ...(typeof contextLength === "number" ? { contextLength } : {}),
    ...(typeof chatTemplate === "string" ? { chatTemplate } : {}),
  };
}

/** The value if it is a text or an unsigned number; other values are skipped. */
function readValue(cursor: Cursor, type: number): string | number | undefined {
  if (type === textType) return cursor.text();
  if (type === arrayType) return skipArray(cursor);
  const bytes = cursor.take(sizeOf(type));
  if (type === 4) return bytes.readUInt32LE();
  return type === 10 ? Number(bytes.readBigUInt64LE()) : undefined;
}

function skipArray(cursor: Cursor): undefined {
  const type = cursor.take(4).readUInt32LE();
  if (type === arrayType) throw new Error("it has arrays of arrays");
  const items = cursor.count(maxItems, "items in an array");
  if (type !== textType) cursor.skip(items * sizeOf(type));
  else
    for (let index = 0; index < items; index += 1) cursor.skip(cursor.count(maxTextBytes, "bytes in a text"));
  return undefined;
}

function weightsOfTensor(cursor: Cursor): number {
  cursor.text();
  const dimensions = cursor.take(4).readUInt32LE();
  if (dimensions > 8) throw new Error(`a tensor has ${dimensions} dimensions`);
  let weights = 1;
  for (let index = 0; index < dimensions; index += 1) weights *= Number(cursor.take(8).readBigUInt64LE());
  cursor.skip(4 + 8);
  return weights;
}

function sizeOf(type: number): number {
  const bytes = scalarBytes[type];
  if (bytes === undefined) throw new Error(`it has a value of the unknown type ${type}`);
  return bytes;
}

/** Reads a file from its beginning in blocks. */
class Cursor {
  readonly #file: number;
  #block: Buffer = Buffer.alloc(0);
  #start = 0;
  #position = 0;

  constructor(file: number) {
    this.#file = file;
  }

  take(length: number): Buffer {
    const from = this.#position - this.#start;
    if (from < 0 || from + length > this.#block.length) this.#load(length);
    const offset = this.#position - this.#start;
    this.#position += length;
    return this.#block.subarray(offset, offset + length);
  }

  skip(length: number): void {
    this.#position += length;
  }

  text(): string {
    return this.take(this.count(maxTextBytes, "bytes in a text")).toString("utf8");
  }

  count(limit: number, what: string): number {
    const count = this.take(8).readBigUInt64LE();
    if (count > BigInt(limit)) throw new Error(`it claims ${count} ${what}`);
    return Number(count);
  }

  #load(length: number): void {
    const block = Buffer.alloc(Math.max(length, 256 * 1024));
    const read = readSync(this.#file, block, 0, block.length, this.#position);
    if (read < length) throw new Error("it is cut off");
    this.#block = block.subarray(0, read);
    this.#start = this.#position;
  }
}

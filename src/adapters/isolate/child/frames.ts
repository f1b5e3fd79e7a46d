/**
 * A message on the pipe between a cell and its parent: JSON, and bytes beside it that JSON would make a third
 * longer.
 */
export interface Frame {
  readonly text: string;
  readonly bytes: Uint8Array;
}

/** The length of the text and the length of the bytes, each 4 bytes, the highest first. */
const headerBytes = 8;

/** A message as it goes over the pipe. */
export function encodeFrame(message: unknown, bytes: Uint8Array = empty): Buffer {
  const text = JSON.stringify(message, written);
  const textBytes = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(headerBytes + textBytes + bytes.length);
  frame.writeUInt32BE(textBytes, 0);
  frame.writeUInt32BE(bytes.length, 4);
  frame.write(text, headerBytes);
  frame.set(bytes, headerBytes + textBytes);
  return frame;
}

/**
 * A bigint is the string of its digits; bytes, lists with holes, and objects of which JSON shows nothing are no JSON. So it is for tools of the same process.
 *
 * @throws TypeError
 */
function written(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  const field = this[key]; // a buffer says of itself in JSON that it is a list of numbers
  if (ArrayBuffer.isView(field) || field instanceof ArrayBuffer)
    throw new TypeError(`it has ${field.byteLength} bytes in a buffer; JSON has none: give them as text`);
  if (Array.isArray(value)) refuseHoles(value);
  else if (typeof value === "object" && value !== null) refuseHidden(value);
  return typeof value === "bigint" ? String(value) : value;
}

function refuseHoles(list: readonly unknown[]): void {
  for (let place = 0; place < list.length; place += 1)
    if (!(place in list)) throw new TypeError(`in a list nothing was put in at place ${place}`);
}

/** JSON writes a Map, an error or a promise as `{}`. */
function refuseHidden(value: object): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || Object.getPrototypeOf(prototype) === null || Object.keys(value).length > 0)
    return;
  throw new TypeError(`JSON shows nothing of what it has: ${value.constructor.name}`);
}

const empty = new Uint8Array(0);

export interface FrameReaderOptions {
  /** A frame that says it is longer is refused before any of it is kept. */
  readonly maxBytes: number;
  readonly onFrame: (frame: Frame) => void;
  /** Nothing after it can be read: whoever wrote it does not keep to the rules. */
  readonly onTooLong: (bytes: number) => void;
}

/** Puts frames together from whatever pieces the pipe gives. Keeps at most one frame. */
export function frameReader(options: FrameReaderOptions): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let held = 0;
  let needed = headerBytes;
  let isBroken = false;

  /** Takes the first frame, when it is whole. */
  function take(): boolean {
    const whole = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, held);
    chunks = [whole];
    const textBytes = whole.readUInt32BE(0);
    const length = headerBytes + textBytes + whole.readUInt32BE(4);
    if (length > options.maxBytes) {
      isBroken = true;
      chunks = [];
      options.onTooLong(length);
      return false;
    }
    needed = length;
    if (held < length) return false;
    const rest = whole.subarray(length);
    chunks = rest.length === 0 ? [] : [rest];
    held = rest.length;
    needed = headerBytes;
    const text = whole.toString("utf8", headerBytes, headerBytes + textBytes);
    options.onFrame({ text, bytes: whole.subarray(headerBytes + textBytes, length) });
    return true;
  }

  return (chunk) => {
    if (isBroken) return;
    chunks.push(chunk);
    held += chunk.length;
    while (held >= needed && take());
  };
}

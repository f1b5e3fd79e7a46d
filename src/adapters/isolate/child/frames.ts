/**
 * A message on the pipe between a cell and its parent: JSON, with bytes beside it that would be a third
 * longer in JSON.
 */
export interface Frame {
  readonly text: string;
  readonly bytes: Uint8Array;
}

/** The header: the length of the text and the length of the bytes, each 4 bytes, big-endian. */
const headerBytes = 8;

/** A message in the form of the pipe. */
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
 * Writes a value: a bigint becomes the string of its digits; bytes, lists with holes, NaN, numbers without end, and objects that JSON would show as empty are refused. Tools of the same
 * process follow the same rules.
 *
 * @throws TypeError
 */
function written(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  const field = this[key]; // in JSON a buffer would become a list of numbers
  if (ArrayBuffer.isView(field) || field instanceof ArrayBuffer)
    throw new TypeError(`it has ${field.byteLength} bytes in a buffer; JSON has none: give them as text`);
  if (Array.isArray(value)) refuseHoles(value);
  else if (typeof value === "object" && value !== null) refuseHidden(value);
  else if (typeof value === "number" && !Number.isFinite(value))
    throw new TypeError(`"${key}" is ${value}, for which JSON has no word`);
  return typeof value === "bigint" ? String(value) : value;
}

function refuseHoles(list: readonly unknown[]): void {
  for (let place = 0; place < list.length; place += 1)
    if (!(place in list)) throw new TypeError(`in a list nothing was put in at place ${place}`);
}

/** Refuses a Map, an error or a promise, which JSON would write as `{}`. */
function refuseHidden(value: object): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || Object.getPrototypeOf(prototype) === null || Object.keys(value).length > 0)
    return;
  throw new TypeError(`JSON shows nothing of what it has: ${value.constructor.name}`);
}

const empty = new Uint8Array(0);

export interface FrameReaderOptions {
  /** A frame with a greater length is refused before any of it is kept. */
  readonly maxBytes: number;
  readonly onFrame: (frame: Frame) => void;
  /** Called for such a frame. Nothing after it can be read, because its writer broke the rules. */
  readonly onTooLong: (bytes: number) => void;
}

/** Joins frames from the pieces that the pipe gives. Keeps at most one frame. */
export function frameReader(options: FrameReaderOptions): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let held = 0;
  let needed = headerBytes;
  let isBroken = false;

  /** Takes the first frame, if it is complete. */
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

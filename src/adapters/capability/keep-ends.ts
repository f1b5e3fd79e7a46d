/**
 * The bytes of a long output that are kept: its beginning and, three times as many, its end, where errors
 * stand.
 */
export interface KeptEnds {
  readonly add: (chunk: Buffer) => void;
  readonly collected: () => { readonly text: string; readonly leftOut: number };
}

/** Keeps at most so many bytes, and a line that says how many stood between them. */
export function keepEnds(maxBytes: number): KeptEnds {
  const headBytes = Math.floor(maxBytes / 4);
  const tailBytes = Math.floor(maxBytes) - headBytes;
  const head: Buffer[] = [];
  let tail: Buffer[] = [];
  let headSize = 0;
  let tailSize = 0;
  let leftOut = 0;

  function shorten(): void {
    const all = Buffer.concat(tail);
    const surplus = Math.max(0, all.length - tailBytes);
    tail = [all.subarray(surplus)];
    tailSize = all.length - surplus;
    leftOut += surplus;
  }
  return {
    add(chunk) {
      const first = chunk.subarray(0, headBytes - headSize);
      if (first.length > 0) head.push(first);
      headSize += first.length;
      const rest = chunk.subarray(first.length);
      tail.push(rest);
      tailSize += rest.length;
      if (tailSize > 2 * tailBytes) shorten();
    },
    collected() {
      shorten();
      if (leftOut === 0) return { text: Buffer.concat([...head, ...tail]).toString("utf8"), leftOut };
      const beginning = Buffer.concat(head);
      const [end = Buffer.alloc(0)] = tail;
      const kept = [beginning.subarray(0, wholeEnd(beginning)), end.subarray(wholeStart(end))] as const;
      leftOut += beginning.length - kept[0].length + end.length - kept[1].length;
      const mark = `\n[… ${leftOut} bytes are left out here …]\n`;
      return { text: `${kept[0].toString("utf8")}${mark}${kept[1].toString("utf8")}`, leftOut };
    },
  };
}

const isInsideLetter = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** The end of the last whole letter of UTF-8. */
function wholeEnd(bytes: Buffer): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isInsideLetter(bytes[start])) start -= 1;
  const first = bytes[start] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return start + length <= bytes.length ? bytes.length : Math.max(0, start);
}

/** The start of the first whole letter of UTF-8. */
function wholeStart(bytes: Buffer): number {
  let start = 0;
  while (start < 3 && isInsideLetter(bytes[start])) start += 1;
  return start;
}

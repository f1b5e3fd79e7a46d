import { mostSpelled, secretOver } from "./secrets.ts";

/**
 * The kept bytes of a long output: its beginning and, three times as many, its end, where errors
 * usually are.
 */
export interface KeptEnds {
  readonly add: (chunk: Buffer) => void;
  readonly collected: () => { readonly text: string; readonly leftOut: number };
}

/**
 * Keeps at most this many bytes, and a line with the number of bytes between them. Until the end it keeps bytes beyond the cuts too: a secret that a cut would
 * divide is left out as a whole.
 */
export function keepEnds(maxBytes: number): KeptEnds {
  const most = Math.floor(maxBytes);
  const headBytes = Math.floor(maxBytes / 4);
  const tailBytes = most - headBytes;
  const head: Buffer[] = [];
  let tail: Buffer[] = [];
  let headSize = 0;
  let tailSize = 0;
  let dropped = 0;

  function shorten(): void {
    const all = Buffer.concat(tail);
    const surplus = Math.max(0, all.length - tailBytes - mostSpelled);
    tail = [all.subarray(surplus)];
    tailSize = all.length - surplus;
    dropped += surplus;
  }
  return {
    add(chunk) {
      const first = chunk.subarray(0, headBytes + mostSpelled - headSize);
      if (first.length > 0) head.push(first);
      headSize += first.length;
      const rest = chunk.subarray(first.length);
      tail.push(rest);
      tailSize += rest.length;
      if (tailSize > 2 * tailBytes + mostSpelled) shorten();
    },
    collected() {
      shorten();
      const total = headSize + dropped + tailSize;
      const whole = Buffer.concat([...head, ...tail]);
      if (total <= most) return { text: whole.toString("utf8"), leftOut: 0 };
      const isWhole = dropped === 0;
      const beginning = isWhole ? whole : Buffer.concat(head);
      const end = isWhole ? whole : Buffer.concat(tail);
      const endAt = end.length - tailBytes;
      const kept = [
        beginning.subarray(0, secretOver(beginning, headBytes)?.start ?? headBytes),
        end.subarray(secretOver(end, endAt)?.end ?? endAt),
      ] as const;
      const [first, last] = [kept[0].subarray(0, wholeEnd(kept[0])), kept[1].subarray(wholeStart(kept[1]))];
      const leftOut = total - first.length - last.length;
      const mark = `\n[… ${leftOut} bytes are left out here …]\n`;
      return { text: `${first.toString("utf8")}${mark}${last.toString("utf8")}`, leftOut };
    },
  };
}

const isInsideLetter = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** The end of the last complete UTF-8 character. */
function wholeEnd(bytes: Buffer): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isInsideLetter(bytes[start])) start -= 1;
  const first = bytes[start] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return start + length <= bytes.length ? bytes.length : Math.max(0, start);
}

/** The start of the first complete UTF-8 character. */
function wholeStart(bytes: Buffer): number {
  let start = 0;
  while (start < 3 && isInsideLetter(bytes[start])) start += 1;
  return start;
}

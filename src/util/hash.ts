/**
 * A short fingerprint of a text, to notice that something changed. Not for secrets: 53 bits of the cyrb53 mixing function (public domain,
 * github.com/bryc/code), the same on every machine.
 */
export function fingerprint(text: string): string {
  const mixed = { high: 0xdeadbeef, low: 0x41c6ce57 };
  for (let from = 0; from < text.length; from += piece) mixIn(mixed, text, from);
  let { high, low } = mixed;
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return base36(4294967296 * (2097151 & low) + (high >>> 0));
}

/** The characters of a text that are mixed at a time: V8 takes the fast code of a loop with its next call, and not while one call is at work. */
const piece = 16_384;

function mixIn(mixed: { high: number; low: number }, text: string, from: number): void {
  let { high, low } = mixed;
  const to = Math.min(text.length, from + piece);
  for (let index = from; index < to; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  mixed.high = high;
  mixed.low = low;
}

/** Writes a whole number to base 36 in two halves, each a small integer: of one that is none that takes ten times as long. */
function base36(number: number): string {
  const low = number % halfOf36;
  const high = (number - low) / halfOf36;
  return high === 0 ? low.toString(36) : high.toString(36) + low.toString(36).padStart(5, "0");
}

const halfOf36 = 36 ** 5;

/**
 * A short fingerprint of a text, to notice that something changed. Not for secrets: 53 bits of the cyrb53 mixing function (public domain,
 * github.com/bryc/code), the same on every machine.
 */
export function fingerprint(text: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return base36(4294967296 * (2097151 & low) + (high >>> 0));
}

/** Writes a whole number to base 36 in two halves, each a small integer: of one that is none that takes ten times as long. */
function base36(number: number): string {
  const low = number % halfOf36;
  const high = (number - low) / halfOf36;
  return high === 0 ? low.toString(36) : high.toString(36) + low.toString(36).padStart(5, "0");
}

const halfOf36 = 36 ** 5;

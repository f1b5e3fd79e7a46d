/** Kinds of characters in tokens, as bits; 0 is a character that separates tokens. */
export const has = {
  letter: 1,
  digit: 2,
  at: 4,
  dot: 8,
  slash: 16,
  other: 32,
  beyondAscii: 64,
} as const;

export type Parting = "space" | "quote" | "mark";

const inAscii = Uint8Array.from({ length: 128 }, (_value, code) => bitsOf(String.fromCharCode(code)));

function bitsOf(character: string): number {
  if (/[a-z]/iv.test(character)) return has.letter;
  if (/\d/v.test(character)) return has.digit;
  if (character === "@") return has.at;
  if (character === ".") return has.dot;
  if (character === "/" || character === "\\") return has.slash;
  if (/[\s,;<>\(\)\[\]\{\}\|"'`#]/v.test(character)) return 0;
  return /[!-~]/v.test(character) ? has.other : has.beyondAscii;
}

const pairs = "''\"\"``‘’“”‚‘„“«»‹›「」『』";
const closing: ReadonlyMap<string, string> = new Map(
  Array.from({ length: pairs.length / 2 }, (_value, index) => [
    pairs[index * 2] ?? "",
    pairs[index * 2 + 1] ?? "",
  ]),
);
const quotes: ReadonlySet<string> = new Set(pairs);
// Depends on: the quotes above, and the signs named here.
const beyond = new Map<number, Parting>();
for (const quote of quotes) beyond.set(quote.charCodeAt(0), "quote");
for (const mark of "、。，；：？！（）【】《》〈〉…•·—¿¡,;<>()[]{}|#") beyond.set(mark.charCodeAt(0), "mark");
for (const space of " \t\n\v\f\r\u{a0}\u{1680}\u{202f}\u{205f}\u{2028}\u{2029}\u{3000}")
  beyond.set(space.charCodeAt(0), "space");
for (let code = 0x2000; code <= 0x200a; code += 1) beyond.set(code, "space");

/** The bits of `has` for the character at `index`; 0 if it separates tokens, or there is none. */
export function bitsAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  if (code < 128) return inAscii[code] ?? 0;
  return Number.isNaN(code) || beyond.has(code) ? 0 : has.beyondAscii;
}

/** The kind of separator at `index`; undefined for a character inside a token. */
export function partingAt(text: string, index: number): Parting | undefined {
  return beyond.get(text.charCodeAt(index));
}

/** The quotes that close what this one opens. */
export function closingQuote(opening: string): string | undefined {
  return closing.get(opening);
}

/**
 * True if a letter or a digit is at `index`. A character beyond ASCII that separates nothing counts as one.
 */
export function isWordAt(text: string, index: number): boolean {
  return (bitsAt(text, index) & (has.letter | has.digit | has.beyondAscii)) !== 0;
}

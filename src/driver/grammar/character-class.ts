import type { CharacterRange } from "./expression.ts";

/** Every character: no half of one. */
export const everyCharacter: readonly CharacterRange[] = [
  [0, 0xd7ff],
  [0xe000, 0x10ffff],
];

/** The characters outside of the ranges. */
export function complementOf(ranges: readonly CharacterRange[]): readonly CharacterRange[] {
  return ranges.reduce(
    (left, [from, to]) =>
      left.flatMap(([a, b]): CharacterRange[] => [
        ...(a < from ? ([[a, Math.min(b, from - 1)]] as const) : []),
        ...(b > to ? ([[Math.max(a, to + 1), b]] as const) : []),
      ]),
    everyCharacter,
  );
}

const digit: readonly CharacterRange[] = [[0x30, 0x39]];
const word: readonly CharacterRange[] = [...digit, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]];
/** The blanks that all engines for regular expressions take for such. */
const commonSpace: readonly CharacterRange[] = [
  [0x09, 0x0a],
  [0x0c, 0x0d],
  [0x20, 0x20],
];
/** The blanks of JavaScript. */
const anySpace: readonly CharacterRange[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];

/** Every character but the ends of lines. */
export const dot: readonly CharacterRange[] = complementOf([
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
]);

/** The reading of a class about which engines disagree: what all of them take, or what any of them takes. */
export type Extent = "sure" | "possible";

const controls: Readonly<Record<string, number>> = { t: 0x09, n: 0x0a, v: 0x0b, f: 0x0c, r: 0x0d, 0: 0 };

/**
 * The characters that an escape stands for, like `\d`, `\n` or `\.`.
 *
 * @throws SyntaxError for those that stand for no characters, and for categories of Unicode.
 */
export function escapedClass(escape: string, extent: Extent): readonly CharacterRange[] {
  const name = escape.charAt(1);
  if (/^\\[ux]./.test(escape)) return one(Number.parseInt(escape.slice(2), 16));
  if (name === "d") return digit;
  if (name === "D") return complementOf(digit);
  if (name === "w") return word;
  if (name === "W") return complementOf(word);
  if (name === "s") return extent === "sure" ? commonSpace : anySpace;
  if (name === "S") return complementOf(extent === "sure" ? anySpace : commonSpace);
  const control = controls[name];
  if (control !== undefined) return one(control);
  if (/[\dA-Za-z]/.test(name))
    throw new SyntaxError(`it has ${escape}, which stands for no set of characters`);
  return one(escape.codePointAt(1) ?? 0);
}

/**
 * The characters of a class, given without its brackets and its `^`.
 *
 * @throws SyntaxError as {@link escapedClass}.
 */
export function characterClass(inside: string, extent: Extent): readonly CharacterRange[] {
  if (/\\s/.test(inside) && inside.includes(String.raw`\S`)) return everyCharacter;
  const parts = inside.match(/\\u[\dA-Fa-f]{4}|\\x[\dA-Fa-f]{2}|\\[^]|[^]/gu) ?? [];
  const sets = parts.map((part) => {
    if (part === String.raw`\b`) return one(0x08);
    return part.startsWith("\\") ? escapedClass(part, extent) : one(part.codePointAt(0) ?? 0);
  });
  const ranges: CharacterRange[] = [];
  let next = 0;
  for (const [index, set] of sets.entries()) {
    if (index < next) continue; // the sign and the end of a range
    const [from, to] = [single(set), single(sets[index + 2])];
    if (parts[index + 1] === "-" && from !== undefined && to !== undefined) {
      ranges.push([from, to]);
      next = index + 3;
    } else ranges.push(...set);
  }
  return ranges;
}

function single(ranges: readonly CharacterRange[] = []): number | undefined {
  const [only, ...others] = ranges;
  return only !== undefined && others.length === 0 && only[0] === only[1] ? only[0] : undefined;
}

function one(code: number): readonly CharacterRange[] {
  if (code >= 0xd800 && code <= 0xdfff) throw new SyntaxError("it has half of a character");
  return [[code, code]];
}

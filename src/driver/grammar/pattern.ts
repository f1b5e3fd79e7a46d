import { messageOf } from "../../error/writ-error.ts";
import { characterClass, complementOf, dot, escapedClass, everyCharacter } from "./character-class.ts";
import {
  type CharacterRange,
  choice,
  empty,
  type Expression,
  isEmpty,
  lengthsOf,
  repeat,
  sequence,
  set,
  weightOf,
} from "./expression.ts";

/** The texts that match a regular expression, or why no expression says them. */
export type PatternReading = { readonly expression: Expression } | { readonly fault: string };

const maxWeight = 2000;
const maxVariants = 50;

/**
 * Reads a regular expression as JSON Schema means it: it may match anywhere in the text unless it is anchored. Takes characters, classes,
 * groups, alternatives, quantifiers, and anchors where the text begins and ends. Back-references, looking around, word boundaries and
 * categories of Unicode are faults. Never throws.
 */
export function readPattern(pattern: string): PatternReading {
  try {
    RegExp(pattern);
    const expression = choice(readWhole(pattern).map(wholeText));
    return weightOf(expression) > maxWeight ? { fault: "its repetitions make it too large" } : { expression };
  } catch (error) {
    return { fault: messageOf(error) };
  }
}

const anything = repeat(set(everyCharacter), 0, Infinity);

function wholeText({ of, isStart, isEnd }: Variant): Expression {
  return sequence(isStart ? empty : anything, of, isEnd ? empty : anything);
}

/** A way to match, and whether it stands at the beginning and at the end of the text. */
interface Variant {
  readonly of: Expression;
  readonly isStart: boolean;
  readonly isEnd: boolean;
}

const plain = (of: Expression): Variant => ({ of, isStart: false, isEnd: false });
const isPlain = ({ isStart, isEnd }: Variant): boolean => !isStart && !isEnd;

/** A pattern, and where reading goes on. */
interface Cursor {
  readonly pattern: string;
  at: number;
}

function readWhole(pattern: string): readonly Variant[] {
  const cursor = { pattern, at: 0 };
  const variants = readAlternatives(cursor);
  if (cursor.at < pattern.length) throw new SyntaxError("it closes a group that is not open");
  return variants;
}

function readAlternatives(cursor: Cursor): readonly Variant[] {
  const variants = [...readTerms(cursor)];
  while (takes(cursor, "|")) variants.push(...readTerms(cursor));
  return variants.every(isPlain) ? [plain(choice(variants.map(({ of }) => of)))] : variants;
}

function readTerms(cursor: Cursor): readonly Variant[] {
  let variants: readonly Variant[] = [plain(empty)];
  while (cursor.at < cursor.pattern.length && !"|)".includes(cursor.pattern.charAt(cursor.at))) {
    const next = readTerm(cursor);
    variants = variants.flatMap((left) => next.map((right) => joined(left, right)));
    if (variants.length > maxVariants) throw new SyntaxError("it has anchors in too many alternatives");
  }
  return variants;
}

function readTerm(cursor: Cursor): readonly Variant[] {
  if (takes(cursor, "^")) return [{ of: empty, isStart: true, isEnd: false }];
  if (takes(cursor, "$")) return [{ of: empty, isStart: false, isEnd: true }];
  const atom = takes(cursor, "(") ? readGroup(cursor) : [plain(set(readCharacters(cursor)))];
  const counts = readCounts(cursor);
  if (counts === undefined) return atom;
  const [only] = atom;
  if (only === undefined || !atom.every(isPlain)) throw new SyntaxError("it repeats an anchor");
  if (counts[1] === Infinity && lengthsOf(only.of)[0] === 0)
    throw new SyntaxError("it repeats what may be empty");
  return [plain(repeat(only.of, ...counts))];
}

function readGroup(cursor: Cursor): readonly Variant[] {
  if (takes(cursor, "?") && takesMatch(cursor, /:|<[\w$]+>/y) === undefined)
    throw new SyntaxError("it looks around, or changes flags");
  const variants = readAlternatives(cursor);
  if (!takes(cursor, ")")) throw new SyntaxError("it does not close a group");
  return variants;
}

function readCharacters(cursor: Cursor): readonly CharacterRange[] {
  if (takes(cursor, ".")) return dot;
  const inside = takesMatch(cursor, /\[(\^?)((?:\\[^]|[^\]\\])*)\]/y);
  if (inside !== undefined) {
    const [, negation = "", members = ""] = inside;
    return negation === ""
      ? characterClass(members, "sure")
      : complementOf(characterClass(members, "possible"));
  }
  const [escape] = takesMatch(cursor, /\\u[\dA-Fa-f]{4}|\\x[\dA-Fa-f]{2}|\\[^]/y) ?? [];
  if (escape !== undefined) return escapedClass(escape, "sure");
  const code = cursor.pattern.codePointAt(cursor.at) ?? 0;
  cursor.at += String.fromCodePoint(code).length;
  return [[code, code]];
}

/** Reads the counts of a quantifier. A lazy one matches the same texts. */
function readCounts(cursor: Cursor): readonly [least: number, most: number] | undefined {
  const match = takesMatch(cursor, /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y);
  if (match === undefined) return undefined;
  const [, sign, from, comma, to] = match;
  if (sign !== undefined) return [sign === "+" ? 1 : 0, sign === "?" ? 1 : Infinity];
  const least = Number(from);
  return [least, comma === "" ? least : to === "" ? Infinity : Number(to)];
}

function takes(cursor: Cursor, sign: string): boolean {
  const isThere = cursor.pattern.startsWith(sign, cursor.at);
  if (isThere) cursor.at += sign.length;
  return isThere;
}

function takesMatch(cursor: Cursor, sticky: RegExp): RegExpExecArray | undefined {
  sticky.lastIndex = cursor.at;
  const match = sticky.exec(cursor.pattern) ?? undefined;
  if (match !== undefined) cursor.at = sticky.lastIndex;
  return match;
}

function joined(left: Variant, right: Variant): Variant {
  if ((right.isStart && !isEmpty(left.of)) || (left.isEnd && !isEmpty(right.of)))
    throw new SyntaxError("it has an anchor inside");
  return {
    of: sequence(left.of, right.of),
    isStart: left.isStart || right.isStart,
    isEnd: left.isEnd || right.isEnd,
  };
}

import { canonicalNumber } from "./number.ts";
import { between, type Tokens, wordAt } from "./tokens.ts";
import { unitAt } from "./unit.ts";

/** English words, including those of India, and short forms that multiply the number before them, by their number of zeros. */
const zeros: ReadonlyMap<string, number> = new Map([
  ["hundred", 2],
  ["thousand", 3],
  ["grand", 3],
  ["k", 3],
  ["lakh", 5],
  ["million", 6],
  ["mio", 6],
  ["crore", 7],
  ["billion", 9],
  ["bn", 9],
  ["trillion", 12],
]);
/** A non-breaking space between the thousands of one number. */
const unbroken: Grouping = { space: /^[\u{a0}\u{202f}]$/v, most: Infinity };
const spaced: Grouping = { space: /^ $/v, most: 5 };
const group = /^\d{3}(?:[.,]\d+)?$/v;

/** The space between groups of digits, and the most groups after the first digits. */
interface Grouping {
  readonly space: RegExp;
  readonly most: number;
}

/** A number with the words that multiply it: `5 million`, `5 000`. */
export interface Scaled {
  readonly number: string | undefined;
  /** The index of the last word with digits of it. */
  readonly lastDigits: number;
  /** The index of its last word. */
  readonly last: number;
}

/** The whole number that the word at `index`, which is this number, begins. */
export function scaledAt(tokens: Tokens, index: number, number: string): Scaled {
  const grouped = withGroups(tokens, index, number);
  let { last } = grouped;
  let shift = 0;
  for (let next = zerosAt(tokens, last + 1); next !== undefined; next = zerosAt(tokens, last + 1)) {
    shift += next;
    last += 1;
  }
  const { lastDigits } = grouped;
  const whole = shift === 0 ? grouped.number : shifted(grouped.number ?? number, shift);
  return { number: whole, lastDigits, last };
}

function zerosAt(tokens: Tokens, index: number): number | undefined {
  return /^[ \-\u{a0}]$/v.test(between(tokens, index - 1, index))
    ? zeros.get(
        wordAt(tokens, index)
          .toLowerCase()
          .replace(/(?<=.{3})s$/v, ""),
      )
    : undefined;
}

function withGroups(tokens: Tokens, index: number, number: string): Scaled {
  const last = Math.max(groupsBehind(tokens, index, unbroken), spacedBehind(tokens, index));
  const written = Array.from({ length: last - index + 1 }, (_, at) => wordAt(tokens, index + at));
  return { number: last === index ? number : canonicalNumber(written.join("")), lastDigits: last, last };
}

/** The index of the last group of three digits after the word, with such a space before each. */
function groupsBehind(tokens: Tokens, index: number, { space, most }: Grouping): number {
  let last = index;
  while (
    last - index < most &&
    /\d$/v.test(wordAt(tokens, last)) &&
    space.test(between(tokens, last, last + 1)) &&
    group.test(wordAt(tokens, last + 1))
  )
    last += 1;
  return last;
}

/** Like `groupsBehind`, with plain spaces. They may also separate two numbers: a currency, or a group that is no number by itself, proves that it is one. */
function spacedBehind(tokens: Tokens, index: number): number {
  if (!/^\D{0,3}[1-9]\d{0,2}$/v.test(wordAt(tokens, index))) return index;
  const last = groupsBehind(tokens, index, spaced);
  const [start = 0, end = 0] = [tokens.words[index]?.start, tokens.words[last]?.end];
  const unit = last === index ? undefined : unitAt(tokens.text, { start, end });
  if (unit !== undefined && unit !== "%") return last;
  for (let at = last; at > index; at -= 1) if (wordAt(tokens, at).startsWith("0")) return last;
  return index;
}

function shifted(number: string, shift: number): string {
  const [whole = "", part = ""] = number.split(".");
  const digits = part.padEnd(shift, "0");
  const larger = `${whole}${digits.slice(0, shift)}`.replace(/^(?<sign>-?)0+(?=\d)/v, "$<sign>");
  return digits.length === shift ? larger : `${larger}.${digits.slice(shift)}`;
}

import { canonicalNumber } from "./number.ts";
import { between, type Tokens, wordAt } from "./tokens.ts";

/** English words, of India too, and short forms that make a number before them larger, by the zeros that they stand for. */
const zeros: ReadonlyMap<string, number> = new Map([
  ["hundred", 2],
  ["thousand", 3],
  ["k", 3],
  ["lakh", 5],
  ["million", 6],
  ["mio", 6],
  ["crore", 7],
  ["billion", 9],
  ["bn", 9],
  ["trillion", 12],
]);
/** A space that breaks no line stands between the thousands of one number. */
const gap = /^[\u{a0}\u{202f}]$/v;

/** A number with the words that make it larger: `5 million`, `5 000`. */
export interface Scaled {
  /** Left out for a word that is only a part of the number before it. */
  readonly number?: string | undefined;
  /** The index of its last word. */
  readonly last: number;
}

/** The whole number that the word at `index`, which is this number, begins. */
export function scaledAt(tokens: Tokens, index: number, number: string): Scaled {
  if (isGroup(tokens, index)) return { last: index };
  const grouped = withGroups(tokens, index, number);
  let { last } = grouped;
  let shift = 0;
  for (let next = zerosAt(tokens, last + 1); next !== undefined; next = zerosAt(tokens, last + 1)) {
    shift += next;
    last += 1;
  }
  return { number: shift === 0 ? grouped.number : shifted(grouped.number ?? number, shift), last };
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

/** True for the thousands behind the beginning of a number. */
function isGroup(tokens: Tokens, index: number): boolean {
  return (
    index > 0 &&
    gap.test(between(tokens, index - 1, index)) &&
    /^\d{3}(?:[.,]\d+)?$/v.test(wordAt(tokens, index)) &&
    /\d$/v.test(wordAt(tokens, index - 1))
  );
}

function withGroups(tokens: Tokens, index: number, number: string): Scaled {
  let last = index;
  let written = wordAt(tokens, index);
  for (; isGroup(tokens, last + 1); last += 1) written += wordAt(tokens, last + 1);
  return { number: last === index ? number : canonicalNumber(written), last };
}

function shifted(number: string, shift: number): string {
  const [whole = "", part = ""] = number.split(".");
  const digits = part.padEnd(shift, "0");
  const larger = `${whole}${digits.slice(0, shift)}`.replace(/^(?<sign>-?)0+(?=\d)/v, "$<sign>");
  return digits.length === shift ? larger : `${larger}.${digits.slice(shift)}`;
}

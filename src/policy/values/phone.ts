import { canonicalDate } from "./date.ts";
import { compatible, isAscii } from "./normal.ts";

const written = /^(?:tel:)?(?<number>\+?[\d \(\).\/\-]+)$/iv;
const afterCountry = "(0)";
const maxWritten = 40;
/** Digits in groups count as one number if they begin like one, or are grouped as in North America. */
const beginsAsNumber = /^(?:\+|\(|0\d|\d{3} \d{3} \d{4}$)/v;

const spaces = /[\u{a0}\u{2007}\u{2009}\u{202f}]/gv;
const dashes = /[\u{2010}-\u{2015}\u{2212}]/gv;

/** Digits as people type them, in as many characters: programs put non-breaking spaces and dashes between them. */
function typed(text: string): string {
  return isAscii(text) ? text : text.replaceAll(spaces, " ").replaceAll(dashes, "-");
}

/**
 * The canonical spelling of a phone number: its 7 to 15 digits, after a `+` if it has its country (`+` or `00`). Nothing is guessed: a number with its
 * country differs from one without. Groups separated by spaces need a beginning such as `+`, `0` or `(`, or the form `555 123 4567`. A date has none.
 */
export function canonicalPhone(value: string): string | undefined {
  if (value.length < 7 || value.length > maxWritten) return undefined;
  const number = written.exec(typed(compatible(value)).trim())?.groups?.["number"];
  if (number === undefined || !(/^\S+$/v.test(number) || beginsAsNumber.test(number))) return undefined;
  const digits = (number.startsWith("+") ? number.replace(afterCountry, "") : number).replaceAll(/\D/gv, "");
  const international = number.startsWith("+") || digits.startsWith("00");
  const significant = digits.startsWith("00") && !number.startsWith("+") ? digits.slice(2) : digits;
  if (significant.length < 7 || significant.length > 15 || canonicalDate(number) !== undefined)
    return undefined;
  return international ? `+${significant}` : significant;
}

const digit = /\d/v;
const separators = " -./()";

/**
 * The end of a phone number that begins at `start`, or -1. Looks at most at 40 characters, so that a text of
 * digits stays linear.
 */
export function phoneEnd(text: string, start: number): number {
  if (!"+(0".includes(text[start] ?? "") && !/[ \u{a0}\u{202f}]/v.test(text[start + 3] ?? "")) return -1;
  const window = typed(text.slice(start, start + maxWritten + 1));
  if (!/^(?:\+|\(|0\d|\d{3} \d{3} \d{4})/v.test(window)) return -1;
  let end = 0;
  for (let index = window.startsWith("+") ? 1 : 0, gap = 0; index < window.length && gap < 3; index += 1) {
    const character = window[index] ?? "";
    if (digit.test(character)) {
      end = index + 1;
      gap = 0;
    } else if (separators.includes(character)) gap += 1;
    else break;
  }
  return end > 0 && end <= maxWritten && /^(?:$|[\s.,:;!?\)\]\}>"'`])/v.test(window.slice(end, end + 1))
    ? start + end
    : -1;
}

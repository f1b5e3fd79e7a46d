import { lazy } from "../../util/remembered.ts";

/** Longer values are compared as text only: no address, path or identifier is that long. In UTF-16 units. */
export const maxValueLength = 4096;

const beyondAscii = /\P{ASCII}/u;

/**
 * Characters that a reader does not see, or sees in another order than they are written: zero-width characters,
 * bidirectional controls, tags, control characters (except white space), lone surrogates, and the replacement
 * character.
 */
const hidden = lazy(
  () => /[[\p{Cc}--[\t\n\v\f\r]]\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u{2800}\u{fffc}\u{fffd}]/v,
);
/** Those of them that ASCII has, and all that is beyond it. */
const maybeHidden = /[^\t\n\v\f\r\x20-\x7e]/v;
const everyHidden = lazy(() => new RegExp(hidden(), "gv"));

/** A picture with the characters that choose its look and join it to another: these are seen, as a part of it. */
const picture = lazy(
  () =>
    /\p{Extended_Pictographic}[\u{fe0f}\p{Emoji_Modifier}]?(?:\u{200d}\p{Extended_Pictographic}[\u{fe0f}\p{Emoji_Modifier}]?)*/gv,
);

/** Normalising takes time quadratic in a run of marks on one letter, and no written language needs more than a few. */
const tooManyMarks = lazy(() => /[\p{M}\u{ff9e}\u{ff9f}]{31,}/gv);
const broken = "\u{fffd}";

/** True if a text has an invisible character. Such a value is never equal to anything. */
export function hasHidden(text: string): boolean {
  return maybeHidden.test(text) && hidden().test(text) && hidden().test(text.replaceAll(picture(), ""));
}

/** The text without invisible characters: as a program that ignores them would read it. */
export function withoutHidden(text: string): string {
  return text.replaceAll(everyHidden(), "");
}

export function isAscii(text: string): boolean {
  return !beyondAscii.test(text);
}

/** NFC: one spelling of accents. For paths and addresses, in which a full-width letter is another letter. Linear: a run of over 30 marks becomes hidden. */
export function composed(text: string): string {
  return isAscii(text) ? text : text.replaceAll(tooManyMarks(), broken).normalize("NFC");
}

/** A raised, lowered or circled digit beside another digit: a power, a footnote or the number of an item, and no digit of the same number. */
const apart = lazy(() => /((?<=[\p{Nd}\p{No}])\p{No}+|\p{No}+(?=[\p{Nd}\p{No}]))/v);

/**
 * NFKC: also folds full-width letters, ligatures and the like. Look-alikes of other scripts stay different, and `10²` stays different from `102`. Linear, like
 * `composed`.
 */
export function compatible(text: string): string {
  if (isAscii(text)) return text;
  const parts = text.replaceAll(tooManyMarks(), broken).split(apart());
  return parts.map((part, index) => (index % 2 === 0 ? part.normalize("NFKC") : part)).join("");
}

const singleQuotes = /[\u{2018}-\u{201b}\u{2032}]/gv;
const doubleQuotes = /[\u{201c}-\u{201f}\u{2033}]/gv;
const dashes = /[\u{2010}-\u{2015}\u{2212}]/gv;
const spaces = /\s+/gu;

/** NFKC, lower case, one kind of quotes and dashes, and one space for white space. Two texts that read alike become equal. */
export function folded(text: string): string {
  const lower = isAscii(text) ? text.toLowerCase() : foldBeyondAscii(text);
  return lower.replaceAll(spaces, " ").trim();
}

function foldBeyondAscii(text: string): string {
  return compatible(compatible(text).toLowerCase())
    .replaceAll("\u{3c2}", "\u{3c3}")
    .replaceAll(singleQuotes, "'")
    .replaceAll(doubleQuotes, '"')
    .replaceAll(dashes, "-");
}

/** The canonical spelling of a text: as `folded` writes it. `undefined` if it is empty or has an invisible character. */
export function canonicalText(value: string | number): string | undefined {
  const text = folded(String(value));
  return text === "" || hasHidden(text) ? undefined : text;
}

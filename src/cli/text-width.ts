import { stripVTControlCharacters } from "node:util";

const graphemes = new Intl.Segmenter();
const plain = /^[\u{20}-\u{7E}]*$/u;
const unseen = /^[\p{M}\p{Cf}\p{Cc}]+$/u;
const wide =
  /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\u{FE0F}|[\u{1100}-\u{115F}\u{2E80}-\u{303E}\u{3041}-\u{33FF}\u{3400}-\u{4DBF}\u{4E00}-\u{9FFF}\u{A000}-\u{A4CF}\u{A960}-\u{A97F}\u{AC00}-\u{D7A3}\u{F900}-\u{FAFF}\u{FE30}-\u{FE6F}\u{FF00}-\u{FF60}\u{FFE0}-\u{FFE6}\u{1F300}-\u{1F64F}\u{1F680}-\u{1F6FF}\u{1F900}-\u{1F9FF}\u{20000}-\u{3FFFD}])/u;

/** True for a character that takes two columns: terminals may break a line beside it without a space. */
export function isWide(character: string): boolean {
  return wide.test(character);
}

function columnsOf(grapheme: string): number {
  if (unseen.test(grapheme)) return 0;
  return isWide(grapheme) ? 2 : 1;
}

/** The columns that a text takes on a terminal, without its colour sequences. An estimate: terminals differ about new emoji. */
export function widthOf(text: string): number {
  const seen = stripVTControlCharacters(text);
  if (plain.test(seen)) return seen.length;
  let width = 0;
  for (const { segment } of graphemes.segment(seen)) width += columnsOf(segment);
  return width;
}

/** A text without colours in at most this many columns; a `…` marks a part that is left out. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let width = 1;
  let kept = "";
  for (const { segment } of graphemes.segment(text)) {
    width += columnsOf(segment);
    if (width > columns) break;
    kept += segment;
  }
  return columns < 1 ? "" : `${kept}…`;
}

/**
 * Breaks a line between words into lines of this many columns; later lines begin with `indent` blanks. A longer word stays whole: the
 * terminal breaks it, and no line of this text begins there.
 */
export function wrapped(line: string, columns: number, indent = 0): string {
  if (widthOf(line) <= columns) return line;
  const [, blanks = "", rest = ""] = /^(\s*)(.*)$/su.exec(line) ?? [];
  const margin = " ".repeat(indent);
  let text = blanks;
  let column = blanks.length;
  let isBegun = false;
  for (const [, space = "", word = ""] of rest.matchAll(/(\s*)(\S+)/gu)) {
    const width = widthOf(word);
    if (isBegun && column + space.length + width > columns) {
      text += `\n${margin}${word}`;
      column = indent + width;
    } else {
      text += space + word;
      column += space.length + width;
    }
    isBegun = true;
  }
  return text;
}

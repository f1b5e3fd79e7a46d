const hidden = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Hidden characters that a text of several lines needs: those that break and indent it, joiners and the looks of emoji, and signs around numbers in Arabic
 * and Syriac.
 */
const needed = /[\t\n\r\u{600}-\u{605}\u{6dd}\u{70f}\u{8e2}]|\p{Join_Control}|\u{fe0e}|\u{fe0f}/u;

const written = (character: string): string =>
  String.raw`\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/** A text with each character that is not drawn written out, as `\u{200b}`. */
export function visible(text: string): string {
  return text.replaceAll(hidden, written);
}

/** A text of several lines, with what is hidden in it written out: also what turns a line around. */
export function visibleText(text: string): string {
  return text.replaceAll(hidden, (character) => (needed.test(character) ? character : written(character)));
}

const breaking = /[\p{Cc}\p{Zl}\p{Zp}]/gu;

/** A text in one line, with what would break it, and all other controls, written out. */
export function unbroken(text: string): string {
  return text.replaceAll(breaking, written);
}

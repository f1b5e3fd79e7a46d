/** A text with each character that is not drawn written out, as `\u{200b}`. */
export function visible(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu,
    (character) => String.raw`\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

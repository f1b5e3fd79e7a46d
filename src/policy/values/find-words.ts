import { lazy } from "../../util/remembered.ts";
import { type FoldedText, isWhole } from "./phrases.ts";

/** The longest pattern that is searched with `indexOf`: its worst case is then still linear in the text. */
const shortPattern = 64;

const wordCharacter = lazy(
  () => /[\p{L}\p{N}\p{M}_\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u{2800}\u{fffc}\u{fffd}]/v,
);
/** Between two word characters these make one longer token, alone or several: `not-evil.com`, `a@b`, `x=y`, `o'brien`, `wait...go`. */
const connectors = "-._@/\\+'&=%$#~*?";

/** True if a text has these words, not inside a longer word, token or name. Both are folded. */
export function hasWords({ text, phrases }: FoldedText, words: string): boolean {
  let found = -1;
  const next = words.length <= shortPattern ? byIndexOf(text, words) : byKnuth(text, words);
  while ((found = next()) >= 0) {
    const end = found + words.length;
    if (endsToken(text, end) && beginsToken(text, found) && isWhole(phrases, { start: found, end }))
      return true;
  }
  return false;
}

function byIndexOf(text: string, words: string): () => number {
  let from = 0;
  return () => {
    const found = text.indexOf(words, from);
    from = found + 1;
    return found;
  };
}

/** The search of Knuth, Morris and Pratt: `indexOf` takes quadratic time if a long hostile pattern and text repeat themselves. */
function byKnuth(text: string, words: string): () => number {
  const borders = bordersOf(words);
  let index = 0;
  let matched = 0;
  return () => {
    for (; index < text.length; index += 1) {
      while (matched > 0 && text.charCodeAt(index) !== words.charCodeAt(matched))
        matched = borders[matched - 1] ?? 0;
      if (text.charCodeAt(index) === words.charCodeAt(matched)) matched += 1;
      if (matched === words.length) {
        matched = borders[matched - 1] ?? 0;
        index += 1;
        return index - words.length;
      }
    }
    return -1;
  };
}

function bordersOf(words: string): Uint32Array {
  const borders = new Uint32Array(words.length);
  let border = 0;
  for (let index = 1; index < words.length; index += 1) {
    while (border > 0 && words.charCodeAt(index) !== words.charCodeAt(border))
      border = borders[border - 1] ?? 0;
    if (words.charCodeAt(index) === words.charCodeAt(border)) border += 1;
    borders[index] = border;
  }
  return borders;
}

function beginsToken(text: string, start: number): boolean {
  let index = start;
  while (index > 0 && connectors.includes(text[index - 1] ?? " ")) index -= 1;
  const before = characterBefore(text, index);
  if (before === ":" && text.startsWith("://", index - 1)) return false;
  return !wordCharacter().test(before);
}

/** True if a token ends here. A possessive is not part of the word: `Ann's`. */
function endsToken(text: string, end: number): boolean {
  return endsHere(text, end) || (text.startsWith("'s", end) && endsHere(text, end + 2));
}

function endsHere(text: string, end: number): boolean {
  let index = end;
  while (connectors.includes(text[index] ?? " ")) index += 1;
  return !wordCharacter().test(characterAt(text, index));
}

function characterAt(text: string, index: number): string {
  const code = text.codePointAt(index);
  return code === undefined ? "" : String.fromCodePoint(code);
}

function characterBefore(text: string, index: number): string {
  const pair = text.codePointAt(index - 2) ?? 0;
  return pair > 0xffff ? String.fromCodePoint(pair) : (text[index - 1] ?? "");
}

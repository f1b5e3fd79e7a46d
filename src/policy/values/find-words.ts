import { lazy } from "../../util/remembered.ts";
import { type FoldedText, isWhole } from "./phrases.ts";

/** A pattern of this length at most is searched with `indexOf`: its worst case is then still linear in the text. */
const shortPattern = 64;

const wordCharacter = lazy(
  () => /[\p{L}\p{N}\p{M}_\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u{2800}\u{fffc}\u{fffd}]/v,
);
/** Between two word characters these make one longer token, alone or several: `not-evil.com`, `a@b`, `x=y`, `o'brien`, `wait...go`. */
const connectors = "-._@/\\+'&=%$#~*?";

/** True if a text has these words, no longer word or token around them, and no longer name that they are a part of. Both are folded. */
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

/** Knuth, Morris and Pratt: `indexOf` takes time quadratic in what a long hostile pattern and text repeat. */
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

/** A possessive is no part of the word: `Ann's`. */
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

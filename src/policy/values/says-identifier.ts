import { identifierWord } from "./identifier-words.ts";
import { between, type Tokens, wordAt } from "./tokens.ts";

/** Tokens, with the word up to which a list of identifiers has been read ("files 13, 14"), or -1. */
export interface Listed extends Tokens {
  listed: number;
}

/** Whether the text says that the digits at `index` are an identifier: `#13`, "file 13", "no. 13", "the id is 13", "files 13 and 14". */
export function saysIdentifier(tokens: Listed, index: number): boolean {
  if (between(tokens, index - 1, index).endsWith("#")) return true;
  return continuesList(tokens, index) || beginsList(tokens, index);
}

function continuesList(tokens: Listed, index: number): boolean {
  if (tokens.listed < 0) return false;
  const before = /^(?:and|or)$/iv.test(wordAt(tokens, index - 1)) ? index - 2 : index - 1;
  if (tokens.listed !== before) return false;
  const isNear =
    /^,? {0,2}$/v.test(between(tokens, index - 1, index)) &&
    /^,? {0,2}$/v.test(between(tokens, before, before + 1));
  if (isNear) tokens.listed = index;
  return isNear;
}

/** Between the word and the digits may stand a quote, a colon, an equals sign or a bracket, and a point behind an abbreviation. */
const gap = /^["'`]?(?<point>\.?)[ \t]?[:=]?[ \t]?\(?$/v;

function beginsList(tokens: Listed, index: number): boolean {
  const isSaid = /^(?:is|are)$/iv.test(wordAt(tokens, index - 1));
  const at = isSaid ? index - 2 : index - 1;
  const word = at < 0 ? undefined : identifierWord(wordAt(tokens, at));
  if (word === undefined || (isSaid && !word.strong)) return false;
  const point = gap.exec(between(tokens, at, at + 1))?.groups?.["point"];
  if (point === undefined || !gap.test(between(tokens, index - 1, index))) return false;
  if (word.pointed ? point === "" : point !== "" && !word.strong) return false;
  if (word.list) tokens.listed = index;
  return true;
}

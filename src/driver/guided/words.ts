import { plain } from "../recognise/origin.ts";
import { lazy } from "../../util/remembered.ts";
import { english } from "./english.ts";
import { french } from "./french.ts";
import { german } from "./german.ts";
import { type Language, languageFor, languageOf } from "./language.ts";

/** A word of a text, with its place. */
export interface Word {
  /** As it is written. */
  readonly text: string;
  /** Without case and accents. */
  readonly plain: string;
  readonly stem: string;
  readonly start: number;
  readonly end: number;
  /** It says nothing about what is wanted. */
  readonly isStop: boolean;
  /** It stands in a clause behind a word like "not": it says what is not to be done. */
  readonly isDenied: boolean;
  readonly isCapital: boolean;
  /** The first of its sentence, where a capital says nothing. */
  readonly isFirst: boolean;
  /** The number of brackets that are open around it. */
  readonly depth: number;
}

/** A text that was taken apart. */
export interface Wording {
  readonly text: string;
  readonly words: readonly Word[];
  /** Undefined where none fits. */
  readonly language: Language | undefined;
}

/** The languages that have a table. */
export const languages: () => readonly Language[] = lazy(() => [english, german, french].map(languageOf));

/** More of a text is not looked at. */
export const longestText = 6000;

const wordPattern = lazy(() => /[\p{L}\p{N}\p{M}_]+(?:[.'’@:/\\&+-]+[\p{L}\p{N}\p{M}_]+)*|[-+*/×÷^=−]/gu);

/** Takes a text apart, in the language that fits it, or in the given one. */
export function wordsIn(whole: string, given?: Language): Wording {
  const text = beginningOf(whole);
  const found = [...text.matchAll(wordPattern())];
  const plains = found.map(([word]) => plain(word.replaceAll("’", "'")));
  const language = given ?? languageFor(plains, languages());
  let depth = 0;
  const gaps = gapsIn(text, found);
  const denied = deniedIn(plains, { gaps, language });
  const words = found.map(([written], index): Word => {
    const start = found[index]?.index ?? 0;
    const gap = gaps[index] ?? "";
    for (const sign of gap) depth = Math.max(0, depth + (sign === "(" ? 1 : sign === ")" ? -1 : 0));
    const plainWord = plains[index] ?? "";
    return {
      text: written,
      plain: plainWord,
      stem: language?.stem(plainWord) ?? plainWord,
      start,
      end: start + written.length,
      isStop: language?.stop.has(plainWord) === true,
      isDenied: denied[index] === true,
      isCapital: /^\p{Lu}/u.test(written),
      isFirst: index === 0 || /[.!?:\n]/.test(gap),
      depth,
    };
  });
  return { text, words, language };
}

function gapsIn(text: string, found: readonly RegExpExecArray[]): readonly string[] {
  let from = 0;
  return found.map(({ index, 0: written }) => {
    const gap = text.slice(from, index);
    from = index + written.length;
    return gap;
  });
}

/** For each word, whether it stands behind a denying one in its clause. */
function deniedIn(
  plains: readonly string[],
  { gaps, language }: { readonly gaps: readonly string[]; readonly language: Language | undefined },
): readonly boolean[] {
  if (language === undefined) return [];
  const { denies, affirms } = language;
  let isDenied = false;
  return plains.map((word, index) => {
    const before = plains[index - 1] ?? "";
    if (denies.has(before)) isDenied = true;
    if (/[,.;:!?\n]/.test(gaps[index] ?? "") || (denies.has(before) && affirms.has(word))) isDenied = false;
    return isDenied;
  });
}

/** A long text up to the last blank before its bound: half a word is a word that nobody said. */
function beginningOf(text: string): string {
  if (text.length <= longestText) return text;
  const beginning = text.slice(0, longestText);
  const end = /\s\S*$/.exec(beginning)?.index ?? 0;
  return end === 0 ? beginning : beginning.slice(0, end);
}

/** The stems of the words that say something, names taken apart at capitals, `_`, `-`, `.` and `/`. */
export function stemsOf(text: string, language: Language | undefined): readonly string[] {
  return wordsApart(text, language).flatMap(({ isStop, stem }) => (isStop ? [] : [stem]));
}

/** The stems of all words of a name, the small ones too. */
export function stemsOfName(name: string, language: Language | undefined): readonly string[] {
  return wordsApart(name, language).map(({ stem }) => stem);
}

function wordsApart(text: string, language: Language | undefined): readonly Word[] {
  const apart = text.replaceAll(/(\p{Ll}|\p{N})(?=\p{Lu})/gu, "$1 ").replaceAll(/[_./]|(?<=\p{L})-/gu, " ");
  return wordsIn(apart, language ?? englishWords()).words;
}

/** Descriptions of tools are mostly English where the language of a request is not known. */
const englishWords = lazy(() => languageOf(english));

const leastBeginning = 4;

/** The fit of two stems: 1 for the same one, less where one is the beginning of the other. */
export function fitOf(one: string, other: string): number {
  if (one === other) return 1;
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (short.length >= leastBeginning && long.startsWith(short)) return 0.8;
  return 0;
}

/** The best of several weights, each counted as far as its stem fits. */
export function weightIn(stem: string, weights: ReadonlyMap<string, number>): number {
  let best = weights.get(stem) ?? 0;
  for (const [other, weight] of weights)
    if (weight > best) best = Math.max(best, weight * fitOf(stem, other));
  return best;
}

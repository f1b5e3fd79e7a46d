import { lazy } from "../../util/remembered.ts";
import { folded } from "./normal.ts";

/** A place in a text, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A longer name in a text, no part of which is a value by itself. The part from `inner` on is whole too: the first word of a sentence has a capital anyway. */
export interface Phrase extends Span {
  readonly inner: number;
}

/** A text as `folded` writes it, with its longer names. */
export interface FoldedText {
  readonly text: string;
  readonly phrases: readonly Phrase[];
}

/** Days and months, which have capital letters and belong to no name. */
const calendar =
  "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September|October|November|December";
/** A word with a capital letter. Bounded, because a failed search begins again after each dash and apostrophe. */
const capital = `(?!(?:${calendar})(?![\\p{L}\\p{M}]))\\p{Lu}[\\p{L}\\p{M}\\-]{0,100}(?:['\u{2019}]\\p{Lu}[\\p{L}\\p{M}]{0,100}){0,4}`;
const run = lazy(() => new RegExp(`(?<![\\p{L}\\p{M}\\p{N}])${capital}(?: ${capital})+`, "gu"));

/** The longer names in a text: the parts in quotes, and, if wanted, runs of words with capital letters. In order, none inside another. Linear. */
export function phrasesIn(text: string, quoted: readonly Span[], withRuns: boolean): readonly Phrase[] {
  const outer = outermost(quoted.map((span) => trimmed(text, span)));
  const runs = !withRuns
    ? []
    : [...text.matchAll(run())].map(({ index, 0: words }): Phrase => {
        const inner = beginsSentence(text, index) ? index + words.indexOf(" ") + 1 : index;
        return { start: index, end: index + words.length, inner };
      });
  const all = [...outer.map((span) => ({ ...span, inner: span.start })), ...runs];
  return outermost(
    all.filter(({ start, end, inner }) => text.slice(inner, end).includes(" ") || inner > start),
  );
}

function trimmed(text: string, { start, end }: Span): Span {
  const part = text.slice(start, end);
  return { start: end - part.trimStart().length, end: start + part.trimEnd().length };
}

/** The spans without those inside another, or beginning there. */
function outermost<Kind extends Span>(spans: readonly Kind[]): readonly Kind[] {
  const kept: Kind[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end))
    if (span.start >= (kept.at(-1)?.end ?? 0)) kept.push(span);
  return kept;
}

function beginsSentence(text: string, index: number): boolean {
  return /^$|[\n.!?:;*\-\u{2022}"'\u{201c}\u{2018}(]$/u.test(
    text.slice(Math.max(0, index - 8), index).replace(/[ \t]+$/u, ""),
  );
}

/** Folds a text piece by piece, so that the places of its longer names in the result are known. */
export function foldedWith(text: string, phrases: readonly Phrase[]): FoldedText {
  let written = "";
  let read = 0;
  const upTo = (end: number): number => {
    const piece = text.slice(read, end);
    read = end;
    written += /^\s+$/u.test(piece)
      ? " "
      : `${/^\s/u.test(piece) ? " " : ""}${folded(piece)}${/\s$/u.test(piece) ? " " : ""}`;
    return written.length;
  };
  const places = phrases.map(({ start, inner, end }): Phrase => ({
    start: upTo(start),
    inner: upTo(inner),
    end: upTo(end),
  }));
  upTo(text.length);
  return { text: written, phrases: places };
}

/** True if the words at a place are not part of a longer name: they contain each name that they touch. Logarithmic. */
export function isWhole(phrases: readonly Phrase[], { start, end }: Span): boolean {
  let low = 0;
  for (let high = phrases.length; low < high;) {
    const middle = (low + high) >>> 1;
    if ((phrases[middle]?.end ?? 0) <= start) low = middle + 1;
    else high = middle;
  }
  for (let index = low; index < phrases.length; index += 1) {
    const phrase = phrases[index];
    if (phrase === undefined || phrase.start >= end) return true;
    if (end < phrase.end || start > phrase.inner) return false;
    if (start > phrase.start && start < phrase.inner) return false;
  }
  return true;
}

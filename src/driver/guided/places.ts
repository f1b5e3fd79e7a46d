import { dateAt } from "../../policy/values/date.ts";
import { tokensOf } from "../../policy/values/tokens.ts";
import type { Wording } from "./words.ts";

/** A place in a text at which a value stands. */
export interface Place {
  readonly kind: "number" | "date" | "time" | "quote" | "name" | "code" | "told" | "phrase";
  readonly start: number;
  readonly end: number;
  /** Left out where it is the text of the place. */
  readonly text?: string;
  /** Of a number; of a date or a time its canonical spelling. */
  readonly value?: number | string;
  readonly isPercent?: boolean;
  /** "Paris, France" as a whole, or a part of it. */
  readonly region?: "whole" | "part";
  /** A number that is written as a word: "two". */
  readonly isSpelled?: boolean;
}

/** True if two places share a character. */
export function overlap(one: Pick<Place, "start" | "end">, other: Pick<Place, "start" | "end">): boolean {
  return one.start < other.end && other.start < one.end;
}

/** "Germany's" says Germany. */
export function withoutPossessive(place: Place, text: string): Place {
  return /['’]s$/.test(text.slice(place.start, place.end)) ? { ...place, end: place.end - 2 } : place;
}

/** Dates and times. */
export function datesIn(text: string): readonly Place[] {
  const tokens = tokensOf(text);
  const found: Place[] = [];
  for (let index = 0; index < tokens.words.length; index += 1) {
    const date = dateAt(tokens, index);
    if (date === undefined || date.last <= date.first) continue;
    const start = tokens.words[date.first]?.start ?? 0;
    const end = tokens.words[date.last - 1]?.end ?? start;
    found.push(...datePlace({ start, end, canonical: date.canonical, text: text.slice(start, end) }));
    index = Math.max(index, date.last - 1);
  }
  return found;
}

/** One that could be two dates stays as it is written. */
function datePlace({
  start,
  end,
  canonical,
  text,
}: Omit<Place, "kind"> & {
  readonly canonical: string | undefined;
  readonly text: string;
}): readonly Place[] {
  if (canonical === undefined) return /\d\D\d/.test(text) ? [{ kind: "date", start, end }] : [];
  const isTime = canonical.startsWith("T");
  return [{ kind: isTime ? "time" : "date", start, end, value: isTime ? canonical.slice(1) : canonical }];
}

const quotePattern =
  /"([^"\n]{1,400})"|“([^”\n]{1,400})”|„([^“”\n]{1,400})[“”]|«\s?([^»\n]{1,400}?)\s?»|`([^`\n]{1,400})`|(?<![\p{L}\p{N}])['‘]((?:[^'’\n]|['’](?=\p{L})){1,200})['’](?![\p{L}\p{N}])/gu;

/** The texts in quotes, without them. */
export function quotesIn(text: string): readonly Place[] {
  return [...text.matchAll(quotePattern)].flatMap((found): Place[] => {
    const inside =
      found
        .slice(1)
        .find((group) => group !== undefined)
        ?.trim() ?? "";
    return inside === ""
      ? []
      : [{ kind: "quote", start: found.index, end: found.index + found[0].length, text: inside }];
  });
}

/** Words that are no plain words: addresses, files, ids. */
export function codesIn({ words }: Wording): readonly Place[] {
  return words
    .filter(
      ({ text }) =>
        /[\p{L}\p{N}][.@_:/\\][\p{L}\p{N}]/u.test(text) ||
        (/\p{N}/u.test(text) && /\p{L}/u.test(text) && !/^\d+\p{L}{1,3}$/u.test(text)),
    )
    .map(({ start, end }): Place => ({ kind: "code", start, end }));
}

/** The text behind "that", "saying" or a colon, up to the end of its sentence. What stands in quotes there is a quote. */
export function toldIn({ text, words, language }: Wording): readonly Place[] {
  const after = words.filter((word) => language?.says.has(word.plain) === true).map(({ end }) => end);
  const colons = [...text.matchAll(/:\s/g)].map(({ index }) => index + 1);
  return [...after, ...colons].flatMap((from): Place[] => {
    const rest = text.slice(from);
    const end = colons.includes(from) ? rest.length : rest.search(/[.!?](?:\s|$)|$/);
    const inside = rest.slice(0, end).trim();
    if (inside.split(" ").length < 2 || isQuote(inside)) return [];
    const start = text.indexOf(inside, from);
    return [{ kind: "told", start, end: start + inside.length }];
  });
}

function isQuote(text: string): boolean {
  const [only] = quotesIn(text);
  return only?.start === 0 && /^[.!?]?$/.test(text.slice(only.end));
}

/** Words one behind the other that say something. The first word of a sentence is what is to be done. */
export function phrasesIn({ text, words }: Wording): readonly Place[] {
  const found: Place[] = [];
  for (const word of words) {
    const says = !word.isStop && !(word.isFirst && word.isCapital) && /[\p{L}\d]/u.test(word.plain);
    if (!says) continue;
    const open = found.at(-1);
    if (open !== undefined && text.slice(open.end, word.start) === " ")
      found[found.length - 1] = { ...open, end: word.end };
    else found.push({ kind: "phrase", start: word.start, end: word.end });
  }
  return found
    .map((place) => withoutPossessive(place, text))
    .filter(({ start, end }) => /\p{L}{2}/u.test(text.slice(start, end)));
}

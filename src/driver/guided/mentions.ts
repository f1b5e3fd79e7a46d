import { isJsonObject, type Json, parseJson } from "../../util/json.ts";
import { type Language } from "./language.ts";
import { namesIn } from "./names.ts";
import { numbersIn } from "./numbers.ts";
import { codesIn, datesIn, overlap, phrasesIn, type Place, quotesIn, toldIn } from "./places.ts";
import { stemsOf, type Wording, wordsIn } from "./words.ts";

/** A value that was said, in a request or in a result. */
export interface Mention {
  readonly kind: Place["kind"];
  /** As it was said. */
  readonly text: string;
  /** Of a number; of a date or a time its canonical spelling. */
  readonly value?: number | string;
  readonly isPercent?: boolean;
  /** The text in which it stands: 0 is the request, the others are results. */
  readonly source: number;
  /** Its place in the text; the order of values where the text is JSON. */
  readonly start: number;
  readonly end: number;
  /** Stems near it, with their distance in words: what stands before it, and what stands after it. */
  readonly before: readonly Near[];
  readonly after: readonly Near[];
  /** Stems of its own words. */
  readonly own: readonly string[];
  /** Written as a word: "two". */
  readonly isSpelled?: boolean;
  readonly region?: Place["region"];
  /** The small word right before it: "from", "in". */
  readonly preposition?: string;
  /** Of the list that it stands in ("A, B and C"), the first member's place; undefined where it stands alone. */
  readonly list?: number;
}

/** A stem at a distance. `isBeyond`: another value of the same kind stands between. */
export interface Near {
  readonly stem: string;
  readonly distance: number;
  readonly isBeyond: boolean;
}

/** The values that a text says, in their order. They may overlap: a name in quotes is a quote and a name. */
export function mentionsIn(text: string, source: number, language?: Language): readonly Mention[] {
  const wording = wordsIn(text, language);
  const dates = datesIn(wording.text);
  const numbers = numbersIn(wording, wordsIn(text).language).filter(
    (number) => !dates.some((date) => overlap(date, number)),
  );
  const quotes = quotesIn(wording.text);
  const free = (place: Place): boolean => ![...dates, ...quotes].some((other) => overlap(other, place));
  const names = namesIn(wording).filter(free);
  const codes = codesIn(wording).filter((code) => free(code) && !names.some((name) => overlap(name, code)));
  const taken = [...dates, ...numbers, ...quotes, ...names, ...codes];
  const whole = [...dates, ...quotes, ...names];
  const phrases = phrasesIn(wording).filter(
    (phrase) =>
      !whole.some((other) => overlap(other, phrase)) &&
      !codes.some(({ start, end }) => start === phrase.start && end === phrase.end),
  );
  const places = [...taken, ...toldIn(wording), ...phrases].toSorted(
    (one, other) => one.start - other.start || other.end - one.end,
  );
  return listed(
    places.map((place) => mentionAt(place, wording, { source, places })),
    wording,
  );
}

const farthest = 6;
const endsSentence = /[.!?;]\s/;

function mentionAt(
  place: Place,
  { text, words, language }: Wording,
  { source, places }: { readonly source: number; readonly places: readonly Place[] },
): Mention {
  const inBefore = words
    .filter((word) => word.end <= place.start)
    .slice(-farthest)
    .toReversed();
  const inAfter = words.filter((word) => word.start >= place.end).slice(0, farthest);
  const joinedAfter = inAfter.filter(({ plain }) => language?.and.has(plain) === true);
  const rivals = places.filter(
    (other) => other.kind !== "phrase" && other.kind !== "told" && !overlap(other, place),
  );
  const lastBefore = rivals.reduce(
    (last, { start, end }) => (end <= place.start ? Math.max(last, start) : last),
    -1,
  );
  const firstAfter = rivals.reduce(
    (first, { start, end }) => (start >= place.end ? Math.min(first, end) : first),
    Infinity,
  );
  const before = inBefore.map(({ stem, start, end }, distance): Near => {
    const isBeyond = lastBefore >= start || endsSentence.test(text.slice(end, place.start));
    return { stem, distance, isBeyond };
  });
  const after = inAfter.map(({ stem, start, end }, distance): Near => {
    const gap = text.slice(place.end, start);
    const isBeyond =
      firstAfter <= end || /[,.!?;:]\s/.test(gap) || joinedAfter.some((word) => word.end <= start);
    return { stem, distance, isBeyond };
  });
  const small = inBefore
    .slice(0, 2)
    .find(
      ({ plain, isStop }) =>
        isStop && language?.articles.has(plain) !== true && language?.and.has(plain) !== true,
    );
  return {
    kind: place.kind,
    text: place.text ?? text.slice(place.start, place.end),
    ...(place.value === undefined ? {} : { value: place.value }),
    ...(place.isPercent === true ? { isPercent: true } : {}),
    source,
    start: place.start,
    end: place.end,
    before,
    after,
    own: words.filter((word) => overlap(word, place) && !word.isStop).map(({ stem }) => stem),
    ...(place.isSpelled === true ? { isSpelled: true } : {}),
    ...(place.region === undefined ? {} : { region: place.region }),
    ...(small === undefined ? {} : { preposition: small.plain }),
  };
}

/** Marks the members of lists: values of one kind with a comma or a joining word between, and the same small word before or none. */
function listed(mentions: readonly Mention[], { text, language }: Wording): readonly Mention[] {
  const joins = (gap: string, small: string | undefined): boolean => {
    const parts = gap.replaceAll(",", " ").trim().toLowerCase().split(/\s+/);
    const others = parts.filter(
      (part) => part !== "" && part !== small && language?.articles.has(part) !== true,
    );
    return (
      (gap.includes(",") && others.length === 0) ||
      (others.length === 1 && language?.and.has(others[0] ?? "") === true)
    );
  };
  const heads = new Map<Mention, number>();
  const last = new Map<Mention["kind"], Mention>();
  for (const mention of mentions) {
    const before = last.get(mention.kind);
    if (before !== undefined && before.end <= mention.start) {
      if (joins(text.slice(before.end, mention.start), mention.preposition)) {
        const head = heads.get(before) ?? before.start;
        heads.set(before, head);
        heads.set(mention, head);
      }
    }
    last.set(mention.kind, mention);
  }
  return mentions.map((mention) => {
    const list = heads.get(mention);
    return list === undefined ? mention : { ...mention, list };
  });
}

/** The values of a result: the leaves of JSON, each near the keys on its way; else what its text says. */
export function mentionsOfResult(
  text: string,
  source: number,
  language: Language | undefined,
): readonly Mention[] {
  const parsed = parseJson(text);
  if (!parsed.ok) return mentionsIn(text, source, language);
  if (typeof parsed.value === "string") return mentionsIn(parsed.value, source, language);
  const found: Mention[] = [];
  const visit = (value: Json, keys: readonly string[]): void => {
    if (found.length >= mostLeaves) return;
    if (Array.isArray(value)) value.forEach((each: Json) => visit(each, keys));
    else if (isJsonObject(value))
      for (const [key, each] of Object.entries(value)) visit(each, [key, ...keys]);
    else if (typeof value === "string" || typeof value === "number")
      found.push(leafMention(value, { keys, source, start: found.length, language }));
  };
  visit(parsed.value, []);
  return found;
}

const mostLeaves = 100;

function leafMention(
  leaf: string | number,
  {
    keys,
    source,
    start,
    language,
  }: { keys: readonly string[]; source: number; start: number; language: Language | undefined },
): Mention {
  const stems = keys.flatMap((key) => stemsOf(key, language));
  const before = stems.map((stem, distance) => ({ stem, distance, isBeyond: false }));
  const at = { source, start, end: start + 1, before, after: [], own: [] };
  if (typeof leaf === "number") return { kind: "number", text: String(leaf), value: leaf, ...at };
  return { kind: "name", text: leaf, ...at };
}

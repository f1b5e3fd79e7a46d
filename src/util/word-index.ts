/** A text that is found by its words, and how much a word in it counts. */
export interface Weighed {
  readonly text: string;
  readonly weight: number;
}

/** An entry that was found. */
export interface Hit {
  /** The place of the entry in the list. */
  readonly index: number;
  /** Comparable within one search alone. */
  readonly score: number;
}

/** An entry whose best hit is that much better is not what was meant. */
const leastPart = 0.25;
/** The weight of a word of which the query has only the beginning. */
const prefixWeight = 0.5;
const leastPrefix = 3;

/**
 * Makes an index of entries by their words: the entries that fit a query come best first. Rare words count
 * more than frequent ones, and a word that stands often counts less each time. Case, accents and the usual
 * endings make no difference; names are taken apart at capitals, `_`, `-`, `.` and `/`. Of languages that are
 * written without spaces, pairs of signs are compared.
 *
 * @param among the number of entries of which these are the ones with words of the query; default: these are all
 */
export function wordIndex(
  entries: readonly (readonly Weighed[])[],
  among: number = entries.length,
): (query: string) => readonly Hit[] {
  const places = new Map<string, Map<number, number>>();
  entries.forEach((texts, index) => {
    for (const { text, weight } of texts)
      for (const word of indexedWords(text)) {
        const counts = places.get(word) ?? new Map<number, number>();
        counts.set(index, (counts.get(index) ?? 0) + weight);
        places.set(word, counts);
      }
  });
  const rarity = (counts: ReadonlyMap<number, number>): number =>
    Math.log(1 + (among - counts.size + 0.5) / (counts.size + 0.5));

  return (query) => {
    const scores = new Map<number, number>();
    for (const wanted of wantedWords(query)) {
      const best = new Map<number, number>();
      for (const [word, counts] of places) {
        const fit = fitOf(wanted, word);
        if (fit === 0) continue;
        for (const [index, count] of counts) {
          const score = (fit * rarity(counts) * count * 2.2) / (count + 1.2);
          best.set(index, Math.max(best.get(index) ?? 0, score));
        }
      }
      for (const [index, score] of best) scores.set(index, (scores.get(index) ?? 0) + score);
    }
    const hits = [...scores].map(([index, score]) => ({ index, score }));
    const sorted = hits.toSorted((one, other) => other.score - one.score || one.index - other.index);
    const least = leastPart * (sorted[0]?.score ?? 0);
    return sorted.filter(({ score }) => score >= least);
  };
}

/** The words under which a text is found. */
export function indexedWords(text: string): readonly string[] {
  return wordsIn(text).flatMap((each) => partsOf(each, 1));
}

/** The words that a query looks for, each once. */
export function wantedWords(query: string): readonly string[] {
  return [...new Set(wordsIn(query).flatMap((each) => partsOf(each, 2)))];
}

function fitOf(wanted: string, word: string): number {
  if (word === wanted) return 1;
  return wanted.length >= leastPrefix && word.startsWith(wanted) ? prefixWeight : 0;
}

const frequent = new Set(
  "a an and are as at be by can do for from give have i in is it me my of on or that the this to with you".split(
    " ",
  ),
);

/** The words of a text, without those that say nothing, in the form in which they are compared. */
function wordsIn(text: string): readonly string[] {
  const words = separateWords(text.replaceAll(/(\p{Ll}|\p{N})(?=\p{Lu})/gu, "$1 "));
  return words.filter((word) => !frequent.has(word)).map(stemOf);
}

/** The words of a text, in small letters and without accents. */
function separateWords(text: string): readonly string[] {
  return (
    withoutMarks(text)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

function withoutMarks(text: string): string {
  return text.normalize("NFKD").replaceAll(/\p{M}/gu, "");
}

const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/u;
const unspacedParts = new RegExp(`(${unspaced.source})`, "u");

/**
 * A word as it is. Where words are written without spaces, as in Chinese, its pairs of signs: they find a word anywhere in a sentence. `least` is
 * 1 for single signs beside the pairs, 2 for single signs where there is not a pair.
 */
function partsOf(word: string, least: 1 | 2): readonly string[] {
  if (!unspaced.test(word)) return [word];
  return word.split(unspacedParts).flatMap((part) => {
    if (!unspaced.test(part)) return part === "" ? [] : [part];
    const signs = Array.from(part);
    const pairs = signs.slice(1).map((sign, index) => `${signs[index] ?? ""}${sign}`);
    return least === 1 || pairs.length === 0 ? [...signs, ...pairs] : pairs;
  });
}

/** A word without the usual endings of English, so that "searches" finds "search". */
function stemOf(word: string): string {
  const stem = word
    .replace(/(?<=.{3})ies$/, "y")
    .replace(/(?<=.{3}(?:s|x|z|ch|sh))es$/, "")
    .replace(/(?<=.{2}[^su])s$/, "")
    .replace(/(?<=.{4})(?:ing|ed)$/, "");
  return stem.replace(/(?<=.{3})e$/, "");
}

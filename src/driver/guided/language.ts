import { plain } from "../recognise/origin.ts";

/** A language as tables: lists of words between blanks, in their plain form or as they are written. */
export interface LanguageTable {
  readonly name: string;
  /** Words that say nothing about what is wanted. By them a language is recognised. */
  readonly stop: string;
  /** Endings that make no difference, the longest first, each with what stands in its place: `ies>y ing> s>`. */
  readonly endings: string;
  /** Words that say a number: `two:2 dozen:12`. */
  readonly numbers: string;
  /** The form in which it writes a number in digits. */
  readonly digits: "1,234.5" | "1.234,5" | "1 234,5";
  /** Words for one that have other meanings too: they are a number beside another number word alone. */
  readonly one: string;
  /** Words behind a number that make it so many times larger: `hundred:100 million:1000000`. */
  readonly scales: string;
  /** Words that join the members of a list. */
  readonly and: string;
  readonly articles: string;
  /** Words for hundredths, and for a fraction that is not told in them. */
  readonly percent: string;
  readonly decimal: string;
  /** Words that say no, or off. */
  readonly no: string;
  /** Words behind which the rest of a clause says what is not to be done. */
  readonly denies: string;
  /** Words right behind these with which the clause says the opposite: "don't forget". */
  readonly affirms: string;
  /** Words that stand inside names. */
  readonly inNames: string;
  /** Words before a text that is to be written as it was said. */
  readonly says: string;
  /** Words before examples in a description. */
  readonly like: string;
  /** Words before a value, with the words of arguments that take such a value: `from:start,origin,source`. */
  readonly before: string;
  /** Words that say a day or a time without digits. */
  readonly times: string;
  /** Words of arguments that take a date, a time, a text of the user's own. */
  readonly kinds: { readonly date: string; readonly time: string; readonly text: string };
}

/** A language that is ready for use. All words are in their plain form. */
export interface Language {
  readonly name: string;
  readonly stop: ReadonlySet<string>;
  readonly numbers: ReadonlyMap<string, number>;
  readonly digits: LanguageTable["digits"];
  readonly one: ReadonlySet<string>;
  readonly scales: ReadonlyMap<string, number>;
  readonly and: ReadonlySet<string>;
  readonly articles: ReadonlySet<string>;
  readonly percent: ReadonlySet<string>;
  readonly decimal: ReadonlySet<string>;
  readonly no: ReadonlySet<string>;
  readonly denies: ReadonlySet<string>;
  readonly affirms: ReadonlySet<string>;
  readonly inNames: ReadonlySet<string>;
  readonly says: ReadonlySet<string>;
  readonly like: readonly string[];
  /** Stems of the words of arguments, by the word before their values. */
  readonly before: ReadonlyMap<string, ReadonlySet<string>>;
  readonly times: ReadonlySet<string>;
  readonly kinds: Readonly<Record<"date" | "time" | "text", ReadonlySet<string>>>;
  /** A word without the endings that make no difference. */
  stem(word: string): string;
}

/** Makes a language of its tables. */
export function languageOf(table: LanguageTable): Language {
  const endings = entries(table.endings, ">");
  const stem = (word: string): string => stemmed(word, endings);
  const stems = (list: string): ReadonlySet<string> => new Set([...words(list)].map(stem));
  const { date, time, text } = table.kinds;
  return {
    name: table.name,
    stop: words(table.stop),
    numbers: numbersOf(table.numbers),
    digits: table.digits,
    one: words(table.one),
    scales: numbersOf(table.scales),
    and: words(table.and),
    articles: words(table.articles),
    percent: words(table.percent),
    decimal: words(table.decimal),
    no: words(table.no),
    denies: words(table.denies),
    affirms: words(table.affirms),
    inNames: words(table.inNames),
    says: words(table.says),
    like: table.like.split(",").map((words) => words.trim()),
    before: new Map(entries(table.before, ":").map(([word, of]) => [word, stems(of.replaceAll(",", " "))])),
    times: stems(table.times),
    kinds: { date: stems(date), time: stems(time), text: stems(text) },
    stem,
  };
}

function numbersOf(list: string): ReadonlyMap<string, number> {
  return new Map(entries(list, ":").map(([word, number]) => [word, Number(number)]));
}

function words(list: string): ReadonlySet<string> {
  return new Set(
    plain(list)
      .split(/\s+/)
      .filter((word) => word !== ""),
  );
}

function entries(list: string, mark: string): readonly (readonly [string, string])[] {
  return [...words(list)].map((entry) => {
    const at = entry.indexOf(mark);
    return [entry.slice(0, at), entry.slice(at + 1)] as const;
  });
}

/** The fewest letters of a stem. */
const leastStem = 3;

/** Takes one ending off, and then a last `e`, so that "move", "moves" and "moving" meet. */
function stemmed(word: string, endings: readonly (readonly [string, string])[]): string {
  const found = endings.find(
    ([ending, instead]) => word.endsWith(ending) && word.length - ending.length + instead.length >= leastStem,
  );
  const stem = found === undefined ? word : word.slice(0, word.length - found[0].length) + found[1];
  const doubled = /([bdglmnprt])\1$/.test(stem) ? stem.slice(0, -1) : stem;
  return doubled.length > leastStem && doubled.endsWith("e") ? doubled.slice(0, -1) : doubled;
}

/** The share of a text's words that a language must know as its own. */
const leastKnown = 0.2;

/** The language that knows most of these words; undefined where none knows enough of them. */
export function languageFor(said: readonly string[], known: readonly Language[]): Language | undefined {
  const shares = known.map((language) => ({
    language,
    count: said.filter((word) => language.stop.has(word) || language.numbers.has(word)).length,
  }));
  const best = shares.reduce<(typeof shares)[number] | undefined>(
    (best, each) => (best === undefined || each.count > best.count ? each : best),
    undefined,
  );
  if (best === undefined || best.count === 0 || best.count < said.length * leastKnown) return undefined;
  return best.language;
}

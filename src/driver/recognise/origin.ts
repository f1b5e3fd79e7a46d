import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { remembered } from "../../util/remembered.ts";
import type { KnownTool } from "./recognise.ts";

/** The words of a conversation, made ready for looking things up in it. */
export interface Said {
  readonly text: string;
  readonly words: ReadonlySet<string>;
  readonly stems: ReadonlySet<string>;
  readonly numbers: ReadonlySet<number>;
}

const stemLength = 4;

/** Words that say a number, also the sizes of what one counts in. */
const numberWords: ReadonlyMap<string, number> = new Map(
  [
    "zero 0, half 5, quarter 25, one 1, first 1, once 1, two 2, second 2, twice 2, double 2, pair 2, couple 2, three 3, third 3, four 4",
    "five 5, six 6, seven 7, week 7, eight 8, nine 9, ten 10, eleven 11, twelve 12, dozen 12, fortnight 14, fifteen 15, twenty 20, day 24",
    "thirty 30, month 30, fifty 50, hour 60, decade 10, hundred 100, century 100, year 365",
  ]
    .flatMap((line) => line.split(", "))
    .map((entry) => entry.split(" "))
    .map(([word = "", number]) => [word, Number(number)]),
);

/** Reads what was said once. */
export function saidIn(said: string): Said {
  const text = plain(said);
  const words = new Set(wordsOf(text));
  const written = [
    ...(text.match(/(?<!\d)\d{1,3}(?:,\d{3})+(?:\.\d+)?/g) ?? []),
    ...(text.match(/\d+(?:\.\d+)?/g) ?? []),
  ];
  const numbers = [
    ...written.map((number) => Number(number.replaceAll(",", ""))),
    ...[...words].flatMap((word) => numberWords.get(word) ?? []),
  ];
  return {
    text,
    words,
    stems: new Set(
      [...words].filter((word) => word.length >= stemLength).map((word) => word.slice(0, stemLength)),
    ),
    numbers: new Set(numbers.map(significant)),
  };
}

/**
 * True if more than half of the arguments come from nowhere: they are not in what was said, in any spelling,
 * nor in the tool's description. Values that a model adds by itself (truth values, 0 and 1, codes like EUR,
 * choices and defaults that the schema names) count neither way. Two numbers alone are not judged: a place
 * on a map, the odds of a card and the like are known, not said.
 */
export function comesFromNowhere(args: JsonObject, tool: KnownTool, said: Said): boolean {
  const described = descriptionOf(tool);
  const known = Object.values(args).flatMap((value) => {
    const isSaid = isSaidIn(value, said);
    if (isSaid !== false) return isSaid === undefined ? [] : [true];
    const isDescribed =
      typeof value === "number"
        ? described.numbers.has(significant(value))
        : typeof value === "string" && described.text.includes(plain(value));
    return isDescribed ? [] : [false];
  });
  const areTwoNumbers = known.length === 2 && Object.values(args).every((value) => typeof value === "number");
  return !areTwoNumbers && known.filter((each) => !each).length > known.length / 2;
}

// Depends on: the schema.
const saidBySchema = remembered((schema: JsonObject) => saidIn(JSON.stringify(schema)));

/** The words in the schema of a tool. */
export function descriptionOf({ inputSchema }: KnownTool): Said {
  return saidBySchema(inputSchema);
}

/** Undefined where it means nothing whether it was said. */
function isSaidIn(value: Json, said: Said): boolean | undefined {
  if (typeof value === "boolean" || value === null) return undefined;
  if (typeof value === "number")
    return said.numbers.has(significant(value)) || (value === 0 || value === 1 ? undefined : false);
  if (typeof value === "string") return isTextSaid(value, said);
  const parts = (isJsonObject(value) ? Object.values(value) : value).map((part: Json) =>
    isSaidIn(part, said),
  );
  if (parts.some((isSaid) => isSaid === true)) return true;
  return parts.some((isSaid) => isSaid === false) ? false : undefined;
}

function isTextSaid(value: string, { text, words, stems, numbers }: Said): boolean | undefined {
  if (/^[A-Z]{2,5}$/.test(value)) return undefined; // the codes of currencies, languages, countries
  const own = wordsOf(plain(value));
  if (own.length === 0) return undefined;
  return (
    text.includes(plain(value)) ||
    own.some(
      (word) =>
        words.has(word) ||
        (word.length >= stemLength && stems.has(word.slice(0, stemLength))) ||
        (/^\d/.test(word) && numbers.has(significant(Number(word)))),
    )
  );
}

/** A number without its power of ten and its sign: 5 %, 0.05 and 50 m are the same. */
function significant(value: number): number {
  return value === 0 ? 0 : Number(Math.abs(value).toExponential(9).split("e")[0]);
}

/** Normalising takes time quadratic in a run of marks on one letter; no written language needs more than a few. */
const tooManyMarks = /\p{M}{31,}/gu;

/** Without case and accents. */
export function plain(text: string): string {
  return text.replaceAll(tooManyMarks, "").normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();
}

function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}]+/gu) ?? [];
}

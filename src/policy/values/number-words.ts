import { type Tokens, wordAt } from "./tokens.ts";

/** The numbers that people write as words. One is not among them: it stands in every other sentence, and counts nothing there. */
const numbers: ReadonlyMap<string, string> = new Map(
  "two three four five six seven eight nine ten eleven twelve"
    .split(" ")
    .map((word, index) => [word, String(index + 2)]),
);
/** Beside one of these a word is a part of another number: `two hundred`, `twenty two`, `two and a half`, `two point five`. */
const parts =
  /^(?:and|point|half|halves|third|quarters?|dozens?|hundreds?|thousands?|millions?|billions?|trillions?|k|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)$/i;

/** A whole number from two to twelve that is written as a word and stands by itself. Undefined for any other word. */
export function numberInWords(tokens: Tokens, index: number): string | undefined {
  const number = numbers.get(wordAt(tokens, index).toLowerCase());
  if (number === undefined) return undefined;
  const besides = [wordAt(tokens, index - 1), wordAt(tokens, index + 1)];
  const isPart = besides.some(
    (word) => parts.test(word) || /\d/.test(word) || numbers.has(word.toLowerCase()),
  );
  return isPart ? undefined : number;
}

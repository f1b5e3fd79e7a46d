import { lazy } from "../../util/remembered.ts";
import { plain } from "../recognise/origin.ts";
import type { Language } from "./language.ts";
import { overlap, type Place } from "./places.ts";
import type { Word, Wording } from "./words.ts";

const behindText = String.raw`(?<![\p{L}\p{N}_@\\/:.-]|\d,)`;
const beforeText = String.raw`(?![\p{N}_@\\/:]|[-.,]\d|\p{L}{5}|\p{L}+\p{N}|-\p{L}\w*\d)`;

/** Digits by the signs of a language: in "1.234,5" of German the groups stand between points, and the comma is before the fraction. */
function numberPattern(group: string, point: string): () => RegExp {
  const groups = String.raw`(?<groups>\d{1,3}(?:[${group}]\d{3})+)|\d+`;
  return lazy(() => new RegExp(`${behindText}[-−]?(?:${groups})(?:[${point}]\\d+)?${beforeText}`, "gu"));
}

/** The signs of programs, too. */
const english = numberPattern(",", ".");
/** A point that has no group behind it is one of programs: "1.5". */
const patterns: Readonly<Record<Language["digits"], () => RegExp>> = {
  "1,234.5": english,
  "1.234,5": numberPattern(".'’\u00A0\u202F", ",."),
  "1 234,5": numberPattern(" .\u00A0\u202F", ",."),
};

/** Numbers in digits, as the language writes them in which the text is `written`, and in words. A number inside a word, a range or a path is none. */
export function numbersIn(wording: Wording, written: Language | undefined): readonly Place[] {
  const digits = digitsIn(wording, written);
  return [...digits, ...spelledIn(wording).filter((place) => !digits.some((other) => overlap(other, place)))];
}

/** "3 million" is one number, and a percentage is told apart by the word or sign behind it. One of more digits than a number holds is text alone. */
function digitsIn({ text, language }: Wording, written: Language | undefined): readonly Place[] {
  const pattern = written === undefined ? english : patterns[written.digits];
  return [...text.matchAll(pattern())].map((found): Place => {
    const [digits] = found;
    const end = found.index + digits.length;
    const [gap = "", behind = ""] = /^\s?(%|\p{L}+)/u.exec(text.slice(end, end + 20)) ?? [];
    const isPercent = behind === "%" || language?.percent.has(plain(behind)) === true;
    const scale = language?.scales.get(plain(behind));
    const value = valueIn(digits, found.groups?.["groups"]) * (scale ?? 1);
    const place = { start: found.index, end: scale === undefined ? end : end + gap.length };
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) return { kind: "number", ...place };
    return { kind: "number", ...place, value, ...(isPercent ? { isPercent } : {}) };
  });
}

function valueIn(written: string, groups: string | undefined): number {
  const joined = groups === undefined ? written : written.replace(groups, groups.replaceAll(/\D/g, ""));
  return Number(joined.replace("−", "-").replace(",", "."));
}

/** The part of a word in a number: so much more, or so many times the number before it. */
interface Part {
  readonly value: number;
  readonly isScale: boolean;
}

/** Words one behind the other that say one number: "two hundred and five". Those that say none together are none apart either. */
function spelledIn({ text, words, language }: Wording): readonly Place[] {
  if (language === undefined) return [];
  const found: Place[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const parts = [...partsOf(words[index], language)];
    if (parts.length === 0) continue;
    const first = index;
    for (;;) {
      const next = followed(words.slice(index, index + 3), { text, language, before: parts.at(-1) });
      if (next === undefined) break;
      parts.push(...next.parts);
      index += next.words;
    }
    const value = valueOf(parts);
    const [start = 0, end = 0] = [words[first]?.start, words[index]?.end];
    const isOnlyOne = parts.length === 1 && parts[0]?.value === 1;
    if (value !== undefined && !isOnlyOne) found.push({ kind: "number", start, end, value, isSpelled: true });
  }
  return found;
}

/** The parts of a word, "twenty-five" has two; none where one of them is no number. */
function partsOf(word: Word | undefined, { numbers, scales, one }: Language): readonly Part[] {
  const parts = (word?.plain.split("-") ?? []).map((written): Part | undefined => {
    const scale = scales.get(written);
    if (scale !== undefined) return { value: scale, isScale: true };
    const value = one.has(written) ? 1 : numbers.get(written);
    return value === undefined ? undefined : { value, isScale: false };
  });
  return parts.every((part) => part !== undefined) ? parts : [];
}

interface Around {
  readonly text: string;
  readonly language: Language;
  readonly before: Part | undefined;
}

/** The parts that go on right behind a number: at once, or behind an "and" after a hundred and before a one. */
function followed(
  [last, next, third]: readonly Word[],
  { text, language, before }: Around,
): { readonly parts: readonly Part[]; readonly words: number } | undefined {
  const isNear = (one: Word | undefined, other: Word | undefined): boolean =>
    one !== undefined && other !== undefined && text.slice(one.end, other.start) === " ";
  if (!isNear(last, next)) return undefined;
  const parts = partsOf(next, language);
  if (parts.length > 0) return { parts, words: 1 };
  if (next === undefined || !language.and.has(next.plain) || !isNear(next, third)) return undefined;
  const behind = partsOf(third, language);
  const goesOn = before?.isScale === true || behind[0]?.value === 1;
  return goesOn && behind.length > 0 ? { parts: behind, words: 2 } : undefined;
}

/** The number that these parts make together; undefined where they are several. */
function valueOf(parts: readonly Part[]): number | undefined {
  if (parts.length === 1) return parts[0]?.value;
  let [total, group, smallest] = [0, 0, Infinity];
  for (const { value, isScale } of parts) {
    if (!isScale) {
      if (value === 0 || value >= roomIn(group)) return undefined;
      group += value;
    } else if (value === 100) {
      if (group >= 100) return undefined;
      group = Math.max(1, group) * 100;
    } else {
      if (value >= smallest) return undefined;
      [total, group, smallest] = [total + Math.max(1, group) * value, 0, value];
    }
  }
  return total + group;
}

/** The bound of the next part of a number: below 10 behind "twenty", below 100 behind "two hundred", none behind "five". */
function roomIn(group: number): number {
  if (group === 0) return Infinity;
  if (group % 100 === 0) return 100;
  return group % 10 === 0 && group % 100 >= 20 ? 10 : 0;
}

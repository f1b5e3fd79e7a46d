import { has } from "./characters.ts";
import { compatible, hasHidden } from "./normal.ts";
import { between, type Tokens, tokensOf, wordAt } from "./tokens.ts";

const maxWritten = 64;
const monthNames =
  "january february march april may june july august september october november december".split(" ");
const months: ReadonlyMap<string, number> = new Map(
  monthNames.flatMap((name, index): [string, number][] => [
    [name, index + 1],
    [name.slice(0, 3), index + 1],
  ]),
).set("sept", 9);
const daysOf = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** A date or a time in a text, and the words that it consists of; `last` is the index after them. `canonical` is left out if it could be two dates. */
export interface FoundDate {
  readonly canonical?: string;
  readonly first: number;
  readonly last: number;
}

/**
 * The canonical spelling of a date: `2024-05-26`, `2024-05-26T10:00`, `2024-05` for a month, `--05-26` for a day of any year, `T10:00` for a time alone.
 * Seconds are left out if they are zero; a zone is kept (`Z`, `+02:00`): nothing is converted. Month names are English; a day with two numbers
 * before the year counts only if it cannot be read as two dates.
 */
export function canonicalDate(value: string): string | undefined {
  if (value.length > maxWritten) return undefined;
  const text = compatible(value).trim();
  if (!mayBeDate.test(text)) return undefined;
  if (/^--\d\d-\d\d$/v.test(text)) return ofParts({ month: text.slice(2, 4), day: text.slice(5) });
  if (/^T\d\d:\d\d(?::\d\d)?$/v.test(text)) return oneTime(text.slice(1));
  const spaced = /^(?<date>\d{4}-\d{1,2}-\d{1,2}) (?<time>\S+)$/v.exec(text)?.groups;
  if (spaced !== undefined) return oneDate(`${spaced["date"]}T${spaced["time"]}`)?.canonical;
  if (!/\s/v.test(text)) return oneDate(text)?.canonical ?? oneTime(text);
  return hasHidden(text) ? undefined : ofTokens(tokensOf(text));
}

/** Matches the beginning of a date or a time with more than digits. This alone rules out most values. */
const mayBeDate = /^(?:\d{1,4}[:\/.\-]\d|\d{1,2}[ \-]?[a-z]|T\d|--\d|[a-z]{3,9}[.,]? )/iv;

/** The date of a whole value: a date, perhaps with a time; or a time alone. A weekday before it adds nothing. */
function ofTokens(tokens: Tokens): string | undefined {
  const count = tokens.words.length;
  const isClean = tokens.words.every((_word, index) => index + 1 === count || isNear(tokens, index));
  if (!isClean || between(tokens, -1, 0) !== "" || !/^\.?$/v.test(between(tokens, count - 1, count)))
    return undefined;
  const start = weekday.test(wordAt(tokens, 0)) ? 1 : 0;
  const date = wholeFrom(tokens, start);
  if (date?.canonical === undefined || date.last === count) return date?.canonical;
  const next = wordAt(tokens, date.last) === "at" ? date.last + 1 : date.last;
  const time = wholeFrom(tokens, next)?.canonical;
  return isDay.test(date.canonical) &&
    time?.startsWith("T") === true &&
    wholeFrom(tokens, next)?.last === count
    ? date.canonical + time
    : undefined;
}

const isDay = /^(?:\d{4}|-)-\d\d-\d\d$/v;

/** The date that begins with the word at `start`: its first digits are at most two words later. */
function wholeFrom(tokens: Tokens, start: number): FoundDate | undefined {
  for (let index = start; index < start + 3; index += 1) {
    const date = dateAt(tokens, index);
    if (date !== undefined) return date.first === start ? date : undefined;
  }
  return undefined;
}

const weekday = /^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?$/iv;

/** Reads the date or the time that the word at `index`, which begins with a digit, is part of. Looks at most at four words on either side. */
export function dateAt(tokens: Tokens, index: number): FoundDate | undefined {
  const token = tokens.words[index];
  if (token === undefined || token.end - token.start > 32) return undefined;
  const text = compatible(wordAt(tokens, index));
  if (!/^\d/v.test(text)) return undefined; // everything below would say the same, but later
  const whole = token.bits === has.digit ? undefined : oneDate(text);
  if (whole !== undefined) return { ...whole, first: index, last: index + 1 };
  return timeAt(tokens, index, text) ?? writtenAt(tokens, index, text);
}

const iso =
  /^(?<year>\d{4})-(?<month>\d{1,2})(?:-(?<day>\d{1,2}))?(?:T(?<time>\d{2}:\d{2}(?::\d{2})?)(?:\.0+)?(?<zone>Z|[+\-]\d{2}:?\d{2})?)?$/iv;
const yearFirst = /^(?<year>\d{4})(?<mark>[\/.])(?<month>\d{1,2})\k<mark>(?<day>\d{1,2})$/v;
const yearLast = /^(?<one>\d{1,2})(?<mark>[\/.\-])(?<two>\d{1,2})\k<mark>(?<year>\d{4})$/v;
const named = /^(?<day>\d{1,2})-(?<name>[a-z]{3,9})-(?<year>\d{4})$/iv;

const shortestDate = "2024-5".length;

/** A date in one word; without `canonical` if it could be two. */
function oneDate(text: string): { readonly canonical?: string } | undefined {
  if (text.length < shortestDate) return undefined;
  const written = iso.exec(text)?.groups ?? yearFirst.exec(text)?.groups;
  if (written !== undefined) return ofWritten(written);
  const numbers = yearLast.exec(text)?.groups;
  if (numbers !== undefined) return ofTwoNumbers(numbers);
  const name = named.exec(text)?.groups;
  const month = name === undefined ? undefined : months.get((name["name"] ?? "").toLowerCase());
  return name === undefined || month === undefined ? undefined : known(ofParts({ ...name, month }));
}

type Groups = Readonly<Record<string, string | undefined>>;

function ofWritten(groups: Groups): { readonly canonical?: string } | undefined {
  const { year, month, day, time, zone } = groups;
  const date = known(ofParts({ year, month, day }));
  if (date === undefined || time === undefined) return date;
  const canonicalTime = day === undefined ? undefined : oneTime(time);
  if (canonicalTime === undefined) return undefined;
  return { canonical: `${date.canonical}${canonicalTime}${zoneOf(zone)}` };
}

function zoneOf(zone: string | undefined): string {
  if (zone === undefined) return "";
  const digits = zone.replaceAll(/\D/gv, "");
  return digits === "" || digits === "0000" ? "Z" : `${zone[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
}

function ofTwoNumbers({ one = "", two = "", year }: Groups): { readonly canonical?: string } | undefined {
  const dayFirst = ofParts({ year, month: two, day: one });
  const monthFirst = ofParts({ year, month: one, day: two });
  if (dayFirst !== undefined && monthFirst !== undefined && dayFirst !== monthFirst) return {};
  return known(dayFirst ?? monthFirst);
}

function known(canonical: string | undefined): { readonly canonical: string } | undefined {
  return canonical === undefined ? undefined : { canonical };
}

interface Parts {
  readonly year?: string | undefined;
  readonly month?: string | number | undefined;
  readonly day?: string | undefined;
}

function ofParts({ year, month, day }: Parts): string | undefined {
  const monthNumber = Number(month);
  const days = daysOf[monthNumber - 1];
  if (days === undefined) return undefined;
  const start = `${year ?? "-"}-${String(monthNumber).padStart(2, "0")}`;
  if (day === undefined) return year === undefined ? undefined : start;
  const dayNumber = Number(day);
  if (dayNumber < 1 || dayNumber > days) return undefined;
  if (monthNumber === 2 && dayNumber === 29 && year !== undefined && !isLeap(Number(year))) return undefined;
  return `${start}-${String(dayNumber).padStart(2, "0")}`;
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}

const clock = /^(?<hour>\d{1,2})(?::(?<minute>\d{2})(?::(?<second>\d{2}))?)?(?<half>[ap]\.?m)?$/iv;
const half = /^[ap]\.?m$/iv;

function oneTime(text: string): string | undefined {
  if (text.length < 3 || text.length > 13) return undefined;
  const groups = clock.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { minute, second = "00", half: written } = groups;
  if (minute === undefined && written === undefined) return undefined;
  const hour = hourOf(Number(groups["hour"]), written?.[0]?.toLowerCase());
  if (hour === undefined || Number(minute ?? 0) > 59 || Number(second) > 59) return undefined;
  return `T${String(hour).padStart(2, "0")}:${minute ?? "00"}${second === "00" ? "" : `:${second}`}`;
}

function hourOf(hour: number, part: string | undefined): number | undefined {
  if (part === undefined) return hour < 24 ? hour : undefined;
  if (hour < 1 || hour > 12) return undefined;
  return (hour % 12) + (part === "p" ? 12 : 0);
}

function timeAt(tokens: Tokens, index: number, text: string): FoundDate | undefined {
  const next = wordAt(tokens, index + 1);
  const spaced = next.length < 5 && half.test(next) && isNear(tokens, index);
  const canonical = oneTime(spaced ? text + next : text);
  return canonical === undefined ? undefined : { canonical, first: index, last: index + (spaced ? 2 : 1) };
}

const dayNumber = /^(?<day>\d{1,2})(?:st|nd|rd|th)?$/iv;
const yearNumber = /^(?:1[5-9]|2[01])\d{2}$/v;

/** A date of several words: `May 26th, 2024`, `26th of May`, `March 2022`. */
function writtenAt(tokens: Tokens, index: number, text: string): FoundDate | undefined {
  if (text.length > 4) return undefined;
  const day = dayNumber.exec(text)?.groups?.["day"];
  const before = monthBeside(tokens, index, -1);
  if (before !== undefined && yearNumber.test(text))
    return { ...known(ofParts({ year: text, month: before.month })), first: before.index, last: index + 1 };
  if (day === undefined) return undefined;
  if (before !== undefined) return withYear(tokens, { ...before, day, first: before.index, end: index });
  const after = monthBeside(tokens, index, 1);
  if (after !== undefined) return withYear(tokens, { ...after, day, first: index, end: after.index });
  return inRange(tokens, index, day);
}

/** A day whose month is next to the other day of a range: `January 11th to 15th`, `the 11th to the 15th of January`. */
function inRange(tokens: Tokens, index: number, day: string): FoundDate | undefined {
  const earlier = otherDay(tokens, index, -1);
  const month = earlier === undefined ? undefined : monthBeside(tokens, earlier, -1)?.month;
  if (month !== undefined) return withYear(tokens, { month, day, first: index, end: index });
  const later = otherDay(tokens, index, 1);
  const behind = later === undefined ? undefined : monthBeside(tokens, later, 1);
  if (behind === undefined) return undefined;
  const canonical = ofParts({ year: yearBehind(tokens, behind.index), month: behind.month, day });
  return canonical === undefined ? undefined : { canonical, first: index, last: index + 1 };
}

/** The other day of a range, before or after a word: "to" is between them, and "the" before each. */
function otherDay(tokens: Tokens, index: number, side: -1 | 1): number | undefined {
  const skip = (at: number): number => (wordAt(tokens, at).toLowerCase() === "the" ? at + side : at);
  const word = side < 0 ? skip(index - 1) : index + 1;
  if (!/^(?:to|until|till|through|and|or)$/iv.test(wordAt(tokens, word))) return undefined;
  const at = side < 0 ? word - 1 : skip(word + 1);
  return dayNumber.test(wordAt(tokens, at)) ? at : undefined;
}

/** The year after a month or a day. */
function yearBehind(tokens: Tokens, index: number): string | undefined {
  const next = isNear(tokens, index) ? wordAt(tokens, index + 1) : "";
  return yearNumber.test(next) ? next : undefined;
}

function withYear(
  tokens: Tokens,
  part: { readonly month: number; readonly day: string; readonly first: number; readonly end: number },
): FoundDate | undefined {
  const { month, day, first, end } = part;
  const next = isNear(tokens, end) ? wordAt(tokens, end + 1) : "";
  const year = yearNumber.test(next) ? next : undefined;
  if (year === undefined && /^\d{4}/v.test(next)) return { first, last: end + 1 };
  const canonical = ofParts({ year: year ?? yearOfRange(tokens, end), month, day });
  return canonical === undefined ? undefined : { canonical, first, last: end + (year === undefined ? 1 : 2) };
}

/** The year after the other day of a range: `January 11th to 15th 2025`, `January 11th to January 15th 2025`. */
function yearOfRange(tokens: Tokens, end: number): string | undefined {
  if (!/^(?:to|until|till|through)$/iv.test(wordAt(tokens, end + 1))) return undefined;
  const day = monthAt(tokens, end + 2) === undefined ? end + 2 : end + 3;
  const other = monthAt(tokens, day + 1) === undefined ? day : day + 1;
  return dayNumber.test(wordAt(tokens, day)) ? yearBehind(tokens, other) : undefined;
}

interface Month {
  readonly month: number;
  readonly index: number;
}

/** The month on one side of a word; "the" or "of" may be between. */
function monthBeside(tokens: Tokens, index: number, side: -1 | 1): Month | undefined {
  const isBetween = wordAt(tokens, index + side).toLowerCase() === (side < 0 ? "the" : "of");
  const at = index + (isBetween ? 2 * side : side);
  const month = monthAt(tokens, at);
  const isClose = isNear(tokens, Math.min(index, at)) && isNear(tokens, Math.max(index, at) - 1);
  return month !== undefined && isClose ? { month, index: at } : undefined;
}

function monthAt(tokens: Tokens, index: number): number | undefined {
  const text = wordAt(tokens, index);
  return text.length < 3 || text.length > 9 ? undefined : months.get(text.toLowerCase());
}

/** True if only spaces, a comma, or the point of an abbreviation are between a word and the next one. */
function isNear(tokens: Tokens, index: number): boolean {
  const gap = between(tokens, index, index + 1);
  return /^,?[ \t\u{a0}]{1,3}$/v.test(gap) || (wordAt(tokens, index).length < 5 && gap === ". ");
}

import type { ValueType } from "../../tool/parameters.ts";
import { has } from "./characters.ts";
import { dateAt } from "./date.ts";
import { endsIn } from "./durations.ts";
import { canonicalEmail } from "./email.ts";
import { canonicalHost } from "./host.ts";
import { canonicalIban, checksumHolds, isAccount } from "./iban.ts";
import { canonicalIdentifier, isDigits } from "./identifier.ts";
import { compatible, composed, hasHidden } from "./normal.ts";
import { canonicalNumber } from "./number.ts";
import { canonicalPath, shortenedPath } from "./path.ts";
import { canonicalPhone, phoneEnd } from "./phone.ts";
import { isWhole, type Phrase, phrasesIn } from "./phrases.ts";
import { type Listed, saysIdentifier } from "./says-identifier.ts";
import { scaledAt } from "./scale.ts";
import { between, type Token, type Tokens, tokensOf, wordAt } from "./tokens.ts";
import { isKnownEnding } from "./top-level-domains.ts";
import { unitAt } from "./unit.ts";
import { canonicalUrl, isBareLink } from "./url.ts";

/** Canonical values by type, without text, which is searched and not collected. */
export type FoundValues = Readonly<Record<Exclude<ValueType, "text">, Set<string>>>;

/** The values of texts, their parts in quotes, and the texts with their longer names. */
export interface Scan {
  readonly found: FoundValues;
  readonly quoted: string[];
  readonly texts: readonly { readonly text: string; readonly phrases: readonly Phrase[] }[];
}

/** The longest text that counts as a value as a whole, as if it were in quotes: an answer "13", or a constant. In UTF-16 units. */
const maxWhole = 256;

/** The values of all texts. Each is read once, in linear time. */
export function scan(texts: readonly string[]): Scan {
  const found: FoundValues = {
    email: new Set(),
    url: new Set(),
    host: new Set(),
    path: new Set(),
    iban: new Set(),
    phone: new Set(),
    date: new Set(),
    identifier: new Set(),
    number: new Set(),
  };
  const quoted: string[] = [];
  const read = texts.map((given) => {
    const text = composed(given);
    const tokens = tokensOf(text);
    const names = phrasesIn(text, tokens.quoted, false);
    const reading: Reading = { ...tokens, found, listed: -1, lastDigits: -1, names };
    let index = 0;
    while (index < tokens.words.length) index = readAt(reading, index);
    for (const pair of tokens.pairs) addPair(found, pair);
    for (const end of endsIn(text, found.date)) found.date.add(end);
    for (const { start, end } of tokens.quoted) quoted.push(text.slice(start, end));
    if (given.length <= maxWhole) quoted.push(text.trim());
    return { text, phrases: phrasesIn(text, tokens.quoted, true) };
  });
  for (const part of quoted) addQuoted(found, part);
  return { found, quoted, texts: read };
}

interface Reading extends Listed {
  readonly found: FoundValues;
  /** The names of several words in quotes: a path or an identifier inside one does not count. */
  readonly names: readonly Phrase[];
  /** The index of the last word whose digits belong to a number that was read. */
  lastDigits: number;
}

/** Reads what begins at a word; returns the index of the next word to read. */
function readAt(reading: Reading, index: number): number {
  const { words, found } = reading;
  const token = words[index];
  if (token === undefined) return index + 1;
  if (token.isLink) addLink(found, wordAt(reading, index));
  else if (token.bits === has.letter) readName(reading, index);
  else return readDigits(reading, index) ?? readWord(reading, index);
  return index + 1;
}

/** Reads a name. A word of letters alone is an identifier only if a sign says so: `#general`, or capital letters: `HXDUBJ`. */
function readName(reading: Reading, index: number): void {
  const token = reading.words[index];
  const word = wordAt(reading, index);
  const number = numberInWords(reading, index);
  if (number !== undefined) addNumber(reading, index, number);
  const isName = reading.text[(token?.start ?? 0) - 1] === "#" || /^[A-Z]{3,}$/v.test(word);
  if (token !== undefined && isName && isWhole(reading.names, token)) reading.found.identifier.add(word);
}

/** Reads dates, times, phone numbers and account numbers, which may consist of several words. Their words count as nothing else. */
function readDigits(reading: Reading, index: number): number | undefined {
  const { words, found } = reading;
  const token = words[index];
  if (token === undefined || (token.bits & (has.digit | has.beyondAscii)) === 0) return undefined;
  const date = dateAt(reading, index);
  if (date !== undefined) {
    if (date.canonical !== undefined) addDate(found, date.canonical);
    if (date.last - date.first === 1) addPlain(found, wordAt(reading, index));
    return date.last;
  }
  return readPhone(reading, index) ?? readIban(reading, index);
}

/** Adds a date. A date with a time is also its date and its time; a date with a year is also its day in any year, for a value without one. */
function addDate(found: FoundValues, canonical: string): void {
  found.date.add(canonical);
  const split = canonical.indexOf("T");
  const day = split < 0 ? canonical : canonical.slice(0, split);
  if (split > 0) {
    found.date.add(day);
    const time = canonical.slice(split);
    if (/^[T\d:]+$/v.test(time)) found.date.add(time);
  }
  if (/^\d{4}-\d\d-\d\d$/v.test(day)) found.date.add(`any${day.slice(4)}`);
  if (/^\d{4}/v.test(day)) found.date.add(anyYear).add(yearOf(day));
}

/** A mark among the dates that one of them has a year. */
export const anyYear = "year";

/** A mark among the dates that one of them has the same year as this one. */
export function yearOf(date: string): string {
  return `${anyYear} ${date.slice(0, 4)}`;
}

function readPhone(reading: Reading, index: number): number | undefined {
  const { text, words, found } = reading;
  const token = words[index];
  if (token === undefined) return undefined;
  const start = text[token.start - 1] === "(" ? token.start - 1 : token.start;
  const end = phoneEnd(text, start);
  const phone = end < 0 ? undefined : canonicalPhone(text.slice(start, end));
  if (phone === undefined) return undefined;
  found.phone.add(phone);
  let next = index + 1;
  while ((words[next]?.start ?? end) < end) next += 1;
  return next > index + 1 || text[token.start] === "+" ? next : undefined;
}

/** The most groups of four that an account number has. */
const maxGroups = 9;

/** Reads an account number in groups of four. If another group could belong to it, the checksum says where it ends; all groups are read together too. */
function readIban(reading: Reading, index: number): number | undefined {
  let written = wordAt(reading, index);
  if (written.length !== 4 || !/^[A-Z]{2}\d{2}$/v.test(written)) return undefined;
  const ends = new Map<string, number>();
  for (let next = index + 1; next < index + maxGroups; next += 1) {
    const group = wordAt(reading, next);
    if (!/^[A-Z\d]{1,4}$/v.test(group) || !/^[ \u{a0}\u{202f}]$/v.test(between(reading, next - 1, next)))
      break;
    written += group;
    if (canonicalIban(written) !== undefined) ends.set(written, next + 1);
    if (group.length < 4) break;
  }
  const all = [...ends.keys()];
  const whole = all.at(-1);
  const iban = all.find(checksumHolds) ?? whole;
  if (iban === undefined || whole === undefined) return undefined;
  reading.found.iban.add(iban).add(whole); // a checksum may hold by chance, and users may be wrong about theirs
  return ends.get(iban);
}

function readWord(reading: Reading, index: number): number {
  const { words, found } = reading;
  const bits = words[index]?.bits ?? 0;
  const word = wordAt(reading, index);
  const text = compatible(word);
  if ((bits & has.beyondAscii) !== 0 && hasHidden(text)) return index + 1;
  if (isDigits(text)) readNumber(reading, index, text);
  else {
    const token = words[index];
    if (token !== undefined && isWhole(reading.names, token) && !partsWords(reading, index))
      addPlain(found, word);
    if (!isPassword(reading, index)) addAddress(found, bits, text);
    // a space was forgotten
    if (/[a-z]\.[A-Z][a-z]+$/v.test(text) && !isKnownEnding(text, false))
      addAddress(found, bits, text.slice(0, text.lastIndexOf(".")));
    if ((bits & (has.digit | has.beyondAscii)) !== 0) addNumeric(reading, index, text);
  }
  return index + 1;
}

/** English words before an address. */
const beforeAddress =
  /^(?:to|cc|bcc|from|mail|email|mailto|address|contact|recipient|sender|reply|sip|xmpp)$/v;

/** True for the second part of `name:secret@x.y`, a password and a host. After a word such as "to", or a name with a capital letter, it is an address. */
function isPassword(reading: Reading, index: number): boolean {
  if (!wordAt(reading, index).includes("@") || between(reading, index - 1, index) !== ":") return false;
  const name = wordAt(reading, index - 1);
  return /^[a-z_]+$/v.test(name) && !beforeAddress.test(name);
}

/** English words before a folder. */
const beforeFolder =
  /^(?:in|into|inside|within|of|at|to|from|on|under|below|beneath|folder|directory|path|root|is)$/iv;

/** True for a slash that only separates two words: `red / green`. After "in" and the like it is the root folder. */
function partsWords(reading: Reading, index: number): boolean {
  const { words } = reading;
  if (!/^[\/\\]+$/v.test(wordAt(reading, index)) || index === 0 || index + 1 >= words.length) return false;
  const isBetween = [index - 1, index].every((at) => /^[ \t]+$/v.test(between(reading, at, at + 1)));
  return isBetween && !beforeFolder.test(wordAt(reading, index - 1));
}

/** Reads digits: an identifier if the text says so, otherwise a number. A phone number may have no other sign. */
function readNumber(reading: Reading, index: number, digits: string): void {
  const { words, text, found } = reading;
  const token = words[index];
  if (token === undefined) return;
  const isIdentifier = saysIdentifier(reading, index) || isPostal(reading, index, digits);
  const isPart = !isWhole(reading.names, token);
  if (!isPart && (isIdentifier || isQuoted(text, token))) found.identifier.add(digits);
  if (!isIdentifier) addNumber(reading, index, canonicalNumber(digits));
  if (isAccount(digits)) found.iban.add(digits);
  addTo(found.phone, canonicalPhone(digits));
}

/** True for digits that are not a number, and a code after the letters of a state: `02139`, `NY 10001`. */
function isPostal(reading: Reading, index: number, digits: string): boolean {
  if (/^0\d{3,}$/v.test(digits)) return true;
  return (
    digits.length === 5 &&
    /^[A-Z]{2}$/v.test(wordAt(reading, index - 1)) &&
    between(reading, index - 1, index) === " "
  );
}

function isQuoted(text: string, { start, end }: Token): boolean {
  return "'\"`".includes(text[start - 1] ?? " ") && text[start - 1] === text[end];
}

/** Adds a whole token with more than letters: a path, and an identifier if it has a digit or is a name with its `@`. */
function addPlain(found: FoundValues, token: string): void {
  if (hasHidden(token)) return;
  addPath(found, token);
  if (/^@|\p{N}|[\p{L}\p{N}]_[\p{L}\p{N}]/v.test(token))
    found.identifier.add(canonicalIdentifier(token) ?? token);
}

/** Adds a `key:value` that looks like a value as a whole: `localhost:3000`, `a1:b2`. Others are not values. */
function addPair(found: FoundValues, pair: string): void {
  addPlain(found, pair);
  addTo(found.host, canonicalHost(pair));
}

function addAddress(found: FoundValues, bits: number, text: string): void {
  if ((bits & (has.at | has.beyondAscii)) !== 0) addTo(found.email, canonicalEmail(text));
  if ((bits & has.at) !== 0) return;
  const host = text.includes(".") || text.startsWith("localhost") ? canonicalHost(text) : undefined;
  addTo(found.host, host);
  if (!text.includes(".") || !isBareLink(text)) return;
  for (const scheme of ["https", "http"])
    addTo(
      found.url,
      host?.includes(":") === false ? `${scheme}://${host}/` : canonicalUrl(`${scheme}://${text}`),
    );
}

/** A mark after a number that has no unit in the text. */
export const noUnit = "*";

/** Adds a number by itself, and with the unit beside it: with any unit, if there is none. */
function addNumber(reading: Reading, index: number, written: string | undefined): void {
  const { text, words, found } = reading;
  if (written === undefined || index <= reading.lastDigits) return;
  const { number, last, lastDigits } = scaledAt(reading, index, written);
  reading.lastDigits = lastDigits;
  const [first, end] = [words[index]?.start, words[last]?.end];
  if (number === undefined || first === undefined || end === undefined) return;
  found.number.add(number).add(`${number} ${unitAt(text, { start: first, end }) ?? noUnit}`);
}

function addNumeric(reading: Reading, index: number, text: string): void {
  const { found } = reading;
  const written = /^\d+-[a-z]+$/v.test(text) ? text.slice(0, text.indexOf("-")) : text;
  addNumber(reading, index, canonicalNumber(written));
  addTo(found.iban, canonicalIban(text));
  addTo(found.phone, canonicalPhone(text));
}

/** Adds a link, its host, and the page that its fragment belongs to. */
function addLink(found: FoundValues, text: string): void {
  const url = canonicalUrl(text);
  if (url === undefined) return;
  found.url.add(url);
  const fragment = url.indexOf("#");
  if (fragment >= 0) found.url.add(url.slice(0, fragment));
  addTo(found.host, canonicalHost(url.slice(url.indexOf("://") + 3).replace(/[\/?#].*$/v, "")));
}

/** Adds a part in quotes as a whole value, even with spaces or of letters alone. */
function addQuoted(found: FoundValues, text: string): void {
  if (hasHidden(text)) return;
  addPath(found, text);
  addTo(found.identifier, canonicalIdentifier(text));
}

function addPath({ path }: FoundValues, text: string): void {
  addTo(path, canonicalPath(text));
  if (text.includes("..")) addTo(path, shortenedPath(text));
}

function addTo(set: Set<string>, value: string | undefined): void {
  if (value !== undefined) set.add(value);
}

/** The numbers that people write as words. One is left out: it occurs in every other sentence, without counting anything. */
const numbers: ReadonlyMap<string, string> = new Map(
  "two three four five six seven eight nine ten eleven twelve"
    .split(" ")
    .map((word, index) => [word, String(index + 2)]),
);
/** Words next to which a number word is part of another number: `two hundred`, `twenty two`, `two and a half`, `two point five`. */
const parts =
  /^(?:and|point|half|halves|third|quarters?|dozens?|hundreds?|thousands?|millions?|billions?|trillions?|k|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)$/i;

/** A whole number from two to twelve that is written as a word by itself. Undefined for any other word. */
function numberInWords(tokens: Tokens, index: number): string | undefined {
  const number = numbers.get(wordAt(tokens, index).toLowerCase());
  if (number === undefined) return undefined;
  const besides = [wordAt(tokens, index - 1), wordAt(tokens, index + 1)];
  const isPart = besides.some(
    (word) => parts.test(word) || /\d/.test(word) || numbers.has(word.toLowerCase()),
  );
  return isPart ? undefined : number;
}

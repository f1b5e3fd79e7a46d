import { isJsonObject, maxJsonDepth, type Json, type JsonObject } from "../../util/json.ts";
import { attempt, type Cursor, skipBlanks, take, takeSign } from "./cursor.ts";
import { nextQuote, readString } from "./quoted.ts";

/**
 * Reads a value as models write one: JSON, Python and JavaScript literals, also mixed. Undefined when there is none. Strings may stand in
 * either quotes, keys in none; True, None, tuples and commas at an end are read; words without quotes are a text. Deeper nesting than JSON
 * from outside may have is not read, nor is a key that changes prototypes.
 */
export function readLiteral(cursor: Cursor, depth = 0): Json | undefined {
  skipBlanks(cursor);
  if (depth > maxJsonDepth || cursor.work <= 0) return undefined;
  const sign = cursor.text[cursor.at];
  if (sign === "{") return attempt(cursor, (inner) => readObject(inner, depth));
  if (sign === "[") return attempt(cursor, (inner) => readList(inner, "]", depth));
  if (sign === "(") return attempt(cursor, (inner) => readList(inner, ")", depth));
  return readString(cursor) ?? readNumber(cursor) ?? readWord(cursor);
}

function readObject(cursor: Cursor, depth: number): JsonObject | undefined {
  cursor.at += 1;
  const entries: [string, Json][] = [];
  for (;;) {
    skipBlanks(cursor);
    if (takeClose(cursor, "}")) return fieldsOf(entries, cursor);
    const key = readKey(cursor);
    const value = key === undefined ? undefined : readLiteral(cursor, depth + 1);
    if (key === undefined || value === undefined || pollutes(key, value)) return undefined;
    entries.push([key, value]);
    if (!goesOnOrEnds(cursor, "}")) return undefined;
  }
}

/** The object of these entries. A key that stands twice is noted: nobody knows which of the two is meant. */
export function fieldsOf(entries: readonly (readonly [string, Json])[], { twice }: Cursor): JsonObject {
  const keys = new Set<string>();
  for (const [key] of entries) {
    if (keys.has(key)) twice.add(key);
    keys.add(key);
  }
  return Object.fromEntries(entries);
}

/** True for a field that would change prototypes in careless code: it is refused. */
export function pollutes(key: string, value: Json): boolean {
  return (
    key === "__proto__" || (key === "constructor" && isJsonObject(value) && Object.hasOwn(value, "prototype"))
  );
}

function readKey(cursor: Cursor): string | undefined {
  const key = readString(cursor) ?? take(cursor, /[A-Za-z_$][\w$.-]*/y) ?? take(cursor, /-?\d+(?:\.\d+)?/y);
  if (key === undefined) return undefined;
  skipBlanks(cursor);
  return take(cursor, /:|=>|=/y) === undefined ? undefined : key;
}

function readList(cursor: Cursor, close: string, depth: number): Json | undefined {
  cursor.at += 1;
  const items: Json[] = [];
  for (;;) {
    skipBlanks(cursor);
    if (takeClose(cursor, close)) return items;
    const value = readLiteral(cursor, depth + 1);
    if (value === undefined) return undefined;
    items.push(value);
    if (!goesOnOrEnds(cursor, close)) return undefined;
  }
}

function goesOnOrEnds(cursor: Cursor, close: string): boolean {
  skipBlanks(cursor);
  const { text, at } = cursor;
  return takeSign(cursor, ",") || text.startsWith(close, at) || text.startsWith(endOfCall, at);
}

/** The mark that ends a call, so that brackets which are open there were not cut off but forgotten. */
const endOfCall = "</tool_call>";

function takeClose(cursor: Cursor, close: string): boolean {
  if (takeSign(cursor, close)) return true;
  const isForgotten = cursor.text.startsWith(endOfCall, cursor.at);
  if (isForgotten) cursor.repairs.add("a bracket that was not closed was closed at the end of the call");
  return isForgotten;
}

const words: ReadonlyMap<string, Json> = new Map<string, Json>([
  ["true", true],
  ["True", true],
  ["TRUE", true],
  ["false", false],
  ["False", false],
  ["FALSE", false],
  ["null", null],
  ["None", null],
  ["NULL", null],
  ["undefined", null],
]);

const valueEnd = /\s*(?:[,)\]};#<]|\/\/|$|\n)/y;

function standsAtEnd({ text, at }: Cursor): boolean {
  valueEnd.lastIndex = at;
  return valueEnd.test(text);
}

const numeral = /[-+]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])/y;

/** Reads a number. What goes on behind it is none, as in `2024-01-05`; nor are digits that begin with a zero, which would be lost. */
function readNumber(cursor: Cursor): Json | undefined {
  return attempt(cursor, (inner) => {
    const text = take(inner, numeral);
    return text === undefined || /^[-+]?0\d/.test(text) || !standsAtEnd(inner) ? undefined : numberOf(text);
  });
}

/** An integer that a double cannot hold exactly becomes its digits, as in JSON from outside. */
function numberOf(text: string): Json {
  const digits = text.replaceAll("_", "").replace(/^\+/, "");
  const value = Number(digits);
  const isExact = !/^-?\d+$/.test(digits) || Number.isSafeInteger(value) || String(value) === digits;
  return isExact && Number.isFinite(value) ? value : digits;
}

/** The next piece of a text that has commas in it, as in `city=New York, NY, days=3`: no argument begins there. */
const afterComma = /(?:,\s*(?!\s|[\w.]+\s*[=:(])[A-Z][^\n,(){}[\]=;:"'`]{0,80}(?=\s{0,8}[,)]))+/y;

/** Words up to the next comma are a text; a call inside of a call is its own source. */
function readWord(cursor: Cursor): Json | undefined {
  return attempt(cursor, (inner) => {
    const start = inner.at;
    const word = take(inner, /[^\s,(){}[\]=;"'`<>:|]+/y);
    if (word === undefined) return undefined;
    if (words.has(word) && standsAtEnd(inner)) return words.get(word);
    if (inner.text[inner.at] === "(" || inner.text[inner.at] === "[") {
      if (!skipBalanced(inner)) return undefined;
      take(inner, /(?:[.\w]+\(\))+/y);
    }
    take(inner, /[^\n,(){}[\]=;"'`]*[^\s,(){}[\]=;"'`]/y);
    if (!standsAtEnd(inner)) return undefined;
    take(inner, afterComma);
    inner.repairs.add("a text without quotes was taken as text");
    return inner.text.slice(start, inner.at);
  });
}

/** Brackets, and the quotes that begin a text: an apostrophe behind a letter does not, nor does a quote that is escaped. */
const bracketOrQuote = /[()[\]{}]|(?<![\p{L}\p{N}\\])(?:[rRbBfFuU]{1,2})?("""|'''|["'])/gu;

/** Moves behind the bracket that closes the one at the cursor. False when none does. */
export function skipBalanced(cursor: Cursor): boolean {
  const marks = new RegExp(bracketOrQuote);
  marks.lastIndex = cursor.at;
  let depth = 0;
  for (let match = marks.exec(cursor.text); match !== null; match = marks.exec(cursor.text)) {
    const [mark, quote] = match;
    if (quote !== undefined) {
      const end = nextQuote(cursor.text, quote, marks.lastIndex);
      if (end === -1) break;
      marks.lastIndex = end + quote.length;
    } else depth += "([{".includes(mark) ? 1 : -1;
    if (depth === 0) {
      cursor.work -= marks.lastIndex - cursor.at;
      cursor.at = marks.lastIndex;
      return true;
    }
  }
  cursor.work -= cursor.text.length - cursor.at;
  return false;
}

import { mapped } from "./mapped.ts";
import { leaveUnheard } from "./maybe.ts";
import { thrownText } from "./thrown.ts";

/** Any value that JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** The value of a text, or why the text has none. */
export type ParsedJson =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly reason: string };

/** Deeper nesting is refused before parsing: recursive readers behind us would overflow their stacks. */
export const maxJsonDepth = 64;

/** Digits behind a point are a fraction, which reading as it is loses nothing of. */
const unsafeInteger = /(?<![.\d])\d{16}/;

/** The shortest text that can be nested deeper than allowed and still be JSON: each bracket needs its end. */
const shortestDeep = 2 * (maxJsonDepth + 1);

/**
 * Reads JSON that comes from outside. Never throws.
 *
 * - Nesting is counted on the raw text, so a bomb of brackets is refused in linear time.
 * - A byte order mark at its beginning, which some editors write, is not a part of it.
 * - An integer that a double cannot hold exactly becomes the string of its digits: it is never rounded.
 * - Keys that change prototypes in careless code (`__proto__`, `constructor.prototype`) are refused.
 */
export function parseJson(given: string): ParsedJson {
  const text = given.startsWith("\ufeff") ? given.slice(1) : given;
  if (text.length >= shortestDeep && depthOf(text) > maxJsonDepth)
    return { ok: false, reason: `it is nested deeper than ${maxJsonDepth} levels` };
  try {
    const value: Json = unsafeInteger.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
    if (mayPollute(text) && pollutes(value)) return { ok: false, reason: pollution };
    return { ok: true, value };
  } catch (error) {
    return { ok: false, reason: thrownText(error, "it is not JSON") };
  }
}

/**
 * JSON text in which each integer that a double cannot hold is the string of its digits, for a library that reads it itself and would round it. A text
 * that is refused stays as it is.
 */
export function exactJson(text: string): string {
  if (!unsafeInteger.test(text)) return text;
  const read = parseJson(text);
  return read.ok ? JSON.stringify(read.value) : text;
}

/** True where a key may change prototypes: its name, or an escape that may spell it, stands in the text. */
function mayPollute(text: string): boolean {
  return text.includes("__proto__") || text.includes("constructor") || text.includes("\\u");
}

const pollution = 'it has the key "__proto__" or "constructor.prototype", which is refused';

/**
 * Makes plain JSON of a value that code built (arguments as an object, the result of a tool). What JSON has no word for follows
 * `JSON.stringify`: `undefined` and functions are dropped, dates become text; a bigint becomes the string of its digits. A list with holes is no
 * JSON. Never throws.
 */
export function toJson(
  value: unknown,
  refuse: (field: unknown, key: string) => void = () => undefined,
): ParsedJson {
  if (value === undefined) return { ok: true, value: null };
  if (typeof value === "string" || typeof value === "boolean" || value === null) return { ok: true, value };
  if (typeof value === "number" && Number.isFinite(value)) return { ok: true, value };
  try {
    const copy = plainCopy(value, 0);
    if (copy !== undefined) return { ok: true, value: copy };
    const text = JSON.stringify(
      value,
      function (this: Readonly<Record<string, unknown>>, key, field: unknown) {
        refuseBytes(this[key]);
        if (Array.isArray(field)) refuseHoles(field);
        refuse(field, key);
        return typeof field === "bigint" ? String(field) : field;
      },
    ) as string | undefined;
    return text === undefined ? { ok: true, value: null } : parseJson(text);
  } catch (error) {
    return { ok: false, reason: thrownText(error, "it cannot be written as JSON") };
  }
}

/** As {@link toJson}, for what an author gives to be read whole: an object of which JSON would show nothing is refused, and a number that JSON has no word for. Never throws. */
export function wholeJson(value: unknown): ParsedJson {
  if (typeof value === "function" || typeof value === "symbol")
    return { ok: false, reason: `it is a ${typeof value}` };
  let hidden: string | undefined;
  const json = toJson(value, (field, key) => (hidden = endless(field, key) ?? hiddenIn(field) ?? hidden));
  return hidden === undefined ? json : { ok: false, reason: hidden };
}

/**
 * The copy of a value that is JSON as it stands: plain objects, lists without holes, texts, small numbers, and dates, which rows of
 * databases have. Undefined for a value that `JSON.stringify` would change or refuse, and for one that is nested deep.
 */
function plainCopy(value: unknown, depth: number): Json | undefined {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return isExact(value) ? value : undefined;
  if (typeof value !== "object" || depth === shallow) return undefined;
  return Array.isArray(value) ? plainList(value, depth + 1) : plainFields(value, depth + 1);
}

// oxlint-disable-next-line no-restricted-globals -- the class of the dates of others, not the clock
const datePrototype: unknown = Date.prototype;

/** The depth up to which values are copied as they stand: a value that contains itself must come to an end. */
const shallow = 16;

/** True for a number that its JSON text gives back: -0 and what has no end are not among them. */
function isExact(value: number): boolean {
  return Number.isSafeInteger(value) ? !Object.is(value, -0) : Number.isFinite(value) && value % 1 !== 0;
}

function plainList(list: readonly unknown[], depth: number): Json | undefined {
  if ("toJSON" in list) return undefined;
  const copy: Json[] = [];
  for (let place = 0; place < list.length; place += 1) {
    const each = plainCopy(list[place], depth);
    if (each === undefined) return undefined;
    copy.push(each);
  }
  return copy;
}

function plainFields(fields: object, depth: number): Json | undefined {
  const prototype: unknown = Object.getPrototypeOf(fields);
  if (prototype === datePrototype && !Object.hasOwn(fields, "toJSON"))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is no date throws here, as in JSON.stringify
    return plainCopy((fields as Date).toJSON(), depth);
  if ((prototype !== Object.prototype && prototype !== null) || "toJSON" in fields) return undefined;
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(fields)) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the key is one of its fields
    const field = (fields as Readonly<Record<string, unknown>>)[key];
    if (field === undefined) continue;
    if (key === "__proto__" || key === "constructor") return undefined;
    const each = plainCopy(field, depth);
    if (each === undefined) return undefined;
    copy[key] = each;
  }
  return copy;
}

/**
 * A list may be a billion places long and hold one entry: whoever goes from place to place would go for minutes. Ends at the first hole.
 *
 * @throws TypeError when a place of the list has no entry
 */
export function refuseHoles(list: readonly unknown[]): void {
  for (let place = 0; place < list.length; place += 1) {
    if (!(place in list))
      throw new TypeError(
        `a list has ${list.length} places, and nothing was put in at place ${place}; JSON has no such lists`,
      );
  }
}

/**
 * Bytes are written as an object with a field for each of them: a picture would hold the thread for seconds.
 *
 * @throws TypeError for the bytes of a buffer
 */
function refuseBytes(value: unknown): void {
  if (typeof value !== "object" || !(ArrayBuffer.isView(value) || value instanceof ArrayBuffer)) return;
  const bytes = value.byteLength;
  throw new TypeError(
    `it has ${bytes} bytes in a buffer; JSON has none: give them as text, for example in base64`,
  );
}

/** The fault of NaN and of numbers without end: JSON writes them as null, which says that there is no value. */
function endless(field: unknown, key: string): string | undefined {
  if (typeof field !== "number" || Number.isFinite(field)) return undefined;
  return `${key === "" ? "it" : `"${key}"`} is ${field}, for which JSON has no word: give null, or a text`;
}

/** The fault of an object of a class that keeps all to itself. JSON writes a Map, an error or a promise as `{}`: whoever reads that takes it for an empty object. */
function hiddenIn(field: unknown): string | undefined {
  if (typeof field !== "object" || field === null || Array.isArray(field)) return undefined;
  const prototype: unknown = Object.getPrototypeOf(field);
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return undefined;
  if (Object.keys(field).length > 0) return undefined;
  const kind = Object.prototype.toString.call(field).slice("[object ".length, -1);
  if (kind === "Number" || kind === "Boolean") return undefined; // in their objects: JSON shows them
  leaveUnheard(field);
  if (kind === "Promise") return "it has a promise inside: `await` it";
  const name = kind === "Object" ? field.constructor.name : kind;
  return `it has ${/^[aeiou]/i.test(name) ? "an" : "a"} ${name}, of which JSON shows nothing: give plain objects, lists and texts`;
}

/** The value as JSON, and null for one that is none. */
export function jsonOrNull(value: unknown): Json {
  const json = toJson(value);
  return json.ok ? json.value : null;
}

/** Tells a list of JSON from objects and plain values. */
export function isJsonList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Tells a JSON object from arrays and plain values. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A copy of the lists and plain objects of a value; an object of a class in it is the same. Of JSON that is a copy of all, in a tenth of the time of
 * `structuredClone`.
 */
export function copyOfPlain<Value>(value: Value): Value {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each part is copied as what it is
  return copied(value) as Value;
}

function copied(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return mapped(value, copied);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return value;
  const copy: Record<string, unknown> = { ...value }; // also a field "__proto__", as a field
  for (const key in copy) copy[key] = copied(copy[key]);
  return copy;
}

/** The object that a value is; one without fields for anything else. */
export function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The value of an own key, so that `constructor` and the like are never found where nobody wrote them. */
export function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** A double that is written as the very digits it was read from has lost nothing. */
function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?\d+$/.test(source) && String(value) !== source ? source : value;
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x22) index = endOfString(text, index);
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, (depth += 1));
    else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return deepest;
}

/** The index of the quote that closes the string opened at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x5c) index += 1;
    else if (code === 0x22) return index;
  }
  return text.length;
}

function pollutes(value: Json): boolean {
  if (Array.isArray(value)) return value.some(pollutes);
  if (!isJsonObject(value)) return false;
  if (Object.hasOwn(value, "__proto__")) return true;
  const constructor = Object.hasOwn(value, "constructor") ? value["constructor"] : undefined;
  if (isJsonObject(constructor) && Object.hasOwn(constructor, "prototype")) return true;
  return Object.values(value).some(pollutes);
}

/**
 * Characters that are not seen in a text, or that turn the line around. Joiners stay: scripts and emoji need
 * them.
 */
const unseen =
  /[\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\udb40[\udc00-\udc7f]/g;

/** The beginning of what chat templates and protocols take for their own marks: `<|im_end|>`, `</tool_response>`, `</s>`, `<start_of_turn>`. */
const mark = /<(?=\||\/?(?:tool|function|im_|s>|bos|eos|start_|end_|system|user|assist|think))/gi;

/** JSON text in which such characters of strings are written as escapes: the same value, and nothing in it ends or imitates what stands around it. */
export function visibleJson(json: string): string {
  return json.replaceAll(unseen, escaped).replaceAll(mark, "\\u003c");
}

function escaped(text: string): string {
  return text
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

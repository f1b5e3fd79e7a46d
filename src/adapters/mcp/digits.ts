import type { Schema } from "../../schema/schema.ts";
import { type Json, parseJson } from "../../util/json.ts";
import { after } from "../../util/maybe.ts";

/** The runs of digits in a text that are integers which a double may not represent exactly. */
const longIntegers = /(?<![\d.])-?\d{16,}(?![\d.])/g;

// Register: structured contents with such integers, and the values that replace them. The schema of the server sees them as they came.
const told = new WeakMap<object, Json>();

/**
 * Finds integers in the structured content of a result that were rounded when the client read it. They are replaced by their digits in the text
 * beside it, as a text like those of other large integers; without such digits, by a note that the number is approximate.
 */
export function noteDigits(structured: Json, text = ""): void {
  if (typeof structured !== "object" || structured === null || !mayBeRounded(structured)) return;
  const numbers: number[] = [];
  rewritten(structured, (number) => (numbers.push(number), number));
  if (numbers.length === 0) return;
  const runs = (text.match(longIntegers) ?? []).filter((digits) => isDoubtful(Number(digits)));
  const isInOrder =
    runs.length === numbers.length && runs.every((digits, at) => Number(digits) === numbers[at]);
  let at = -1;
  const exact = rewritten(structured, (number) => {
    at += 1;
    const found = isInOrder ? runs.slice(at, at + 1) : runs.filter((digits) => Number(digits) === number);
    const [digits = `about ${number}`, ...others] = new Set(found);
    if (others.length > 0) return `about ${number}`;
    return digits === String(number) ? number : digits;
  });
  if (exact !== undefined) told.set(structured, exact);
}

/** The structured content with the replaced numbers, if it had rounded ones. */
export function withDigits<Value>(value: Value): Value | Json {
  return typeof value === "object" && value !== null ? (told.get(value) ?? value) : value;
}

/** The schema of a result, which judges the value as it came, and returns the one with replaced numbers. */
export function tellingDigits(schema: Schema): Schema {
  return {
    ...schema,
    parse: (value) =>
      after(schema.parse(value), (read) => {
        const exact = withDigits(value);
        return read.ok && exact !== value ? { ...read, value: exact } : read;
      }),
  };
}

/** False for most values, which then need no search number by number. */
function mayBeRounded(value: Json): boolean {
  try {
    return /\d{16}/.test(JSON.stringify(value));
  } catch {
    return false;
  }
}

/** True for a double that can stand for several integers; larger ones are written with an exponent, and clearly not exact. */
function isDoubtful(number: number): boolean {
  return Number.isInteger(number) && !Number.isSafeInteger(number) && Math.abs(number) < 1e21;
}

/** A value with such integers replaced; undefined for a value that is not JSON. */
function rewritten(value: Json, wordFor: (number: number) => number | string): Json | undefined {
  try {
    const text = JSON.stringify(value, (_key, field: unknown) =>
      typeof field === "number" && isDoubtful(field) ? wordFor(field) : field,
    );
    const read = parseJson(text);
    return read.ok ? read.value : undefined;
  } catch {
    return undefined;
  }
}

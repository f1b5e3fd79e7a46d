import type { Json } from "../../util/json.ts";
import { attempt, type Cursor, take } from "./cursor.ts";

const numeral = /[-+]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])/y;
const end = /\s*(?:[,)\]};#<]|\/\/|$|\n)/y;

/** Reads a number. What goes on behind it is none, as in `2024-01-05`; nor are digits that begin with a zero, which would be lost. */
export function readNumber(cursor: Cursor): Json | undefined {
  return attempt(cursor, (inner) => {
    const text = take(inner, numeral);
    end.lastIndex = inner.at;
    return text === undefined || /^[-+]?0\d/.test(text) || !end.test(inner.text) ? undefined : numberOf(text);
  });
}

/** An integer that a double cannot hold exactly becomes its digits, as in JSON from outside. */
function numberOf(text: string): Json {
  const digits = text.replaceAll("_", "").replace(/^\+/, "");
  const value = Number(digits);
  const isExact = !/^-?\d+$/.test(digits) || Number.isSafeInteger(value) || String(value) === digits;
  return isExact && Number.isFinite(value) ? value : digits;
}

import type { Json } from "../../util/json.ts";
import { attempt, type Cursor, take } from "./cursor.ts";

const numeral = /[-+]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])/y;
const calculation = /(?:\s*(?:\*\*|[-+*/])\s*-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.]))+/y;
const end = /\s*(?:[,)\]};#<]|\/\/|$|\n)/y;

/** Reads a number, or a calculation with numbers alone, as in `days=2*7`. What goes on behind it is no number. */
export function readNumber(cursor: Cursor): Json | undefined {
  return attempt(cursor, (inner) => {
    const first = take(inner, numeral);
    if (first === undefined) return undefined;
    const rest = take(inner, calculation);
    end.lastIndex = inner.at;
    if (!end.test(inner.text)) return undefined;
    if (rest === undefined) return numberOf(first);
    inner.repairs.add("a calculation was carried out");
    return calculated(`${first}${rest}`);
  });
}

/** An integer that a double cannot hold exactly becomes its digits, as in JSON from outside. */
function numberOf(text: string): Json {
  const digits = text.replaceAll("_", "").replace(/^\+/, "");
  const value = Number(digits);
  const isExact = !/^-?\d+$/.test(digits) || Number.isSafeInteger(value) || String(value) === digits;
  return isExact && Number.isFinite(value) ? value : digits;
}

/** Powers before products before sums, each from left to right but for powers. */
function calculated(text: string): number | undefined {
  const terms = text.replaceAll(/[\s_]/g, "").split(/(?<=[\d.])([-+])/);
  const values = terms.map((term, index) => (index % 2 === 0 ? productOf(term) : 0));
  const sum = values.reduce(
    (total, value, index) => (index % 2 === 1 ? total : total + (terms[index - 1] === "-" ? -value : value)),
    0,
  );
  return Number.isFinite(sum) ? sum : undefined;
}

function productOf(text: string): number {
  const parts = text.split(/(?<!\*)([*/])(?!\*)/);
  return parts.reduce((product, part, index) => {
    if (index % 2 === 1) return product;
    const value = powerOf(part);
    if (index === 0) return value;
    return parts[index - 1] === "/" ? product / value : product * value;
  }, 0);
}

function powerOf(text: string): number {
  return text
    .split("**")
    .map(Number)
    .reduceRight((exponent, base) => base ** exponent);
}

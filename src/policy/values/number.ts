import { compatible } from "./normal.ts";
import { currency } from "./unit.ts";

const amount = new RegExp(
  `^(?<before>[+\\-−]?) ?${currency}? ?(?<inner>[+\\-−]?)(?<body>[\\d.,'\u2019]*\\d) ?(?:${currency}|%)?$`,
  "iv",
);

const plain = /^(?<whole>\d+)(?:\.(?<part>\d+))?$/v;
const commasBetweenThousands = /^(?<whole>[1-9]\d{0,2}(?:,\d{3})+)(?:\.(?<part>\d+))?$/v;
const apostrophesBetweenThousands = /^(?<whole>[1-9]\d{0,2}(?:['\u{2019}]\d{3})+)(?:\.(?<part>\d+))?$/v;
const commasOfIndia = /^(?<whole>[1-9]\d?(?:,\d{2})+,\d{3})(?:\.(?<part>\d+))?$/v;
const dotsBetweenThousands = /^(?<whole>[1-9]\d{0,2}(?:\.\d{3}){2,})$/v;
const dotsAndComma = /^(?<whole>[1-9]\d{0,2}(?:\.\d{3})+),(?<part>\d+)$/v;
const comma = /^(?<whole>\d+),(?<part>\d{1,2}|\d{4,})$/v;
const noWhole = /^(?<whole>)\.(?<part>\d+)$/v;
const forms = [
  plain,
  commasBetweenThousands,
  apostrophesBetweenThousands,
  commasOfIndia,
  dotsBetweenThousands,
  dotsAndComma,
  comma,
  noWhole,
];
/** `50.000`: fifty to some readers, fifty thousand to others. It is compared as written. */
const ambiguous = /^[1-9]\d{0,2}\.\d{3}$/v;
const maxWritten = 64;

/**
 * The canonical spelling of a number: decimal digits, a point, no zeros at the end of the fraction, no exponent; without its currency or percent sign.
 * `1,234.56`, `1.234,56`, `1'234.56` and `1234.56` are equal; `1,234` is read as thousands, and `1.500` is not `1.5`. One with leading zeros (`007`) has none.
 */
export function canonicalNumber(value: string | number): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? ofDouble(value) : undefined;
  if (value.length > maxWritten) return undefined;
  if (/^[1-9]\d*$/v.test(value)) return value;
  const text = compatible(value).trim();
  if (/[a-z]{4}/iv.test(text)) return undefined;
  const found = amount.exec(text)?.groups;
  if (found === undefined || (found["before"] !== "" && found["inner"] !== "")) return undefined;
  const sign = /[\-−]/v.test(`${found["before"]}${found["inner"]}`) ? "-" : "";
  return digitsOf(found["body"] ?? "", sign);
}

function digitsOf(body: string, sign: string): string | undefined {
  if (ambiguous.test(body)) return sign + body;
  for (const form of forms) {
    const groups = form.exec(body)?.groups;
    if (groups === undefined) continue;
    const whole = (groups["whole"] ?? "").replaceAll(/[.,'\u{2019}]/gv, "") || "0";
    if (whole.length > 1 && whole.startsWith("0")) return undefined;
    const part = (groups["part"] ?? "").replace(/0+$/v, "");
    const digits = part === "" ? whole : `${whole}.${part}`;
    return digits === "0" ? digits : sign + digits;
  }
  return undefined;
}

/** A number with all digits: `String(1e21)` has an exponent. */
function ofDouble(value: number): string {
  const text = String(Math.abs(value));
  const sign = value < 0 ? "-" : "";
  const [mantissa = "", exponent] = text.split("e");
  if (exponent === undefined) return sign + text;
  const [whole = "", part = ""] = mantissa.split(".");
  const point = whole.length + Number(exponent);
  const digits = whole + part;
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  return sign + digits.padEnd(point, "0");
}

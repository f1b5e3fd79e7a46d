import {
  choice,
  type Expression,
  empty,
  never,
  optional,
  repeat,
  rule,
  sequence,
  set,
  text,
} from "./expression.ts";

/** Bounds of numbers; -Infinity and Infinity are none. An exclusive bound leaves out the number itself. */
export interface NumberBounds {
  readonly least: number;
  readonly most: number;
  readonly isInteger: boolean;
}

/** Numbers in bounds, and whether bounds had to be widened for it. */
export interface NumberExpression {
  readonly expression: Expression;
  readonly isWidened: boolean;
}

const safe = BigInt(Number.MAX_SAFE_INTEGER);

/** The next double above, or below: what an exclusive bound says as an inclusive one. */
export function nextDouble(value: number, direction: 1 | -1): number {
  if (value === 0) return direction * Number.MIN_VALUE;
  if (!Number.isFinite(value)) return value;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + (value > 0 === direction > 0 ? 1n : -1n));
  return view.getFloat64(0);
}

/**
 * Numbers as `JSON.stringify` writes them, and other ways to write the same. An integer is exact in its bounds, and never so large that a
 * double would round it (2^53 - 1). Other numbers are compared by their decimal digits, which is exact too; bounds that a decimal without exponent does
 * not reach (beyond ±(2^53 - 1), or nearer to 0 than a millionth) are widened.
 */
export function numberExpression({ least, most, isInteger }: NumberBounds): NumberExpression {
  if (least > most) return { expression: never, isWidened: false };
  if (isInteger) return integerExpression(least, most);
  const positive = most < 0 ? none : magnitudes(Math.max(0, least), most);
  const negative = least >= 0 ? none : magnitudes(most < 0 ? -most : Number.MIN_VALUE, -least);
  return {
    expression: choice([sequence(text("-"), negative.expression), positive.expression]),
    isWidened: positive.isWidened || negative.isWidened,
  };
}

const none: NumberExpression = { expression: never, isWidened: false };

function integerExpression(least: number, most: number): NumberExpression {
  if (least > Number.MAX_SAFE_INTEGER || most < -Number.MAX_SAFE_INTEGER) {
    const sign = most < 0 ? text("-") : empty;
    return { expression: sequence(sign, digits(1), repeat(digits(), 15, 30)), isWidened: true };
  }
  const from = least < -Number.MAX_SAFE_INTEGER ? -safe : BigInt(Math.ceil(least));
  const to = most > Number.MAX_SAFE_INTEGER ? safe : BigInt(Math.floor(most));
  const negative = sequence(text("-"), naturals(to < 0n ? -to : 1n, -from));
  const positive = naturals(BigInt(Math.max(0, Math.ceil(least))), to);
  return { expression: choice([negative, positive]), isWidened: false };
}

/** Up to the largest safe integer by a rule, since that is long to say. */
function naturals(least: bigint, most: bigint): Expression {
  if (most !== safe || least > 1n) return integersBetween(least, most);
  return choice([least === 0n ? text("0") : never, rule("positive")]);
}

/** The smallest number that `JSON.stringify` writes without an exponent. */
const smallestPlain = 1e-6;
/** A double has no more digits than these behind its point, when it is written without an exponent. */
const maxFraction = 22;

/** The rules that expressions of numbers refer to. */
export function numberRules(): Readonly<Record<string, Expression>> {
  const mantissa = sequence(digits(1), optional(sequence(text("."), repeat(digits(), 1, 17))));
  const exponent = choice([text("e"), text("E")]);
  const plus = optional(text("+"));
  return {
    positive: integersBetween(1n, safe),
    fraction: optional(sequence(text("."), repeat(digits(), 1, maxFraction))),
    /** From 1e16 up to 1.6e308. */
    huge: choice([
      sequence(mantissa, exponent, plus, integersBetween(16n, 307n)),
      sequence(
        text("1"),
        optional(sequence(text("."), digits(0, 6), repeat(digits(), 0, 16))),
        exponent,
        plus,
        text("308"),
      ),
    ]),
    /** Less than a millionth, and more than 0. */
    tiny: choice([
      sequence(mantissa, exponent, text("-"), integersBetween(7n, 323n)),
      sequence(digits(5), exponent, text("-324")),
    ]),
  };
}

const smallPlain = sequence(
  text("0."),
  repeat(text("0"), 0, maxFraction),
  digits(1),
  repeat(digits(), 0, maxFraction),
);

/** Numbers from 0 on. */
function magnitudes(least: number, most: number): NumberExpression {
  const hasLarge = most > Number.MAX_SAFE_INTEGER;
  const hasSmall = least < smallestPlain && most > 0;
  const isWidened =
    (hasLarge && (most < Infinity || least > Number.MAX_SAFE_INTEGER)) ||
    (hasSmall && (least > Number.MIN_VALUE || most < smallestPlain));
  const plain =
    least > Number.MAX_SAFE_INTEGER ? never : plainNumbers(least, Math.min(most, Number.MAX_SAFE_INTEGER));
  return {
    expression: choice([plain, hasSmall ? rule("tiny") : never, hasLarge ? rule("huge") : never]),
    isWidened,
  };
}

function plainNumbers(least: number, most: number): Expression {
  const to = decimalOf(most);
  if (most > 0 && most < smallestPlain) return least === 0 ? choice([text("0"), smallPlain]) : smallPlain;
  if (least === 0 || least >= smallestPlain) return decimals(decimalOf(least), to);
  return most >= 1 ? choice([smallPlain, decimals("1", to)]) : decimals(decimalOf(smallestPlain), to);
}

/** A number from 1e-6 to 2^53 without an exponent. */
function decimalOf(value: number): string {
  return String(value).includes("e") ? value.toFixed(maxFraction).replace(/0+$/, "") : String(value);
}

/** The decimals from the one to the other, by their digits. */
function decimals(from: string, to: string): Expression {
  const [fromInteger = "0", fromFraction = ""] = from.split(".");
  const [toInteger = "0", toFraction = ""] = to.split(".");
  const [a, b] = [BigInt(fromInteger), BigInt(toInteger)];
  if (a > b) return never;
  if (a === b) return sequence(text(fromInteger), fraction(fromFraction, toFraction));
  const isWhole = b === safe;
  return choice([
    fromFraction === "" ? never : sequence(text(fromInteger), fraction(fromFraction)),
    sequence(naturals(fromFraction === "" ? a : a + 1n, isWhole ? b : b - 1n), rule("fraction")),
    isWhole ? never : sequence(text(toInteger), fraction("", toFraction)),
  ]);
}

/** The point and the digits that may stand behind the integer of a decimal. */
function fraction(from: string, to?: string): Expression {
  if (to === "") return from === "" ? empty : never;
  const behind = sequence(text("."), fractionDigits(from, to, true));
  return from === "" ? optional(behind) : behind;
}

/** Digits that, read as a fraction, are not below the one and not above the other. The first must be there. */
function fractionDigits(from: string, to: string | undefined, isFirst: boolean): Expression {
  if (from === "" && to === undefined) return repeat(digits(), isFirst ? 1 : 0, maxFraction);
  if (to === "") return from === "" ? repeat(text("0"), isFirst ? 1 : 0, maxFraction) : never;
  const low = Number(from[0] ?? 0);
  const high = to === undefined ? 10 : Number(to[0]);
  const [afterLow, afterHigh] = [from.slice(1), to?.slice(1)];
  const more = repeat(digits(), 0, maxFraction);
  const inside =
    low > high
      ? never
      : low === high
        ? sequence(text(String(low)), fractionDigits(afterLow, afterHigh, false))
        : choice([
            sequence(text(String(low)), fractionDigits(afterLow, undefined, false)),
            sequence(digits(low + 1, high - 1), more),
            high === 10 ? never : sequence(text(String(high)), fractionDigits("", afterHigh, false)),
          ]);
  return from === "" && !isFirst ? optional(inside) : inside;
}

/** One decimal digit of a range. */
function digits(from = 0, to = 9): Expression {
  return from > to ? choice([]) : set([[0x30 + from, 0x30 + to]]);
}

/** The integers from the one to the other, from 0 on, both included, in decimal; exactly these. */
function integersBetween(least: bigint, most: bigint): Expression {
  if (least > most) return choice([]);
  const [from, to] = [String(least), String(most)];
  if (from.length === to.length) return sameLength(from, to);
  const zero = from === "0" ? text("0") : choice([]);
  const first = from === "0" ? "1" : from;
  const between = { from: first.length + 1, to: to.length - 1 };
  return choice([
    zero,
    ...(first.length < to.length ? [sameLength(first, "9".repeat(first.length))] : []),
    ...(between.from > between.to
      ? []
      : [sequence(digits(1), repeat(digits(), between.from - 1, between.to - 1))]),
    sameLength(first.length < to.length ? `1${"0".repeat(to.length - 1)}` : first, to),
  ]);
}

/** Digits of the same number, compared from the left. */
function sameLength(from: string, to: string): Expression {
  const [a, b] = [Number(from[0]), Number(to[0])];
  const [afterA, afterB] = [from.slice(1), to.slice(1)];
  if (from === "") return empty;
  if (/^0*$/.test(afterA) && /^9*$/.test(afterB))
    return sequence(digits(a, b), repeat(digits(), afterA.length, afterA.length));
  if (a === b) return sequence(text(String(a)), sameLength(afterA, afterB));
  const rest = repeat(digits(), afterA.length, afterA.length);
  const nines = "9".repeat(afterA.length);
  const zeros = "0".repeat(afterA.length);
  const lowest = afterA === zeros ? [] : [sequence(text(String(a)), sameLength(afterA, nines))];
  const highest = afterB === nines ? [] : [sequence(text(String(b)), sameLength(zeros, afterB))];
  const middle = digits(lowest.length === 0 ? a : a + 1, highest.length === 0 ? b : b - 1);
  return choice([...lowest, sequence(middle, rest), ...highest]);
}

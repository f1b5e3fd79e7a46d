import { choice, type Expression, empty, repeat, sequence, set, text } from "./expression.ts";

/** One decimal digit of a range. */
export function digits(from = 0, to = 9): Expression {
  return from > to ? choice([]) : set([[0x30 + from, 0x30 + to]]);
}

/** The integers from the one to the other, from 0 on, both included, in decimal; exactly these. */
export function integersBetween(least: bigint, most: bigint): Expression {
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

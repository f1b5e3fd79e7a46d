import { type Expression, repeat } from "./expression.ts";

/** Bounds of a repetition; Infinity is none. */
export interface Counts {
  readonly least: number;
  readonly most: number;
}

/** Longer bounds make grammars slow, and engines refuse them; they are left to validation. */
const longestCount = 400;

export const tooLong: string = `it is more than ${longestCount}`;

/** `of` so often, as far as engines bear it. `onRelaxed` is told which bound is wider in the grammar. */
export function counted(
  of: Expression,
  { least, most }: Counts,
  onRelaxed: (bound: "min" | "max") => void,
): Expression {
  if (least > longestCount) onRelaxed("min");
  if (most > longestCount && most !== Infinity) onRelaxed("max");
  return repeat(of, Math.min(least, longestCount), most > longestCount ? Infinity : most);
}

import { type Shape, shapeOf, shownValue } from "./shape.ts";

/** A time span as people write it: `30s`, `15m`, `2h`, `2d`; `ms` for milliseconds. */
export type Duration = `${number}${"ms" | "s" | "m" | "h" | "d"}`;

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const form = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** The longest time span, some 30 000 years: what it is added to is still a time that dates and databases can hold. */
const longestMs = 1e15;

/** A time span in milliseconds. NaN where it is none. */
export function durationMs(text: string): number {
  const [, count, unit = ""] = form.exec(text) ?? [];
  return Math.min(Math.round(Number(count) * (units[unit] ?? Number.NaN)), longestMs);
}

export const duration: Shape<Duration> = shapeOf(
  'a time span like "30s", "15m", "2h" or "2d"',
  (value) => typeof value === "string" && form.test(value),
  shownValue,
);

import type { BfclCase } from "./cases.ts";

/**
 * Halves of the seeded choice: what is tuned looks at the first, and the second is reported once, when nothing is tuned any more.
 */
export const halves = ["choosing", "reported"] as const;
export type Half = (typeof halves)[number];

const seed = 2026;
const size = 200;

/**
 * A half of the 200 cases of a category that are chosen by a seed: the cases in the order of their file, shuffled from the end
 * (Fisher and Yates, mulberry32 with the seed 2026). The first hundred are for choosing, the second hundred for the report.
 */
export function halfOf(cases: readonly BfclCase[], half: Half): readonly BfclCase[] {
  const shuffled = [...cases];
  const random = mulberry32(seed);
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const [one, two] = [shuffled[last], shuffled[other]];
    if (one !== undefined && two !== undefined) [shuffled[last], shuffled[other]] = [two, one];
  }
  return half === "choosing" ? shuffled.slice(0, size / 2) : shuffled.slice(size / 2, size);
}

/** Numbers from 0 to 1 that depend on the seed alone. */
function mulberry32(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

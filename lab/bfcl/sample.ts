/**
 * Parts of the seeded choice: what is tuned looks at the first, the second is reported once, when nothing is tuned any more. `further` is for
 * the time after that: cases that neither of the two has.
 */
export const sampleParts = ["choosing", "reported", "further"] as const;
export type SamplePart = (typeof sampleParts)[number];

const seed = 2026;

/** The indices of each part in the shuffled cases: the first one, and the one behind its last. */
const places: Readonly<Record<SamplePart, readonly [number, number]>> = {
  choosing: [0, 100],
  reported: [100, 200],
  further: [200, 400],
};

/**
 * A part of the cases of a category, chosen by a seed: the cases in the order of their file, shuffled from the end
 * (Fisher and Yates, mulberry32 with the seed 2026). The first hundred are for choosing, the second hundred for the report, and the two hundred
 * after them, as far as there are so many, for a later one.
 */
export function sampled<Case>(cases: readonly Case[], part: SamplePart): readonly Case[] {
  const shuffled = [...cases];
  const random = mulberry32(seed);
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const [one, two] = [shuffled[last], shuffled[other]];
    if (one !== undefined && two !== undefined) [shuffled[last], shuffled[other]] = [two, one];
  }
  return shuffled.slice(...places[part]);
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

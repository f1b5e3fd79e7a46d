/** The longest time that a timer of Node waits, with room for what is added to it. */
export const longestMs = 2_147_000_000;

/** A time that a timer can wait: with a longer one it would fire at once. */
export function waitMs(ms: number): number {
  return Math.min(ms, longestMs);
}

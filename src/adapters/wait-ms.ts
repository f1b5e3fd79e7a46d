/** The longest time that a timer of Node waits, with some room for additions. */
export const longestMs = 2_147_000_000;

/** The time, limited to one that a timer can wait: with a longer one it would fire at once. */
export function waitMs(ms: number): number {
  return Math.min(ms, longestMs);
}

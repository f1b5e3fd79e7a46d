import type { Host } from "../journal/host.ts";

const parts = 10;

/**
 * Waits for work under way, at most `graceMs`. The time is split into parts: each begins after the process has seen the end of the one before, so that
 * timers that came due meanwhile fire first.
 */
export async function withGrace(
  work: Promise<unknown>,
  graceMs: number,
  host: Pick<Host, "timer">,
): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  let stopTimer: () => void;
  const wait = (left: number): void => {
    if (left === 0) return resolve();
    stopTimer = host.timer(graceMs / parts, () => wait(left - 1));
  };
  wait(parts);
  await Promise.race([over, work]).finally(() => stopTimer());
}

import type { DurableAround } from "./durable-options.ts";

const dayMs = 86_400_000;
const betweenMs = 60_000;
/** The most runs that are erased at a time: other writers wait for less than a tenth of a second. */
const most = 20;
const breathMs = 10;

/** Erases runs that ended long ago, in small portions, repeatedly. Returns a function that stops it. */
export function keepTidy({ store, host, keep = { endedDays: 30 } }: DurableAround): () => void {
  if (keep === false) return () => undefined;
  const { endedDays } = keep;
  let stop: () => void;
  let isOver = false;
  const later = (afterMs: number): void => {
    if (!isOver) stop = host.timer(afterMs, tidy);
  };
  const tidy = (): void => {
    store.erase({ endedBefore: host.now() - endedDays * dayMs, most }).then(
      (count) => later(count === most ? breathMs : betweenMs),
      () => later(betweenMs), // a store that fails is asked again
    );
  };
  later(breathMs);
  return () => {
    isOver = true;
    stop();
  };
}

import type { Host } from "../journal/host.ts";

const beginMs = 10;
const againMs = 60_000;

/**
 * Does work that looks after a store, soon and then every minute, or after the milliseconds that it returns. Work that fails is done again at the next time.
 * Returns a function that ends it.
 */
export function repeatedly({ timer }: Pick<Host, "timer">, work: () => Promise<number | void>): () => void {
  let stop: () => void;
  let isOver = false;
  const later = (afterMs: number): void => {
    if (!isOver) stop = timer(afterMs, again);
  };
  const again = (): void =>
    void work().then(
      (afterMs) => later(afterMs ?? againMs),
      () => later(againMs),
    );
  later(beginMs);
  return () => {
    isOver = true;
    stop();
  };
}

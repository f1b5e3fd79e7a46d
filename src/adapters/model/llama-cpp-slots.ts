/** A queue before slots; each slot carries out one request at a time. */
export interface SlotQueue<Slot> {
  /**
   * Returns a free slot, the one that `prefer` rates highest, or waits for one in the order of the calls. The caller gives it back with `release`.
   *
   * @throws the reason of a signal that is aborted while waiting; the request has then left the queue
   */
  acquire(signal: AbortSignal, prefer: (slot: Slot) => number): Promise<Slot>;
  release(slot: Slot): void;
}

/** Makes a queue before these slots. */
export function slotQueue<Slot>(slots: readonly Slot[]): SlotQueue<Slot> {
  const free = new Set(slots);
  const waiters = new Set<(slot: Slot) => void>();
  return {
    async acquire(signal, prefer) {
      signal.throwIfAborted();
      const best = highest(free, prefer);
      if (best !== undefined) {
        free.delete(best);
        return best;
      }
      return waitForSlot(waiters, signal);
    },
    release(slot) {
      const [next] = waiters;
      if (next === undefined) {
        free.add(slot);
        return;
      }
      waiters.delete(next);
      next(slot);
    },
  };
}

function waitForSlot<Slot>(waiters: Set<(slot: Slot) => void>, signal: AbortSignal): Promise<Slot> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      waiters.delete(take);
      reject(signal.reason);
    };
    const take = (slot: Slot): void => {
      signal.removeEventListener("abort", leave);
      resolve(slot);
    };
    signal.addEventListener("abort", leave, { once: true });
    waiters.add(take);
  });
}

function highest<Slot>(slots: Iterable<Slot>, rate: (slot: Slot) => number): Slot | undefined {
  let best: Slot | undefined;
  let bestRate = -Infinity;
  for (const slot of slots) {
    const rated = rate(slot);
    if (rated > bestRate) [best, bestRate] = [slot, rated];
  }
  return best;
}

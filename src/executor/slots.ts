/** Gives turns to calls: at most `limit` at a time, and one at a time for calls that share a key. */
export interface Slots {
  /** Waits for a turn; what it resolves with gives the turn back. Undefined when the call can begin at once and needs no turn. */
  enter(key: string | undefined): Promise<() => void> | undefined;
}

/** Makes the slots of one turn. Waiting calls begin in the order in which they came. */
export function slots(limit: number): Slots {
  const queues = new Map<string, Promise<void>>();
  const waiting: (() => void)[] = [];
  let free = limit;

  function leave(): void {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  }

  async function take(): Promise<void> {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  }

  async function enterKeyed(key: string): Promise<() => void> {
    const before = queues.get(key) ?? Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    queues.set(key, promise);
    await before;
    await take();
    return () => {
      leave();
      resolve();
    };
  }

  return {
    enter(key) {
      if (key !== undefined) return enterKeyed(key);
      return limit === Infinity ? undefined : take().then(() => leave);
    },
  };
}

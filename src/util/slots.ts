/** Gives turns to calls: at most `limit` at a time, and one at a time for calls that share a key. */
export interface Slots {
  /** Waits for a turn; what it resolves with gives the turn back. Undefined when the call can begin at once and needs no turn. */
  enter(key: string | undefined): Promise<() => void> | undefined;
}

/** Makes the slots of a run, without a limit by default. Waiting calls begin in the order in which they came. */
export function slots(limit: number = Infinity): Slots {
  return new TurnSlots(limit);
}

/** A class, since every run has one: its members live once, on the prototype. */
class TurnSlots implements Slots {
  private readonly limit: number;
  private free: number;
  private readonly waiting: (() => void)[] = [];
  /** The end of the last call of each key. Made when a call has a key: few have. */
  private queues: Map<string, Promise<void>> | undefined;

  constructor(limit: number) {
    this.limit = limit;
    this.free = limit;
  }

  enter(key: string | undefined): Promise<() => void> | undefined {
    if (key !== undefined) return this.enterKeyed(key);
    return this.limit === Infinity ? undefined : this.take();
  }

  private async enterKeyed(key: string): Promise<() => void> {
    this.queues ??= new Map();
    const before = this.queues.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.queues.set(key, promise);
    await before;
    const leave = await this.take();
    return () => {
      leave();
      resolve();
    };
  }

  private async take(): Promise<() => void> {
    if (this.free >= 1) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    return () => this.leave();
  }

  private leave(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.free += 1;
    else next();
  }
}

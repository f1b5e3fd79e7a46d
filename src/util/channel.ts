import type { Maybe } from "./maybe.ts";

/** A queue from code that produces to one reader that waits. Nothing is lost: what was pushed is read in order, then the end or the error. */
export interface Channel<Item> extends AsyncIterable<Item> {
  push(item: Item): void;
  /** No more items will come; with an error, the reader gets it after the last item. */
  close(error?: unknown): void;
  /** Takes the next item if it is there already. */
  poll(): Item | undefined;
  /** Waits until there is an item to take; false when no more will come. @throws the error that it was closed with */
  more(): Maybe<boolean>;
}

/**
 * Makes a channel. When more than `mergeAbove` items wait, a new one is offered to `merge` together with the last that waits: what it
 * returns takes the place of both, so that a slow reader costs no memory without end.
 */
export function channel<Item>(
  merge: (last: Item, next: Item) => Item | undefined = () => undefined,
  mergeAbove: number = 256,
): Channel<Item> {
  return new Queue(merge, mergeAbove);
}

/** A class whose items can be taken without a promise: an event costs its reader one. */
class Queue<Item> implements Channel<Item> {
  private readonly merge: (last: Item, next: Item) => Item | undefined;
  private readonly mergeAbove: number;
  private waiting: Item[] = [];
  private read = 0;
  private isClosed = false;
  private failure: { readonly error: unknown } | undefined;
  /** The reader who waits is told whether there is an item. */
  private bell: PromiseWithResolvers<boolean> | undefined;

  constructor(merge: (last: Item, next: Item) => Item | undefined, mergeAbove: number) {
    this.merge = merge;
    this.mergeAbove = mergeAbove;
  }

  push(item: Item): void {
    if (this.isClosed) return;
    const { waiting } = this;
    const last = waiting.at(-1);
    const isBehind = waiting.length - this.read > this.mergeAbove && last !== undefined;
    const merged = isBehind ? this.merge(last, item) : undefined;
    if (merged === undefined) waiting.push(item);
    else waiting[waiting.length - 1] = merged;
    this.takeBell()?.resolve(true);
  }

  close(error?: unknown): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (error === undefined) return this.takeBell()?.resolve(false);
    this.failure = { error };
    this.takeBell()?.reject(error);
  }

  poll(): Item | undefined {
    return this.read < this.waiting.length ? this.take() : undefined;
  }

  more(): Maybe<boolean> {
    if (this.read < this.waiting.length) return true;
    if (this.failure !== undefined) throw this.failure.error;
    if (this.isClosed) return false;
    return (this.bell ??= Promise.withResolvers<boolean>()).promise;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, undefined> {
    while (await this.more()) if (this.read < this.waiting.length) yield this.take();
  }

  private take(): Item {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- taken only while an item waits, and then the last has index 0
    if (this.waiting.length === 1) return this.waiting.pop() as Item; // a reader who keeps up has the list used again
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- taken only while an item waits
    const item = this.waiting[this.read] as Item;
    this.read += 1;
    if (this.read === this.waiting.length || this.read > this.mergeAbove) {
      this.waiting = this.waiting.slice(this.read); // items that were read must not stay alive
      this.read = 0;
    }
    return item;
  }

  private takeBell(): PromiseWithResolvers<boolean> | undefined {
    const { bell } = this;
    this.bell = undefined;
    return bell;
  }
}

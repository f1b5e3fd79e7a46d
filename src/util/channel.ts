/** A reader that waits for one item: one of its functions is called, once. */
interface Taker<Item> {
  readonly item: (item: Item) => void;
  /** No more items will come, because of the error if there is one. */
  readonly end: (failure?: { readonly error: unknown }) => void;
}

/** A queue from code that produces to one reader that waits. Nothing is lost: what was pushed is read in order, then the end or the error. */
export interface Channel<Item> extends AsyncIterable<Item> {
  push(item: Item): void;
  /** No more items will come; with an error, the reader gets it after the last item. */
  close(error?: unknown): void;
  /** Gives the next item, at once if it is there already. It costs no promise: the reader's own promise can be resolved with the item. */
  take(taker: Taker<Item>): void;
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

class Queue<Item> implements Channel<Item> {
  private readonly merge: (last: Item, next: Item) => Item | undefined;
  private readonly mergeAbove: number;
  private waiting: Item[] = [];
  private read = 0;
  private readonly takers: Taker<Item>[] = [];
  private isClosed = false;
  private failure: { readonly error: unknown } | undefined;

  constructor(merge: (last: Item, next: Item) => Item | undefined, mergeAbove: number) {
    this.merge = merge;
    this.mergeAbove = mergeAbove;
  }

  push(item: Item): void {
    if (this.isClosed) return;
    const taker = this.takers.shift();
    if (taker !== undefined) return taker.item(item);
    const { waiting } = this;
    const last = waiting.at(-1);
    const isBehind = waiting.length - this.read > this.mergeAbove && last !== undefined;
    const merged = isBehind ? this.merge(last, item) : undefined;
    if (merged === undefined) waiting.push(item);
    else waiting[waiting.length - 1] = merged;
  }

  close(error?: unknown): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (error !== undefined) this.failure = { error };
    for (const taker of this.takers.splice(0)) taker.end(this.failure);
  }

  take(taker: Taker<Item>): void {
    if (this.read < this.waiting.length) taker.item(this.first());
    else if (this.isClosed) taker.end(this.failure);
    else this.takers.push(taker);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, undefined> {
    for (;;) {
      const next = await new Promise<{ readonly item: Item } | undefined>((resolve, reject) =>
        this.take({
          item: (item) => resolve({ item }),
          end: (failure) => (failure === undefined ? resolve(undefined) : reject(failure.error)),
        }),
      );
      if (next === undefined) return;
      yield next.item;
    }
  }

  private first(): Item {
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
}

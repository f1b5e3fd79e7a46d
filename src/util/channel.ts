/** A queue from code that produces to one reader that waits. Nothing is lost: what was pushed is read in order, then the end or the error. */
export interface Channel<Item> extends AsyncIterable<Item> {
  push(item: Item): void;
  /** No more items will come; with an error, the reader gets it after the last item. */
  close(error?: unknown): void;
}

/**
 * Makes a channel. When more than `mergeAbove` items wait, a new one is offered to `merge` together with the last that waits: what it
 * returns takes the place of both, so that a slow reader costs no memory without end.
 */
export function channel<Item>(
  merge: (last: Item, next: Item) => Item | undefined = () => undefined,
  mergeAbove = 256,
): Channel<Item> {
  let waiting: Item[] = [];
  let read = 0;
  let wake: (() => void) | undefined;
  let closed = false;
  let failure: { readonly error: unknown } | undefined;

  function ring(): void {
    wake?.();
    wake = undefined;
  }

  return {
    push(item) {
      if (closed) return;
      const last = waiting.at(-1);
      const merged = waiting.length - read > mergeAbove && last !== undefined ? merge(last, item) : undefined;
      if (merged === undefined) waiting.push(item);
      else waiting[waiting.length - 1] = merged;
      ring();
    },
    close(error) {
      if (closed) return;
      closed = true;
      if (error !== undefined) failure = { error };
      ring();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (read < waiting.length) yield waiting[read++] as Item;
        waiting = [];
        read = 0;
        if (closed) break;
        await new Promise<void>((resolve) => (wake = resolve));
      }
      if (failure !== undefined) throw failure.error;
    },
  };
}

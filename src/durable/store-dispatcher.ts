import type { Dispatcher, Serving, Workplace } from "./dispatcher.ts";

/** Hands out the runs of a store, oldest first. The store tells its workers of each change. */
export const storeDispatcher: Dispatcher = {
  wake: () => Promise.resolve(),
  serve: (place) => new StoreServing(place),
};

class StoreServing implements Serving {
  private readonly place: Workplace;
  private isOver = false;
  private wantsMore = false;
  private filling: Promise<void> | undefined;

  constructor(place: Workplace) {
    this.place = place;
  }

  /** Takes runs until there are enough, or no more. A call meanwhile causes one more look. */
  look(): void {
    this.wantsMore = true;
    this.filling ??= this.fill().finally(() => this.filled());
  }

  private filled(): void {
    this.filling = undefined;
    if (this.wantsMore) this.look(); // called after the last look
  }

  async leave(): Promise<void> {
    this.isOver = true;
    await this.filling;
  }

  private async fill(): Promise<void> {
    const { place } = this;
    while (this.wantsMore) {
      this.wantsMore = false;
      while (!this.isOver && place.runs.length < place.concurrency)
        if ((await place.begin().catch(() => undefined)) === undefined) break; // a store that fails is asked again at the next look
    }
  }
}

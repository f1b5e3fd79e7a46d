import type { Delta } from "./model.ts";

/** The deltas of a reply that is there whole: they can be awaited one by one like those of any model, or be taken at once. */
export class WholeReply implements AsyncIterable<Delta> {
  readonly deltas: readonly Delta[];

  constructor(deltas: readonly Delta[]) {
    this.deltas = deltas;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Delta, void, undefined> {
    yield* this.deltas;
  }
}

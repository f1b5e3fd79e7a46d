import type { Delta } from "./model.ts";

/** The deltas of a reply that is there whole: they can be awaited one by one like those of any model, or be taken at once. */
export class WholeReply implements AsyncIterable<Delta> {
  readonly deltas: readonly Delta[];

  constructor(deltas: readonly Delta[]) {
    this.deltas = deltas;
  }

  [Symbol.asyncIterator](): AsyncIterator<Delta, undefined> {
    const deltas = this.deltas.values();
    return { next: () => Promise.resolve(deltas.next()) };
  }
}

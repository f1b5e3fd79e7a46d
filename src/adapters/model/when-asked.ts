import type { Delta } from "../../model/model.ts";

/** A stream whose code is loaded when it is first read: a program imports the adapters of all providers, and asks one. */
export async function* whenAsked(open: () => Promise<AsyncIterable<Delta>>): AsyncGenerator<Delta, void> {
  yield* await open();
}

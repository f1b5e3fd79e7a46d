import { mapped } from "./mapped.ts";

/** Begins the work of each item. Returns all values, in order. Throws the first failure in that order, once all work has ended. */
export async function waitForAll<Item, Value>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Value>,
): Promise<Value[]> {
  const begun = mapped(items, work);
  const [only] = begun;
  if (only !== undefined && begun.length === 1) return [await only];
  const ended = await Promise.allSettled(begun);
  return mapped(ended, (each) => {
    if (each.status === "fulfilled") return each.value;
    throw each.reason;
  });
}

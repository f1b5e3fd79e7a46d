/** Reads a generator to its end and gives what it returns. `onItem` is given what it yields; when that throws, the generator is left. */
export async function drain<Item, Result>(
  generator: AsyncGenerator<Item, Result>,
  onItem?: (item: Item) => void,
): Promise<Result> {
  let next = await generator.next();
  try {
    for (; next.done !== true; next = await generator.next()) onItem?.(next.value);
    return next.value;
  } finally {
    // oxlint-disable-next-line typescript/no-confusing-void-expression -- the generator's own clean-up
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the result of a generator that is left is thrown away
    if (next.done !== true) await generator.return(undefined as never);
  }
}

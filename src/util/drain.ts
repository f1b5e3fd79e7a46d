/** Reads a generator to its end and gives what it returns. */
export async function drain<Result>(generator: AsyncGenerator<unknown, Result>): Promise<Result> {
  let next = await generator.next();
  while (next.done !== true) next = await generator.next();
  return next.value;
}

/** The values of all work that is under way, in order. Throws what failed first in that order, once everything has ended. */
export async function waitForAll<Value>(work: readonly Promise<Value>[]): Promise<Value[]> {
  const [only] = work;
  if (only !== undefined && work.length === 1) return [await only];
  const ended = await Promise.allSettled(work);
  return ended.map((each) => {
    if (each.status === "fulfilled") return each.value;
    throw each.reason;
  });
}

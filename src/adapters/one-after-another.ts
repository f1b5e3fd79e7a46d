/** Does work on a thing, by its key, after all earlier work on that thing. */
export type OneAfterAnother = <Value>(key: string, work: () => Promise<Value>) => Promise<Value>;

/** Makes the function that keeps work on the same thing in this process from overlapping. */
export function oneAfterAnother(): OneAfterAnother {
  const latest = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = latest.get(key) ?? Promise.resolve();
    const done = before.then(work, work);
    latest.set(key, done);
    try {
      return await done;
    } finally {
      if (latest.get(key) === done) latest.delete(key);
    }
  };
}

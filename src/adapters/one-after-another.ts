/** Does work on a thing, by its key, when the work on that thing that came before is done. */
export type OneAfterAnother = <Value>(key: string, work: () => Promise<Value>) => Promise<Value>;

/** Makes what keeps work on the same thing in this process from being done at the same time. */
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

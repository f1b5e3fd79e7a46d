/** The memory that answers to one call may take in this process at once. */
export interface AnswerRoom {
  /** Does work that may return this many bytes, once there is room for them. Throws the error of the work. */
  within<Value>(bytes: number, work: () => Promise<Value>): Promise<Value>;
}

const totalBytes = 128_000_000;

/** Makes the room of a call. Work begins in the order of its arrival; work that needs more than the whole room waits for all of it. */
export function answerRoom(): AnswerRoom {
  const waiting: { readonly bytes: number; readonly begin: () => void }[] = [];
  let free = totalBytes;

  function admit(): void {
    for (let next = waiting[0]; next !== undefined && next.bytes <= free; next = waiting[0]) {
      waiting.shift();
      free -= next.bytes;
      next.begin();
    }
  }
  return {
    async within(wanted, work) {
      const bytes = wanted > 0 ? Math.min(wanted, totalBytes) : 0; // the reader refuses a value that is not a number
      const { promise, resolve: begin } = Promise.withResolvers<void>();
      waiting.push({ bytes, begin });
      admit();
      await promise;
      try {
        return await work();
      } finally {
        free += bytes;
        admit();
      }
    },
  };
}

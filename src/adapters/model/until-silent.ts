import { UnreadableReply } from "./http-reply.ts";

/** The longest silence behind the finish reason of a reply, where only token counts and the end of the stream follow. */
const maxSilenceMs = 2_000;

/**
 * The chunks of a reply. One that has its finish reason is whole: a server that then sends nothing, and does not close the connection, or breaks it, has
 * said all. A wait for more would hold up the run, and another request would be paid twice.
 */
export async function* untilSilent<Chunk>(
  chunks: AsyncIterable<Chunk>,
  isFinished: () => boolean,
): AsyncGenerator<Chunk, void> {
  const reading = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await (isFinished() ? orSilence(reading.next()) : reading.next());
      if (next === undefined || next.done === true) return;
      yield next.value;
    }
  } finally {
    reading.return?.().catch(() => undefined); // it may be waiting for a chunk that never comes
  }
}

/** The value, or undefined if it does not come in time, or never will. */
async function orSilence<Value>(coming: Promise<Value>): Promise<Value | undefined> {
  const { promise: silence, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), maxSilenceMs);
  try {
    return await Promise.race([coming, silence]);
  } catch (error) {
    if (error instanceof UnreadableReply) throw error;
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

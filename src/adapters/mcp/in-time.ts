import { waitMs } from "../wait-ms.ts";

/** Bounds of work. */
export interface Bounds {
  /** Milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Name of the work for the error: `the list of tools`. */
  readonly what: string;
}

/** The time was over. */
export class TooSlow extends Error {
  override readonly name: string = "TooSlow";
}

/**
 * The value of work, or an error when its time is over or its signal is aborted, whether the work heeds them or not: clients have been seen to
 * wait for ever. What comes late is dropped.
 */
export async function inTime<Value>(
  work: (signal: AbortSignal) => Promise<Value>,
  { timeoutMs, signal, what }: Bounds,
): Promise<Value> {
  signal?.throwIfAborted();
  const own = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const stop = (): void => end(signal?.reason);
  const end = (reason: unknown): void => {
    reject(reason);
    own.abort(reason);
  };
  const timer = setTimeout(
    () => end(new TooSlow(`${what} took more than ${timeoutMs} ms`)),
    waitMs(timeoutMs),
  );
  signal?.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work(own.signal), ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    ended.catch(() => undefined);
  }
}

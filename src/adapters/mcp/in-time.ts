import { waitMs } from "../wait-ms.ts";

/** Bounds of work. */
export interface Bounds {
  /** The milliseconds that the work may take. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** The name of the work for the error: `the list of tools`. */
  readonly what: string;
}

/** The error of work that took too long. */
export class TooSlow extends Error {
  override readonly name: string = "TooSlow";
}

/**
 * Returns the value of work, or throws when its time is over or its signal is aborted, whether the work heeds them or not: some clients
 * wait forever. A late result is dropped.
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

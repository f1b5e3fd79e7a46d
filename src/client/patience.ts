import { isPassing, ServerError } from "./server-error.ts";

/** The pauses between attempts: each is twice as long as the one before, and at least as long as the server wants. */
export interface Patience {
  /** Called when an attempt went well: the next pause is short again. */
  readonly renew: () => void;
  /** Waits until it may be tried again. @throws the failure, where it will not pass; the reason of the signal */
  readonly wait: (failure: unknown) => Promise<void>;
}

const firstPauseMs = 200;
const longestPauseMs = 10_000;

export function patienceUntil(signal: AbortSignal): Patience {
  let pauseMs = firstPauseMs;
  return {
    renew: () => void (pauseMs = firstPauseMs),
    async wait(failure) {
      signal.throwIfAborted();
      if (failure instanceof ServerError) {
        if (!isPassing(failure.status)) throw failure;
        pauseMs = Math.max(pauseMs, failure.retryAfterMs ?? 0);
      }
      const { promise, resolve: wake } = Promise.withResolvers<unknown>();
      const timer = setTimeout(wake, pauseMs);
      signal.addEventListener("abort", wake);
      await promise;
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      signal.throwIfAborted();
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    },
  };
}

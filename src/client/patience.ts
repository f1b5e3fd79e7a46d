import { ServerError } from "./server-error.ts";

/** The pauses between attempts. Each is twice as long as the one before, plus up to a quarter by chance, and at least as long as the server wants. */
export interface Patience {
  /** Called when an attempt went well: the next pause is short again. */
  readonly renew: () => void;
  /** Waits until it may be tried again. @throws the failure, where it will not pass; the reason of the signal */
  readonly wait: (failure: unknown) => Promise<void>;
}

const firstPauseMs = 200;
const longestPauseMs = 10_000;
/** A connection that broke passes as a server that is away does. */
const passing = 503;
/** The code of what the server itself did wrong. What stands before it has none. */
const ownFault = "server-failed";
/** A server that fails so often in a row will do so for ever: with the pauses between, it had a minute. */
const mostFaults = 12;

export function patienceUntil(signal: AbortSignal): Patience {
  let pauseMs = firstPauseMs;
  let faults = 0;
  return {
    renew() {
      pauseMs = firstPauseMs;
      faults = 0;
    },
    async wait(failure) {
      signal.throwIfAborted();
      const told: Partial<ServerError> = failure instanceof ServerError ? failure : {};
      const { status = passing, code, retryAfterMs = 0 } = told;
      faults = code === ownFault ? faults + 1 : 0;
      if ((status !== 429 && status < 500) || faults === mostFaults) throw failure;
      const spreadMs = pauseMs * (1 + Math.random() / 4); // clients that a server lost together come back one by one
      const { promise, resolve: wake } = Promise.withResolvers<unknown>();
      const timer = setTimeout(wake, Math.max(spreadMs, retryAfterMs));
      signal.addEventListener("abort", wake);
      await promise;
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      signal.throwIfAborted();
      pauseMs = Math.min(Math.max(pauseMs, retryAfterMs) * 2, longestPauseMs);
    },
  };
}

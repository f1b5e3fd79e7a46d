import { ServerError } from "./server-error.ts";

/** The pauses between attempts. Each is twice as long as the last, up to 10 s, plus up to a quarter by chance; and at least as long as the server wants. */
export interface Patience {
  /** Called after a successful attempt: the next pause is short again. */
  readonly renew: () => void;
  /** Waits until the next attempt may be made. @throws the failure, if waiting does not help; the reason of the signal */
  readonly wait: (failure: unknown) => Promise<void>;
}

const firstPauseMs = 200;
const longestPauseMs = 10_000;
/** The status assumed for a broken connection: it is retried like a server that is away. */
const passing = 503;
/** The code of a fault of the server itself. Answers of proxies before the server have no code. */
const ownFault = "server-failed";
/** The number of such faults in a row after which the client gives up. With the pauses between, the server had a minute. */
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
      const spreadMs = pauseMs * (1 + Math.random() / 4); // clients that lost a server together come back one by one
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

import { isWritError, type WritError } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import type { Delta, Model, ModelRequest, StreamOptions } from "./model.ts";

/** How often, and after what time, a model is asked again. */
export interface RetryOptions {
  /** Requests in all, the first among them. Default 3. */
  readonly attempts?: number;
  /** Milliseconds before the second request; each later wait is twice as long. Default 250. */
  readonly firstDelayMs?: number;
  /** The longest wait in milliseconds. A provider that asks for a longer one is not asked again. Default 30 000. */
  readonly maxDelayMs?: number;
  /** Told before each wait. */
  readonly onRetry?: (retry: ModelRetry) => void;
}

/** A request that failed and will be made again. */
export interface ModelRetry {
  /** Which request failed, from 1. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: WritError;
}

/** A model that is asked again. `adapters/with-retry.ts` has the one for Node, under the name `withRetry`, and documents it. */
export function retrying(model: Model, options: RetryOptions, host: Pick<Host, "timer">): Model {
  const { attempts = 3, onRetry } = options;
  return {
    id: model.id,
    get features() {
      return model.features; // some models only know them late
    },
    price: model.price,
    endpoint: model.endpoint,
    async *stream(request, streaming) {
      for (let attempt = 1; ; attempt += 1) {
        const failed = yield* untilFailed(model, request, streaming);
        if (failed === undefined) return;
        const { error } = failed;
        const delayMs = failed.began || attempt >= attempts ? undefined : delayOf(error, attempt, options);
        if (delayMs === undefined || streaming.signal.aborted) throw error;
        onRetry?.({ attempt, delayMs, error: error as WritError });
        await pause(delayMs, streaming.signal, host);
        if (streaming.signal.aborted) throw error;
      }
    },
  };
}

interface Failed {
  readonly error: unknown;
  /** A part of the reply was there already, and may have been acted on. */
  readonly began: boolean;
}

async function* untilFailed(
  model: Model,
  request: ModelRequest,
  options: StreamOptions,
): AsyncGenerator<Delta, Failed | undefined> {
  let began = false;
  try {
    for await (const delta of model.stream(request, options)) {
      began = true;
      yield delta;
    }
    return undefined;
  } catch (error) {
    return { error, began };
  }
}

/** How long to wait after the failed attempt; undefined when asking again is no use. */
function delayOf(
  error: unknown,
  attempt: number,
  { firstDelayMs = 250, maxDelayMs = 30_000 }: RetryOptions,
): number | undefined {
  if (!isWritError(error) || !error.retryable || isTimeout(error)) return undefined;
  const wanted = error.retryAfterMs ?? 0;
  return wanted > maxDelayMs
    ? undefined
    : Math.max(wanted, Math.min(firstDelayMs * 2 ** (attempt - 1), maxDelayMs));
}

/** Whether time ran out, here or in what the adapter was built on. Waiting as long once more would only use up the time of the run. */
function isTimeout(error: unknown, depth = 0): boolean {
  if (typeof error !== "object" || error === null || depth > 5) return false;
  const { name, code, cause }: { name?: unknown; code?: unknown; cause?: unknown } = error;
  if (name === "TimeoutError" || name === "AbortError") return true;
  return (typeof code === "string" && /TIMEOUT|TIMEDOUT/.test(code)) || isTimeout(cause, depth + 1);
}

/** Ends early when the request is aborted. */
async function pause(delayMs: number, signal: AbortSignal, host: Pick<Host, "timer">): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stopTimer = host.timer(delayMs, () => resolve());
  const abort = (): void => resolve();
  signal.addEventListener("abort", abort, { once: true });
  await promise;
  stopTimer();
  signal.removeEventListener("abort", abort);
}

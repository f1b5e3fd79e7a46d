import { isWritError, WritError } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import { asSentence } from "../util/as-sentence.ts";
import { fingerprint } from "../util/hash.ts";
import { fieldMeant } from "../error/other-words.ts";
import { type Interrupt, interruptBy, untilStopped } from "../util/interrupt.ts";
import type { Delta, Model, ModelRequest, StreamOptions } from "./model.ts";

/** The number of requests to a model, and the time between them. */
export interface RetryPace {
  /** The number of requests in all, including the first. Default 3. */
  readonly attempts?: number;
  /** Milliseconds before the second request; each later wait is twice as long. Default 250. */
  readonly firstDelayMs?: number;
  /** The longest wait in milliseconds. If a provider asks for a longer one, there is no retry. Default 30 000. */
  readonly maxDelayMs?: number;
}

/** The pace of a model that retries by itself. */
export interface RetryOptions extends RetryPace {
  /** Called before each wait. */
  readonly onRetry?: (retry: ModelRetry) => void;
}

/** A failed request that will be retried. */
export interface ModelRetry {
  /** The number of the failed request, from 1. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: WritError;
}

/** The field of a pace that is not a number of attempts or of milliseconds, with what it must be; undefined if there is none. */
export function paceFault({
  attempts = 1,
  firstDelayMs = 0,
  maxDelayMs = 0,
}: RetryPace):
  | { readonly field: keyof RetryPace; readonly value: number; readonly must: string }
  | undefined {
  if (!Number.isInteger(attempts) || attempts < 1)
    return { field: "attempts", value: attempts, must: "a whole number from 1 on" };
  const delays = { firstDelayMs, maxDelayMs };
  for (const field of ["firstDelayMs", "maxDelayMs"] as const)
    if (typeof delays[field] !== "number" || !(delays[field] >= 0))
      return { field, value: delays[field], must: "milliseconds, from 0 on" };
  return undefined;
}

const paceFields: readonly string[] = [
  "attempts",
  "firstDelayMs",
  "maxDelayMs",
] satisfies (keyof RetryPace)[];

/** The author's pace, after a check. @throws WritError `definition-invalid` */
export function checkedRetry(retry: RetryPace | false, where: string): RetryPace | false {
  if (retry === false) return retry;
  const fault = paceFault(retry);
  const unknown = Object.keys(retry).find((field) => !paceFields.includes(field));
  if (unknown !== undefined) {
    const reason = `there is no \`retry.${unknown}\`${fieldMeant(unknown, { known: paceFields, given: retry }) || `: ${paceFields.join(", ")}`}`;
    throw new WritError("definition-invalid", { where, reason: asSentence(reason) });
  }
  if (fault === undefined) return retry;
  const { field, value, must } = fault;
  const reason = `\`retry.${field}\` must be ${must}, and is ${String(value)}.`;
  throw new WritError("definition-invalid", { where, reason });
}

/** A model that retries. `adapters/with-retry.ts` makes the one for Node, under the name `withRetry`, and documents it. */
export function retrying(model: Model, options: RetryOptions, host: Pick<Host, "timer">): Model {
  const { onRetry } = options;
  return {
    id: model.id,
    get features() {
      return model.features; // some models know them late
    },
    settings: model.settings,
    get price() {
      return model.price; // a list price is looked up when it is read
    },
    get endpoint() {
      return model.endpoint;
    },
    retries: true,
    async *stream(request, streaming) {
      for (let attempt = 1; ; attempt += 1) {
        const failed = yield* untilFailed(model, request, streaming);
        if (failed === undefined) return;
        const { error } = failed;
        const delayMs = failed.began ? undefined : retryDelay(error, attempt, options);
        if (delayMs === undefined || streaming.signal.aborted || !isWritError(error)) throw error;
        onRetry?.({ attempt, delayMs, error });
        const { stop, unlink } = interruptBy(streaming.signal);
        await pause(delayMs, { host, stop });
        unlink();
        if (streaming.signal.aborted) throw error;
      }
    },
  };
}

interface Failed {
  readonly error: unknown;
  /** True if a part of the reply had come already, which may have been acted on. */
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

/** The model and the pace of a question without effect until its reply is whole. */
export interface Asking {
  readonly model: Model;
  /** `false`: one request. */
  readonly retry: RetryPace | false;
  readonly host: Pick<Host, "timer" | "randomId">;
  readonly stop: Interrupt<unknown>;
}

/**
 * Asks, and retries if that can help. @throws the last error of `ask`, with the number of attempts in its data if there were several;
 * the reason of a stop during a wait
 */
export async function askPatiently<Value>(
  ask: () => Promise<Value>,
  { model, retry, host, stop }: Asking,
): Promise<Value> {
  const pace = paceWith(model, retry);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      const delayMs = pace === undefined ? undefined : retryDelay(error, attempt, pace);
      if (stop.reason !== undefined || !isWritError(error)) throw error;
      if (delayMs === undefined) throw afterAttempts(error, attempt);
      await pause(spread(delayMs, host), { host, stop });
      if (stop.reason !== undefined) throw stop.reason as Error;
    }
  }
}

/**
 * The pace of a model. Undefined: one request, because the author wants it so, or because the model
 * retries by itself and attempts would multiply.
 */
export function paceWith(
  { retries }: Pick<Model, "retries">,
  retry: RetryPace | false,
): RetryPace | undefined {
  return retry === false || retries === true ? undefined : retry;
}

/** The wait after the failed attempt, in milliseconds; undefined if a retry is useless. */
export function retryDelay(
  error: unknown,
  attempt: number,
  { attempts = 3, firstDelayMs = 250, maxDelayMs = 30_000 }: RetryPace,
): number | undefined {
  if (attempt >= attempts || !isWritError(error) || !error.retryable || isTimeout(error)) return undefined;
  const wanted = error.retryAfterMs ?? 0;
  return wanted > maxDelayMs
    ? undefined
    : Math.max(wanted, Math.min(firstDelayMs * 2 ** (attempt - 1), maxDelayMs));
}

/** The wait plus up to a quarter: runs that failed together do not retry together. */
export function spread(delayMs: number, host: Pick<Host, "randomId">): number {
  const random = (Number.parseInt(fingerprint(host.randomId()), 36) % 1000) / 1000;
  return Math.round(delayMs * (1 + random / 4));
}

/** The error of the last of several attempts, with their number; the error of a first attempt as it is. */
export function afterAttempts(error: WritError, attempts: number): WritError {
  if (attempts === 1) return error;
  const { code, data, retryable, retryAfterMs } = error;
  return new WritError(code, data, { cause: error, retryable, retryAfterMs, attempts });
}

/**
 * True for a time-out, here or in a library of the adapter. Another wait of the same length
 * would only use up the time of the run.
 */
function isTimeout(error: unknown, depth = 0): boolean {
  if (typeof error !== "object" || error === null || depth > 5) return false;
  const { name, code, cause }: { name?: unknown; code?: unknown; cause?: unknown } = error;
  if (name === "TimeoutError" || name === "AbortError") return true;
  return (typeof code === "string" && /TIMEOUT|TIMEDOUT/.test(code)) || isTimeout(cause, depth + 1);
}

/** Waits. Ends early on a stop. */
export async function pause(delayMs: number, { host, stop }: Pausing): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stopTimer = host.timer(delayMs, resolve);
  await untilStopped(promise, stop);
  stopTimer();
}

interface Pausing {
  readonly host: Pick<Host, "timer">;
  readonly stop: Interrupt<unknown>;
}

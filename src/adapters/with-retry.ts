import type { ModelSource } from "../agent/definition.ts";
import { WritError } from "../error/writ-error.ts";
import type { Model } from "../model/model.ts";
import { retrying, type RetryOptions } from "../model/retry.ts";
import { nodeHost } from "./clock.ts";
import { resolveModel } from "./model/resolve.ts";

/**
 * A model that is asked again when its provider cannot be reached or is overloaded; a run sees one turn of it. Only errors that
 * are `retryable` count, and only before the first piece of the reply came; a time-out and an abort never do. The wait that a provider asks
 * for (`Retry-After`) is kept. When the attempts are used up, the last error is thrown as it is.
 *
 * @throws WritError `option-invalid`, and what a name of a model can be wrong with: `model-invalid`, `model-name-invalid`
 * @example
 * ```ts
 * import { agent, withRetry } from "writ";
 *
 * export const patient = agent({
 *   name: "patient",
 *   model: withRetry("ollama/qwen2.5:7b", {
 *     attempts: 4,
 *     onRetry: ({ attempt, delayMs, error }) => console.error(`${error.message} Again in ${delayMs} ms (${attempt}).`),
 *   }),
 * });
 * ```
 */
export function withRetry(model: ModelSource, options: RetryOptions = {}): Model {
  const { attempts = 1, firstDelayMs = 0, maxDelayMs = 0 } = options;
  if (!Number.isInteger(attempts) || attempts < 1)
    throw invalid("attempts", attempts, "Give a whole number from 1 on.");
  for (const [option, value] of Object.entries({ firstDelayMs, maxDelayMs }))
    if (!(value >= 0)) throw invalid(option, value, "Give milliseconds, from 0 on.");
  return retrying(resolveModel(model, "withRetry"), options, nodeHost);
}

function invalid(option: string, value: number, advice: string): WritError<"option-invalid"> {
  return new WritError("option-invalid", { option: `withRetry ${option}`, value: String(value), advice });
}

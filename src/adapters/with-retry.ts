import type { ModelSource } from "../agent/definition.ts";
import { WritError } from "../error/writ-error.ts";
import type { Model } from "../model/model.ts";
import { paceFault, retrying, type RetryOptions } from "../model/retry.ts";
import { nodeHost } from "./clock.ts";
import { resolveModel } from "./model/resolve.ts";
import { checkShape, closed } from "../error/check-shape.ts";
import { anything, callable, optional } from "../util/shape.ts";

/**
 * Makes a model that asks again by itself if its provider cannot be reached or is overloaded. Use it for functions of your own that ask a model.
 * Runs, `chat` and the other doors ask again by themselves (`retry`). They do not add retries to such a model, so attempts do not multiply. It retries only
 * `retryable` errors, and only before the first piece of the reply; it never retries a time-out or an abort. It waits as long as the provider asks
 * (`Retry-After`). After the last attempt it throws the last error unchanged.
 *
 * @throws WritError `definition-invalid` for an unknown option, `option-invalid`, and for a wrong name of a model `model-invalid`, `model-name-invalid`
 * @example
 * ```ts
 * import { chat } from "writ/doors";
 * import { withRetry } from "writ/models";
 *
 * const patient = withRetry("ollama/qwen2.5:7b", {
 *   attempts: 4,
 *   onRetry: ({ attempt, delayMs, error }) => console.error(`${error.message} Again in ${delayMs} ms (${attempt}).`),
 * });
 * export const { text } = await chat({ model: patient, messages: "Hello" });
 * ```
 */
export function withRetry(model: ModelSource, options: RetryOptions = {}): Model {
  checkShape("withRetry()", options, shape);
  const fault = paceFault(options);
  if (fault !== undefined) {
    const { field, value, must } = fault;
    const option = `withRetry ${field}`;
    throw new WritError("option-invalid", { option, value: String(value), advice: `Give ${must}.` });
  }
  return retrying(resolveModel(model, "withRetry"), options, nodeHost);
}

const shape = closed({
  attempts: anything,
  firstDelayMs: anything,
  maxDelayMs: anything,
  onRetry: optional(callable),
});

import { WritError } from "../../error/writ-error.ts";

/** A model inside the process cannot answer, and could not the next time. */
export function llamaFailed(model: string, reason: string, cause?: unknown): WritError<"provider-failed"> {
  return new WritError(
    "provider-failed",
    { provider: "llama-cpp", model, reason },
    { cause, retryable: false },
  );
}

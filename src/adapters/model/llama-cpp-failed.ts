import { WritError } from "../../error/writ-error.ts";

/** The error of a model inside the process that cannot answer, and could not the next time either. */
export function llamaFailed(model: string, reason: string, cause?: unknown): WritError<"provider-failed"> {
  return new WritError(
    "provider-failed",
    { provider: "llama-cpp", model, reason },
    { cause, retryable: false },
  );
}

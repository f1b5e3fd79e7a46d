import { catalogue, type ErrorCode } from "../error/codes.ts";
import { WritError } from "../error/writ-error.ts";
import type { Outcome } from "../event/outcome.ts";
import { exhausted } from "../run/end.ts";

/** The error of a run whose outcome was kept, and not its error: with the code and the words that it had. Undefined for an answer. */
export function outcomeError(outcome: Outcome, agent: string): Error | undefined {
  if (outcome.type === "answered" || outcome.type === "suspended") return undefined;
  if (outcome.type === "cancelled")
    return new WritError("run-cancelled", { name: agent, reason: outcome.reason });
  if (outcome.type === "exhausted") return exhausted({ gate: { agent } }, outcome).error;
  return keptError(outcome);
}

/** The values in the places of the advice were not kept: the page of the code stands in for it. */
function keptError({ code, message }: { readonly code: string; readonly message: string }): Error {
  const error = new Error(message);
  if (!isKnown(code)) return error;
  const { hint, retryable } = catalogue[code];
  const advice = hint.includes("{") ? "The page of this code says what to do." : hint;
  return Object.assign(error, { name: "WritError", code, data: {}, hint: advice, retryable });
}

function isKnown(code: string): code is ErrorCode {
  return Object.hasOwn(catalogue, code);
}

import { causesOf } from "../error/causes.ts";
import type { ErrorCode } from "../error/codes.ts";
import { isWritError } from "../error/writ-error.ts";
import type { Excess } from "../policy/account/budget.ts";
import { excessOf } from "../run/end.ts";

/**
 * The reason why a call ends its run, whatever the model would do with the result. Plain data, since a
 * journal keeps it.
 */
export type Fatal =
  | { readonly type: "failed"; readonly code: FatalCode; readonly reason: string; readonly severity?: string }
  | { readonly type: "exhausted"; readonly excess: Excess };

/** Errors that a tool can throw to end the run. */
export type FatalCode = Extract<ErrorCode, "tool-failed" | "tool-escalated" | "tool-unrecoverable">;

/**
 * Tells whether a thrown error ends the run: a run inside the tool ran out of budget, or a fixer's tool gave up. It looks into causes, since
 * code in between wraps the errors that it catches.
 */
export function fatalOf(thrown: unknown): Fatal | undefined {
  for (const error of causesOf(thrown)) {
    if (isWritError(error, "budget-exhausted") || isWritError(error, "account-exhausted"))
      return { type: "exhausted", excess: excessOf(error) };
    if (isWritError(error, "tool-escalated"))
      return {
        type: "failed",
        code: error.code,
        reason: String(error.data.reason),
        severity: String(error.data.severity),
      };
    if (isWritError(error, "tool-unrecoverable"))
      return { type: "failed", code: error.code, reason: String(error.data.reason) };
  }
  return undefined;
}

/**
 * Tells whether a thrown error says that a bound on nested runs was met: no recovery may swallow it, but the model is told and the
 * run goes on.
 */
export function isDelegationBound(thrown: unknown): boolean {
  return causesOf(thrown).some(
    (error) => isWritError(error, "delegation-exhausted") || isWritError(error, "delegation-too-deep"),
  );
}

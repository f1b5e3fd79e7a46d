import type { Outcome } from "../event/outcome.ts";

/** The end of a run that met a bound, in words for its caller. */
export function boundText(outcome: Extract<Outcome, { readonly type: "exhausted" | "suspended" }>): string {
  return outcome.type === "exhausted"
    ? `The run ${outcome.message}.`
    : `The run is suspended: ${outcome.field}.`;
}

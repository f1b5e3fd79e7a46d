import type { Check } from "./check.ts";
import type { CostBounds } from "./eval-case.ts";
import type { EvaluatedRun } from "./eval-report.ts";

const spent: { readonly [Field in keyof CostBounds]-?: (run: EvaluatedRun) => number | undefined } = {
  turns: ({ turns }) => turns,
  toolCalls: ({ calls }) => calls.length,
  tokens: ({ usage }) => usage.inputTokens + usage.outputTokens,
  costUsd: ({ costUsd }) => costUsd,
  durationMs: ({ durationMs }) => durationMs,
};

/** Checks of what a run took. */
export function costChecks(bounds: CostBounds): Check[] {
  return Object.entries({ ...bounds }).map(([field, bound]) => ({
    path: ["atMost", field],
    fault(run) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is a field of the bounds
      const took = spent[field as keyof CostBounds](run);
      if (took === undefined) return "the model has no price: give the agent `budget.price`";
      return took <= bound ? undefined : `${field} were ${took}, and ${bound} are allowed`;
    },
  }));
}

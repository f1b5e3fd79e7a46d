import type { JSX } from "preact";
import type { InspectedBudget } from "../view.ts";
import { durationText } from "./words.ts";

const names: Readonly<Record<string, string>> = {
  turns: "turns",
  toolCalls: "calls",
  tokens: "tokens",
  costUsd: "cost",
  durationMs: "time",
};

function amount(field: string, count: number): string {
  if (field === "durationMs") return durationText(count);
  return field === "costUsd" ? `$${count.toFixed(count < 0.1 ? 4 : 2)}` : count.toLocaleString("en");
}

/** The use of each bound. A bound without a limit shows only its amount. */
export function Budgets({ budgets }: { readonly budgets: readonly InspectedBudget[] }): JSX.Element {
  return (
    <ul class="budgets" aria-label="Budgets">
      {budgets.map(({ field, used, limit }) => {
        const part = limit === undefined ? 0 : Math.min(1, used / limit);
        const text = `${amount(field, used)}${limit === undefined ? "" : ` of ${amount(field, limit)}`}`;
        return (
          <li key={field}>
            <span class="quiet">{names[field] ?? field}</span> <span class="amount">{text}</span>
            {limit !== undefined && (
              <span
                class="gauge"
                role="meter"
                aria-label={`${names[field] ?? field}: ${text}`}
                aria-valuemin={0}
                aria-valuemax={limit}
                aria-valuenow={Math.min(used, limit)}
              >
                <span class={part >= 0.8 ? "fill near" : "fill"} style={{ width: `${part * 100}%` }} />
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}

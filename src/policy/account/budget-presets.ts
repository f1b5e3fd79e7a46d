import type { Budget } from "./budget.ts";

/**
 * Budgets to begin with. Replace single fields by spreading: `{ ...budgets.interactive, turns: 4 }`.
 *
 * @example
 * ```ts
 * import { agent, budgets } from "writ";
 *
 * export const clerk = agent({ name: "clerk", model: "ollama/qwen2.5:7b", budget: { ...budgets.interactive, turns: 4 } });
 * ```
 */
export const budgets: Readonly<Record<"interactive" | "background", Budget>> = {
  /** A person waits for the answer: half a minute, and at most ten seconds for a tool. */
  interactive: {
    durationMs: 30_000,
    tokens: 8_000,
    toolCalls: 16,
    toolMs: 10_000,
    sameToolInARow: 4,
  },
  /** Nobody waits: ten minutes and more room, with the same checks for runs that go in circles. */
  background: {
    turns: 20,
    durationMs: 600_000,
    tokens: 100_000,
    toolCalls: 64,
    toolMs: 30_000,
    sameToolInARow: 5,
  },
};

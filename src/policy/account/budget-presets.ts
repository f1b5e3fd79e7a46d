import type { Budget } from "./budget.ts";

/**
 * Bounds to begin with. Their fields are replaced by spreading them: `{ ...budgets.interactive, turns: 4 }`.
 *
 * @example
 * ```ts
 * import { agent, budgets } from "writ";
 *
 * export const clerk = agent({ name: "clerk", model: "ollama/qwen2.5:7b", budget: { ...budgets.interactive, turns: 4 } });
 * ```
 */
export const budgets: Readonly<Record<"interactive" | "background", Budget>> = {
  /** A person waits for the answer: half a minute, and no tool may hold it up for longer than ten seconds. */
  interactive: {
    durationMs: 30_000,
    tokens: 8_000,
    toolCalls: 16,
    toolMs: 10_000,
    sameToolInARow: 4,
  },
  /** Nobody waits: ten minutes and more room, with the same care for runs that go round in circles. */
  background: {
    turns: 20,
    durationMs: 600_000,
    tokens: 100_000,
    toolCalls: 64,
    toolMs: 30_000,
    sameToolInARow: 5,
  },
};

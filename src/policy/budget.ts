import { WritError } from "../error/writ-error.ts";
import type { Usage } from "../message/usage.ts";

/** What bounds a run. Each bound is enforced; a bound left out has the default named here. */
export interface Budget {
  /** Replies of the model. Default 8. */
  readonly turns?: number;
  /** Calls of tools, refused and failed ones among them. Default 32. */
  readonly toolCalls?: number;
  /** Milliseconds from the start of the run. Default 300 000. */
  readonly durationMs?: number;
  /** Tokens in and out, over all turns; checked before each model call, which may then write no more than what is left. Default none. */
  readonly tokens?: number;
  /** Dollars, checked like tokens. Needs a known price. Default none. */
  readonly costUsd?: number;
  /** Milliseconds of one call, for tools without a time-out of their own. Default none. */
  readonly toolMs?: number;
  /** How often one tool may be called in a row. Default none. */
  readonly sameToolInARow?: number;
  /** UTF-8 bytes of the arguments of one call. Default none. */
  readonly argumentBytes?: number;
  /** UTF-8 bytes of one result that the model is shown; the rest is cut off, and the model is told so. Default none. */
  readonly resultBytes?: number;
  /** Dollars for a usage, when the model's adapter does not know its price. */
  readonly price?: (usage: {
    readonly inputTokens: number;
    readonly outputTokens: number;
  }) => number | undefined;
}

/** A field of a budget that is a bound. */
export type BudgetField = Exclude<keyof Budget, "price">;

/** The bounds of a run with the defaults filled in; `Infinity` where there is none. */
export type Limits = Readonly<Record<BudgetField, number>>;

const defaults: Limits = {
  turns: 8,
  toolCalls: 32,
  durationMs: 300_000,
  tokens: Infinity,
  costUsd: Infinity,
  toolMs: Infinity,
  sameToolInARow: Infinity,
  argumentBytes: Infinity,
  resultBytes: Infinity,
};

/**
 * Fills in the defaults.
 *
 * @throws WritError `budget-invalid` for a bound that is not a positive number, or a field that does not exist.
 */
export function limitsOf(budget: Budget, name: string): Limits {
  const limits: Record<BudgetField, number> = { ...defaults };
  for (const [field, value] of Object.entries(budget)) {
    if (field === "price" || value === undefined) continue;
    if (!Object.hasOwn(defaults, field) || typeof value !== "number" || !(value > 0)) {
      throw new WritError("budget-invalid", { name, field, value: String(value) });
    }
    limits[field as BudgetField] = value;
  }
  return limits;
}

/** What was reserved and spent so far. A value: reserving gives a new one. */
export interface Ledger {
  readonly turns: number;
  readonly toolCalls: number;
  readonly tokens: number;
  readonly costUsd: number;
  readonly lastTool: string;
  readonly sameToolInARow: number;
}

/** Nothing spent. */
export const emptyLedger: Ledger = {
  turns: 0,
  toolCalls: 0,
  tokens: 0,
  costUsd: 0,
  lastTool: "",
  sameToolInARow: 0,
};

/** Which bound was met, and in words: `exceeded budget of 8 turns`. */
export interface Excess {
  readonly field: BudgetField;
  readonly limit: number;
  readonly used: number;
  readonly message: string;
}

/** The ledger with the reservation in it, or the bound that forbids it. */
export type Reservation =
  | { readonly ok: true; readonly ledger: Ledger }
  | { readonly ok: false; readonly excess: Excess };

/** Reserves one model call. Everything spent before counts; the time is what has passed since the run began. */
export function reserveTurn(ledger: Ledger, limits: Limits, elapsedMs: number): Reservation {
  if (ledger.turns >= limits.turns) {
    return exceeded("turns", limits, {
      used: ledger.turns,
      message: `exceeded budget of ${limits.turns} turns`,
    });
  }
  if (elapsedMs >= limits.durationMs) return tooLong(limits, elapsedMs);
  if (ledger.tokens >= limits.tokens) {
    const message = `exceeded token budget of ${limits.tokens} (${ledger.tokens} used)`;
    return exceeded("tokens", limits, { used: ledger.tokens, message });
  }
  if (ledger.costUsd >= limits.costUsd) {
    const used = ledger.costUsd === Infinity ? "the price is unknown" : `$${ledger.costUsd.toFixed(6)} used`;
    const message = `exceeded cost budget of $${limits.costUsd} (${used})`;
    return exceeded("costUsd", limits, { used: ledger.costUsd, message });
  }
  return { ok: true, ledger: { ...ledger, turns: ledger.turns + 1 } };
}

/** Reserves one call of a tool. */
export function reserveCall(
  ledger: Ledger,
  limits: Limits,
  call: { readonly tool: string; readonly argumentBytes: number },
): Reservation {
  if (ledger.toolCalls >= limits.toolCalls) {
    return exceeded("toolCalls", limits, {
      used: ledger.toolCalls,
      message: `exceeded tool-call budget of ${limits.toolCalls}`,
    });
  }
  const inARow = ledger.lastTool === call.tool ? ledger.sameToolInARow + 1 : 1;
  if (inARow > limits.sameToolInARow) {
    const message = `called tool '${call.tool}' ${inARow} times in a row, more than the budget of ${limits.sameToolInARow}`;
    return exceeded("sameToolInARow", limits, { used: inARow, message });
  }
  if (call.argumentBytes > limits.argumentBytes) {
    const message = `gave tool '${call.tool}' ${call.argumentBytes} bytes of arguments, more than the budget of ${limits.argumentBytes}`;
    return exceeded("argumentBytes", limits, { used: call.argumentBytes, message });
  }
  return {
    ok: true,
    ledger: { ...ledger, toolCalls: ledger.toolCalls + 1, lastTool: call.tool, sameToolInARow: inARow },
  };
}

/** Books what a model call used. An unknown price is booked as endless when dollars are bounded: it is never taken for zero. */
export function spend(
  ledger: Ledger,
  limits: Limits,
  { usage, costUsd = limits.costUsd === Infinity ? 0 : Infinity }: Spent,
): Ledger {
  return {
    ...ledger,
    tokens: ledger.tokens + usage.inputTokens + usage.outputTokens,
    costUsd: ledger.costUsd + costUsd,
  };
}

/** What one model call used; `costUsd` is left out when nobody knows it. */
export interface Spent {
  readonly usage: Usage;
  readonly costUsd?: number;
}

/** The reservation that fails because the run took too long. */
export function tooLong(limits: Limits, elapsedMs: number): { readonly ok: false; readonly excess: Excess } {
  const message = `exceeded duration budget of ${limits.durationMs} ms`;
  return exceeded("durationMs", limits, { used: elapsedMs, message });
}

function exceeded(
  field: BudgetField,
  limits: Limits,
  found: { readonly used: number; readonly message: string },
): { readonly ok: false; readonly excess: Excess } {
  return { ok: false, excess: { field, limit: limits[field], used: found.used, message: found.message } };
}

import { fieldMeant } from "../../error/other-words.ts";
import { WritError } from "../../error/writ-error.ts";
import { asSentence } from "../../util/as-sentence.ts";
import type { Price, Usage } from "../../message/usage.ts";
import { countInside, type ToolUse } from "./constraints.ts";
import { shownValue } from "../../util/shape.ts";

/** The bounds of a run. Each is enforced; one that is left out has the default named here. */
export interface Budget {
  /** Replies of the model. Default 8. */
  readonly turns?: number;
  /** Calls of tools, including refused and failed ones. Default 32. */
  readonly toolCalls?: number;
  /** Milliseconds from the start of the run. Default 300 000. */
  readonly durationMs?: number;
  /** Tokens in and out, over all turns; checked before each model call, which may then write only what is left. Default none. */
  readonly tokens?: number;
  /** Dollars; checked before each model call, which may then write only what the rest pays for, and 256 tokens at least. Needs a known price. Default none. */
  readonly costUsd?: number;
  /** Milliseconds of one call, for tools without a time-out of their own. Default none. */
  readonly toolMs?: number;
  /** Calls of one tool in a row. Default none. */
  readonly sameToolInARow?: number;
  /**
   * Times that the same calls may bring the same results, in a row or in circles of two or three
   * turns. At that number the model is told, at the next its calls are refused, and then the run ends. Calls with
   * different results do not count. Default 3; `Infinity` for no bound.
   */
  readonly repeats?: number;
  /** Levels of agents that call agents: a run inside another one has the depth 1. Default 3. */
  readonly depth?: number;
  /** Questions that the code of tools asks the run's model with `llm`, since the run began or was resumed. Default 100. */
  readonly llmCalls?: number;
  /** UTF-8 bytes of the arguments of one call. Default none. */
  readonly argumentBytes?: number;
  /**
   * UTF-8 bytes of one result that the model is shown. It is told that the rest is left out, and can read it with the tool `read_result`, which
   * it is offered from then on. Default 65 536, about 16 000 tokens; `Infinity` shows everything. Files of a result that do not fit are left out;
   * by default they have 20 000 000 bytes of their own.
   */
  readonly resultBytes?: number;
  /** The fraction of a bound, between 0 and 1, at which `budget-threshold` is told. Default 0.8. */
  readonly warnAt?: number;
  /** Dollars for a usage, if the model's adapter does not know its price, or charges none: a function that asks a model with a price. */
  readonly price?: Price;
}

/** A field of a budget that is a bound. */
export type BudgetField = Exclude<keyof Budget, "price" | "warnAt">;

/** The bounds of a run with the defaults filled in; `Infinity` for a bound that is not set. */
export type Limits = Readonly<Record<BudgetField, number>>;

/** About 16 000 tokens: a longer result would be paid for again in each turn. */
export const defaultResultBytes = 65_536;

/** The limit of the files of one result, beside its text: as much as the most restrictive of the large providers accepts in a request. */
export const defaultFileBytes = 20_000_000;

const defaults: Limits = {
  turns: 8,
  toolCalls: 32,
  durationMs: 300_000,
  tokens: Infinity,
  costUsd: Infinity,
  toolMs: Infinity,
  sameToolInARow: Infinity,
  repeats: 3,
  depth: 3,
  llmCalls: 100,
  argumentBytes: Infinity,
  resultBytes: defaultResultBytes,
};

const inParts = "Give a part of a bound: a number above 0, and 1 at most.";
const asPrice = "Give a function from a usage to dollars: `price: ({ inputTokens, outputTokens }) => …`.";

function adviceFor(field: string, budget: Budget): string {
  if (isBound(field)) return "Give a positive number, or leave the field out for its default.";
  const known = Object.keys(defaults);
  return asSentence(
    `There is no such bound${fieldMeant(field, { known, given: budget }) || `. There are: ${known.join(", ")}`}`,
  );
}

/**
 * Fills in the defaults.
 *
 * @throws WritError `budget-invalid` for a bound that is not a positive number, a price that is not a function, or an unknown field
 */
export function limitsOf(budget: Budget, name: string): Limits {
  const { warnAt } = budget;
  if (warnAt !== undefined && !(warnAt > 0 && warnAt <= 1))
    throw new WritError("budget-invalid", {
      name,
      field: "warnAt",
      value: shownValue(warnAt),
      advice: inParts,
    });
  if (budget.price !== undefined && typeof budget.price !== "function")
    throw new WritError("budget-invalid", {
      name,
      field: "price",
      value: shownValue(budget.price),
      advice: asPrice,
    });
  const limits: Record<BudgetField, number> = { ...defaults };
  for (const [field, value] of Object.entries(budget)) {
    if (field === "price" || field === "warnAt" || value === undefined) continue;
    if (!isBound(field) || typeof value !== "number" || !(value > 0)) {
      throw new WritError("budget-invalid", {
        name,
        field,
        value: shownValue(value),
        advice: adviceFor(field, budget),
      });
    }
    limits[field] = value;
  }
  return limits;
}

function isBound(field: string): field is BudgetField {
  return Object.hasOwn(defaults, field);
}

/** The reserved and spent part of the bounds so far. A value: a reservation makes a new one. */
export interface Ledger {
  readonly turns: number;
  readonly toolCalls: number;
  readonly tokens: number;
  readonly costUsd: number;
  readonly lastTool: string;
  readonly sameToolInARow: number;
  /** The uses of the tools that constraints name; left out if there are none. */
  readonly uses?: readonly ToolUse[];
  /** The hashes of calls that a person approved for the rest of the run; left out if there are none. */
  readonly approved?: readonly string[];
  /** The planned acts that were carried out, by their places in the plan; left out if there are none. */
  readonly spent?: readonly number[];
}

export const emptyLedger: Ledger = {
  turns: 0,
  toolCalls: 0,
  tokens: 0,
  costUsd: 0,
  lastTool: "",
  sameToolInARow: 0,
};

/** The bound that was met, with a sentence about it: `exceeded budget of 8 turns`. */
export interface Excess<Field = BudgetField | "runs"> {
  /** A bound of the run's budget or of its account; only an account has `runs`. */
  readonly field: Field;
  readonly limit: number;
  readonly used: number;
  readonly message: string;
  /** The key of the account that the bound belongs to; left out for the run's own budget. */
  readonly account?: string;
}

/** The ledger including the reservation, or the bound that forbids it. */
export type Reservation =
  | { readonly ok: true; readonly ledger: Ledger }
  | { readonly ok: false; readonly excess: Excess<BudgetField> };

/**
 * Reserves one model call. All earlier spending counts; the time is what has passed since the run began. If several bounds are met, the
 * first of turns, tokens, dollars, time is named.
 */
export function reserveTurn(ledger: Ledger, limits: Limits, elapsedMs: number): Reservation {
  if (ledger.turns + 1 > limits.turns) {
    return exceeded("turns", limits, {
      used: ledger.turns,
      message: `exceeded budget of ${limits.turns} turns`,
    });
  }
  if (ledger.tokens >= limits.tokens) {
    const message = `exceeded token budget of ${limits.tokens} (${ledger.tokens} used)`;
    return exceeded("tokens", limits, { used: ledger.tokens, message });
  }
  if (limits.costUsd !== Infinity && ledger.costUsd >= limits.costUsd) {
    const used = ledger.costUsd === Infinity ? "the price is unknown" : `$${ledger.costUsd.toFixed(6)} used`;
    const message = `exceeded cost budget of $${limits.costUsd} (${used})`;
    return exceeded("costUsd", limits, { used: ledger.costUsd, message });
  }
  if (elapsedMs >= limits.durationMs) return tooLong(limits, elapsedMs);
  return { ok: true, ledger: { ...ledger, turns: ledger.turns + 1 } };
}

/** Reserves one call of a tool. */
export function reserveCall(
  ledger: Ledger,
  limits: Limits,
  call: { readonly tool: string; readonly argumentBytes: number },
): Reservation {
  if (ledger.toolCalls + 1 > limits.toolCalls) {
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

/** Books the usage of a model call. An unknown price is booked as infinite, never as zero. */
export function spend(ledger: Ledger, { usage, costUsd = Infinity }: Spent): Ledger {
  return {
    ...ledger,
    tokens: ledger.tokens + usage.inputTokens + usage.outputTokens,
    costUsd: ledger.costUsd + costUsd,
  };
}

/** The cost as it was before it was kept: JSON has no infinity, and only an unknown price is infinite. */
export function restored<Kept extends { readonly costUsd: number }>(kept: Kept): Kept {
  return typeof (kept.costUsd as unknown) === "number" ? kept : { ...kept, costUsd: Infinity };
}

/** Books the spending of runs inside this one. */
export function spendInside(
  ledger: Ledger,
  inside: {
    readonly usage: Usage;
    readonly costUsd: number;
    readonly toolCalls: number;
    readonly calls?: Readonly<Record<string, number>>;
  },
): Ledger {
  const { usage, costUsd, toolCalls, calls } = restored(inside);
  return {
    ...ledger,
    ...(calls === undefined ? {} : { uses: countInside(ledger.uses, calls) }),
    tokens: ledger.tokens + usage.inputTokens + usage.outputTokens,
    costUsd: ledger.costUsd + costUsd,
    toolCalls: ledger.toolCalls + toolCalls,
  };
}

/** The usage of one model call; `costUsd` is left out if it is unknown. */
export interface Spent {
  readonly usage: Usage;
  readonly costUsd?: number;
}

/** The failed reservation of a run that took too long. */
export function tooLong(
  limits: Pick<Limits, "durationMs">,
  elapsedMs: number,
): { readonly ok: false; readonly excess: Excess<BudgetField> } {
  const message = `exceeded duration budget of ${limits.durationMs} ms`;
  return exceeded("durationMs", limits, { used: elapsedMs, message });
}

function exceeded<Field extends BudgetField>(
  field: Field,
  limits: Pick<Limits, Field>,
  found: { readonly used: number; readonly message: string },
): { readonly ok: false; readonly excess: Excess<BudgetField> } {
  return { ok: false, excess: { field, limit: limits[field], used: found.used, message: found.message } };
}

/** The bounds that can be raised during a run; the others concern a single call. */
const extendable: ReadonlySet<BudgetField> = new Set([
  "turns",
  "toolCalls",
  "tokens",
  "costUsd",
  "durationMs",
  "sameToolInARow",
]);

/** The limits with one raised; undefined if the new value is not larger, or the bound cannot be raised. */
export function extendLimit(limits: Limits, field: BudgetField, to: number | undefined): Limits | undefined {
  if (to === undefined || !(to > limits[field]) || !extendable.has(field)) return undefined;
  return { ...limits, [field]: to };
}

/** A bound that is nearly used up. */
export interface Threshold {
  readonly field: BudgetField;
  readonly used: number;
  readonly limit: number;
}

/** The bounds of which at least the fraction `warnAt` is used. */
export function crossed(
  { ledger, elapsedMs }: { readonly ledger: Ledger; readonly elapsedMs: number },
  limits: Limits,
  warnAt: number,
): Threshold[] {
  const used: readonly (readonly [BudgetField, number])[] = [
    ["turns", ledger.turns],
    ["toolCalls", ledger.toolCalls],
    ["tokens", ledger.tokens],
    ["costUsd", ledger.costUsd],
    ["durationMs", elapsedMs],
  ];
  const found: Threshold[] = [];
  for (const [field, amount] of used) {
    const limit = limits[field];
    if (limit !== Infinity && amount >= limit * warnAt) found.push({ field, used: amount, limit });
  }
  return found;
}

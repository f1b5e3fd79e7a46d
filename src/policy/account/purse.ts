import type { Usage } from "../../message/usage.ts";
import { type BudgetField, type Excess, type Ledger, type Limits } from "./budget.ts";

/** The spending of a run inside another one: it counts against the bounds of the outer run. */
export interface Spending {
  readonly usage: Usage;
  readonly costUsd: number;
  readonly toolCalls: number;
  /** The calls of tools, counted by name; left out if they are not counted. */
  readonly calls?: Readonly<Record<string, number>>;
}

/** The spending of the current turn. */
export type Unbooked = Pick<Ledger, "tokens" | "costUsd">;

const nothing: Unbooked = { tokens: 0, costUsd: 0 };

/**
 * The bounds of a run as the runs inside it see them while they go on side by side: what one spends is gone for the others. Tokens,
 * dollars, tool calls and the counts of each tool's calls are shared. Each run has its own turns, and the signal ends its time.
 */
export interface Purse {
  /** The bound of this run, or of one around it, that forbids another model call: tokens or dollars. `unbooked` counts too. */
  turnExcess(unbooked?: Unbooked): Excess | undefined;
  /** The bound of this run, or of one around it, that forbids another call of a tool. */
  callExcess(): Excess | undefined;
  spend(spending: Spending): void;
  /** True if this run, or one around it, has a bound of tokens or dollars. */
  readonly isBounded: boolean;
  /** The tokens that all these bounds leave; `Infinity` without a bound, negative if more were spent. */
  tokensLeft(): number;
  /** Counts a call that a run inside is about to make; `by` is -1 to take it back. */
  count(tool: string, by?: 1 | -1): void;
  /** The number of calls of the tool, made or about to be made, in this run and all runs inside it. */
  calls(tool: string): number;
  /** The calls of runs inside since the turn began; undefined if there are none. */
  readonly counted: Spending["calls"];
}

export interface Balance {
  readonly ledger: Ledger;
  readonly limits: Limits;
}

/** The current balance of a run: undefined before its first turn. */
export interface KeptBalance {
  now: Balance | undefined;
}

/** Makes the purse of a run with this balance; `outer` is the purse of the run around it. */
export function purse(outer?: Purse, own: KeptBalance = { now: undefined }): Purse {
  return new RunPurse(outer, own);
}

/** Holds the spending that is not in the balance yet: each turn begins with a balance that includes everything spent inside before. */
class RunPurse implements Purse {
  private readonly outer: Purse | undefined;
  private readonly own: KeptBalance;
  private turn: number | undefined;
  private tokens = 0;
  private costUsd = 0;
  private toolCalls = 0;
  private called: Map<string, number> | undefined;

  constructor(outer: Purse | undefined, own: KeptBalance) {
    this.outer = outer;
    this.own = own;
    this.turn = own.now?.ledger.turns;
  }

  turnExcess(unbooked = nothing): Excess | undefined {
    const within = this.outer?.turnExcess(unbooked);
    const balance = this.balance();
    if (within !== undefined || balance === undefined) return within;
    const { ledger, limits } = balance;
    return (
      over("tokens", ledger.tokens + this.tokens + unbooked.tokens, limits) ??
      over("costUsd", ledger.costUsd + this.costUsd + unbooked.costUsd, limits)
    );
  }

  callExcess(): Excess | undefined {
    const within = this.outer?.callExcess();
    const balance = this.balance();
    if (within !== undefined || balance === undefined) return within;
    const { ledger, limits } = balance;
    return over("toolCalls", ledger.toolCalls + this.toolCalls, limits);
  }

  spend(spending: Spending): void {
    this.balance();
    this.tokens += spending.usage.inputTokens + spending.usage.outputTokens;
    this.costUsd += spending.costUsd;
    this.toolCalls += spending.toolCalls;
    for (const [tool, count] of Object.entries(spending.calls ?? {})) this.add(tool, count);
    this.outer?.spend(spending);
  }

  get isBounded(): boolean {
    const { tokens = Infinity, costUsd = Infinity } = this.own.now?.limits ?? {};
    return Math.min(tokens, costUsd) !== Infinity || this.outer?.isBounded === true;
  }

  tokensLeft(): number {
    const balance = this.balance();
    const own =
      balance === undefined ? Infinity : balance.limits.tokens - balance.ledger.tokens - this.tokens;
    return Math.min(own, this.outer?.tokensLeft() ?? Infinity);
  }

  count(tool: string, by: 1 | -1 = 1): void {
    this.add(tool, by);
    this.outer?.count(tool, by);
  }

  calls(tool: string): number {
    const own = this.balance()?.ledger.uses?.find((use) => use.tool === tool)?.calls ?? 0;
    return own + (this.called?.get(tool) ?? 0);
  }

  get counted(): Spending["calls"] {
    this.balance();
    const some = [...(this.called ?? [])].filter(([, count]) => count > 0);
    return some.length === 0 ? undefined : Object.fromEntries(some);
  }

  /** The current balance of the run. A new turn empties the purse. */
  private balance(): Balance | undefined {
    const { now } = this.own;
    if (now?.ledger.turns === this.turn) return now;
    this.turn = now?.ledger.turns;
    this.tokens = 0;
    this.costUsd = 0;
    this.toolCalls = 0;
    this.called = undefined;
    return now;
  }

  private add(tool: string, count: number): void {
    this.balance();
    this.called ??= new Map();
    this.called.set(tool, Math.max(0, (this.called.get(tool) ?? 0) + count));
  }
}

function over(field: BudgetField, used: number, limits: Limits): Excess | undefined {
  const limit = limits[field];
  if (limit === Infinity || used < limit) return undefined;
  return { field, limit, used, message: `exceeded the ${field} budget of ${limit} of the run around it` };
}

import type { Usage } from "../message/usage.ts";
import { type BudgetField, type Excess, type Ledger, type Limits } from "./budget.ts";

/** What a run inside another one spent: it counts against the outer run's bounds. */
export interface Spending {
  readonly usage: Usage;
  readonly costUsd: number;
  readonly toolCalls: number;
}

/**
 * The bounds of a run as the runs inside it see them, while they go on beside each other: what one spends is gone for the others. Tokens,
 * dollars and tool calls are shared; turns are each run's own, and time ends by the signal.
 */
export interface Purse {
  /** The bound of this run, or of one around it, that forbids another model call: tokens or dollars. */
  turnExcess(): Excess | undefined;
  /** The bound of this run, or of one around it, that forbids another call of a tool. */
  callExcess(): Excess | undefined;
  spend(spending: Spending): void;
  /** A turn of the outer run begins: what was spent inside before is in its own account. */
  begin(account: Account): void;
  /** The outer run's own account changed in the middle of its turn; what was spent inside meanwhile still counts beside it. */
  change(account: Account): void;
}

/** What a run spent itself, and its bounds. */
export interface Account {
  readonly ledger: Ledger;
  readonly limits: Limits;
}

/** Makes the purse of a run; `outer` is that of the run around it. */
export function purse(outer?: Purse): Purse {
  return new RunPurse(outer);
}

/** A class, since every run has one: its members live once, on the prototype. */
class RunPurse implements Purse {
  private readonly outer: Purse | undefined;
  private account: Account | undefined;
  private tokens = 0;
  private costUsd = 0;
  private toolCalls = 0;

  constructor(outer: Purse | undefined) {
    this.outer = outer;
  }

  turnExcess(): Excess | undefined {
    const within = this.outer?.turnExcess();
    if (within !== undefined || this.account === undefined) return within;
    const { ledger, limits } = this.account;
    return (
      over("tokens", ledger.tokens + this.tokens, limits) ??
      over("costUsd", ledger.costUsd + this.costUsd, limits)
    );
  }

  callExcess(): Excess | undefined {
    const within = this.outer?.callExcess();
    if (within !== undefined || this.account === undefined) return within;
    const { ledger, limits } = this.account;
    return over("toolCalls", ledger.toolCalls + this.toolCalls, limits);
  }

  spend(spending: Spending): void {
    this.tokens += spending.usage.inputTokens + spending.usage.outputTokens;
    this.costUsd += spending.costUsd;
    this.toolCalls += spending.toolCalls;
    this.outer?.spend(spending);
  }

  begin(now: Account): void {
    this.account = now;
    this.tokens = 0;
    this.costUsd = 0;
    this.toolCalls = 0;
  }

  change(now: Account): void {
    this.account = now;
  }
}

function over(field: BudgetField, used: number, limits: Limits): Excess | undefined {
  const limit = limits[field];
  if (limit === Infinity || used < limit) return undefined;
  return { field, limit, used, message: `exceeded the ${field} budget of ${limit} of the run around it` };
}

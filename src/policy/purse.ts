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
  let account: Account | undefined;
  let tokens = 0;
  let costUsd = 0;
  let toolCalls = 0;
  return {
    turnExcess() {
      const within = outer?.turnExcess();
      if (within !== undefined || account === undefined) return within;
      const { ledger, limits } = account;
      return (
        over("tokens", ledger.tokens + tokens, limits) ?? over("costUsd", ledger.costUsd + costUsd, limits)
      );
    },
    callExcess() {
      const within = outer?.callExcess();
      if (within !== undefined || account === undefined) return within;
      const { ledger, limits } = account;
      return over("toolCalls", ledger.toolCalls + toolCalls, limits);
    },
    spend(spending) {
      tokens += spending.usage.inputTokens + spending.usage.outputTokens;
      costUsd += spending.costUsd;
      toolCalls += spending.toolCalls;
      outer?.spend(spending);
    },
    begin(now) {
      account = now;
      tokens = 0;
      costUsd = 0;
      toolCalls = 0;
    },
    change(now) {
      account = now;
    },
  };
}

function over(field: BudgetField, used: number, limits: Limits): Excess | undefined {
  const limit = limits[field];
  if (limit === Infinity || used < limit) return undefined;
  return { field, limit, used, message: `exceeded the ${field} budget of ${limit} of the run around it` };
}

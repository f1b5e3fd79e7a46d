import { checkShape, closed, fromOne } from "../../error/check-shape.ts";
import { messageOf, WritError } from "../../error/writ-error.ts";
import { count, either, having, oneOf, optional, refined, string } from "../../util/shape.ts";
import {
  type AccountEntry,
  type AccountLimits,
  type Amounts,
  entryAt,
  isEntry,
  type Period,
  type Reserved,
  reserveIn,
  settleIn,
  usedOf,
  type Wish,
} from "./account-entry.ts";
import type { Excess } from "./budget.ts";

/** A store of accounts: one entry per key. Any text is a key, and no key reaches another entry. */
export interface AccountStore {
  /** The entry of a key; undefined if there is none. */
  read(key: string): Promise<AccountEntry | undefined>;
  /**
   * Replaces the entry of a key with what `change` returns: atomically among all writers of that key, or not at all. `change` has no
   * side effects, and may be called again if another writer was faster. An error that it throws is rethrown, and nothing is changed.
   */
  update(key: string, change: (entry: AccountEntry | undefined) => AccountEntry): Promise<void>;
}

/** The definition of an account. */
export interface AccountDefinition {
  /** The store that keeps it. */
  readonly store: AccountStore;
  /** The owner: a user, a team, a job. Accounts of a store with the same key and period are one account. */
  readonly key: string;
  readonly limits: AccountLimits;
  /** The period in which the limits hold: a calendar period in UTC, or so many milliseconds. Default `day`. */
  readonly per?: Period;
  /** Tokens reserved for a reply, and the most that it may have, if the settings have no `maxOutputTokens`. Default 4,096. */
  readonly replyTokens?: number;
  /** Milliseconds after which an unsettled reservation is dropped, because its process died. Must be longer than any reply takes. Default 600,000. */
  readonly expiresMs?: number;
}

/** The spending of a period: everything that ended, and the reservations for replies under way. */
export interface AccountUse extends Amounts {
  /** The beginning of the last booked period, in milliseconds since 1970; 0 before the first. */
  readonly since: number;
}

/** A budget across runs. Runs ask it; a program can read it. */
export interface Account {
  readonly store: AccountStore;
  readonly key: string;
  readonly per: Period;
  readonly limits: AccountLimits;
  readonly replyTokens: number;
  readonly expiresMs: number;
  /** @throws WritError `account-failed` */
  used(): Promise<AccountUse>;
  /** Reserves a wish at a time, in milliseconds since 1970. @throws WritError `account-failed` */
  reserve(wish: Wish, now: number): Promise<Granted>;
  /** Books the use of a reply in place of its reservation. @throws WritError `account-failed` */
  settle(id: string, spent: Pick<Amounts, "tokens" | "costUsd">, now: number): Promise<void>;
}

/** The tokens that a reply may have, or the bound that forbids the wish. */
export type Granted =
  | { readonly ok: true; readonly outputTokens: number }
  | { readonly ok: false; readonly excess: Excess };

const limitsShape = closed({
  tokens: optional(count),
  costUsd: optional(count),
  toolCalls: optional(count),
  runs: optional(count),
});

const periodShape = either(oneOf("hour", "day", "month"), fromOne);

const definitionShape = closed({
  store: having("a store of accounts, like inMemoryAccounts()", "read", "update"),
  key: refined(string, "must name whose account it is, got an empty text", (key) => key !== ""),
  limits: limitsShape,
  per: optional(periodShape),
  replyTokens: optional(fromOne),
  expiresMs: optional(fromOne),
});

/**
 * Makes an account: the most that somebody may spend in a period, over all runs that are given it, in all processes that share its store. A run reserves
 * before it spends: each reply of a model with the most that it may use, each call of a tool, and itself. The real use of a reply is booked when
 * it ends, however the run ends. A used-up account ends a run as `exhausted` (`account-exhausted`); with a failing store nothing can be
 * spent (`account-failed`).
 *
 * @throws WritError `definition-invalid`
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { account, inMemoryAccounts } from "writ/policy";
 *
 * const store = inMemoryAccounts();
 * const clerk = agent({ name: "clerk", model: "ollama/qwen2.5:7b" });
 * const kim = account({ store, key: "kim", limits: { tokens: 50_000, runs: 100 }, per: "day" });
 * await clerk.run("How many days are 3 weeks?", { account: kim });
 * console.log(await kim.used());
 * ```
 */
export function account(definition: AccountDefinition): Account {
  checkShape("account()", definition, definitionShape);
  return new KeptAccount(definition);
}

class KeptAccount implements Account {
  readonly store: AccountStore;
  readonly key: string;
  readonly per: Period;
  readonly limits: AccountLimits;
  readonly replyTokens: number;
  readonly expiresMs: number;

  constructor({
    store,
    key,
    limits,
    per = "day",
    replyTokens = 4096,
    expiresMs = 600_000,
  }: AccountDefinition) {
    this.key = key;
    this.per = per;
    this.limits = { ...limits };
    this.replyTokens = replyTokens;
    this.expiresMs = expiresMs;
    this.store = store;
  }

  async used(): Promise<AccountUse> {
    return this.#asking(async () => {
      const entry = checked(await this.store.read(this.#slot));
      if (entry === undefined) return { since: 0, tokens: 0, costUsd: 0, toolCalls: 0, runs: 0 };
      return { since: entry.since, ...usedOf(entry) };
    });
  }

  async reserve(wish: Wish, now: number): Promise<Granted> {
    const reserved = await this.#change((before) => {
      const made = reserveIn(entryAt(before, this.per, now), wish, this.limits);
      return { entry: made.ok ? made.entry : entryAt(before, this.per, now), made };
    });
    return reserved.ok ? { ok: true, outputTokens: reserved.outputTokens } : this.#refused(reserved);
  }

  async settle(id: string, spent: Pick<Amounts, "tokens" | "costUsd">, now: number): Promise<void> {
    await this.#change((before) => ({
      entry: settleIn(entryAt(before, this.per, now), id, spent),
      made: true,
    }));
  }

  /** The key of one account and period, so that a user can have accounts for several periods. */
  get #slot(): string {
    return `${this.per} ${this.key}`;
  }

  #refused({ excess }: Extract<Reserved, { ok: false }>): Granted {
    const { field, limit, used, why = `${used} are used or reserved` } = excess;
    const per = typeof this.per === "number" ? `in ${this.per} ms` : `per ${this.per}`;
    const message = `exceeded the ${field} limit of ${limit} ${per} of account "${this.key}" (${why})`;
    return { ok: false, excess: { field, limit, used, message, account: this.key } };
  }

  #change<Made>(
    change: (before: AccountEntry | undefined) => { readonly entry: AccountEntry; readonly made: Made },
  ): Promise<Made> {
    return this.#asking(async () => {
      let done: { readonly made: Made } | undefined;
      await this.store.update(this.#slot, (before) => {
        const changed = change(checked(before));
        done = changed;
        return changed.entry;
      });
      if (done === undefined) throw new Error("its store changed nothing");
      return done.made;
    });
  }

  async #asking<Value>(ask: () => Promise<Value>): Promise<Value> {
    try {
      return await ask();
    } catch (cause) {
      throw new WritError("account-failed", { key: this.key, reason: messageOf(cause) }, { cause });
    }
  }
}

function checked(entry: unknown): AccountEntry | undefined {
  if (entry === undefined || isEntry(entry)) return entry;
  throw new Error("its store gave an entry that no account wrote");
}

/**
 * Keeps accounts in the memory of this process. `sqliteAccounts()` keeps them in a file that several processes share, `postgresAccounts()` in a database.
 *
 * @example
 * ```ts
 * import { account, inMemoryAccounts } from "writ/policy";
 *
 * export const kim = account({ store: inMemoryAccounts(), key: "kim", limits: { costUsd: 2 }, per: "month" });
 * ```
 */
export function inMemoryAccounts(): AccountStore {
  const entries = new Map<string, AccountEntry>();
  return {
    read: (key) => Promise.resolve(entries.get(key)),
    async update(key, change) {
      entries.set(key, change(entries.get(key)));
    },
  };
}

import type { AccountStore } from "./account.ts";
import type { AccountEntry } from "./account-entry.ts";

/**
 * Keeps accounts as long as the process lives. `sqliteAccounts()` keeps them in a file that several processes share.
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

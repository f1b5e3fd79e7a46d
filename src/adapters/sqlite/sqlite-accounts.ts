import type { AccountEntry } from "../../policy/account/account-entry.ts";
import type { AccountStore } from "../../policy/account/account.ts";
import { toKey } from "../stored-text.ts";
import { openDatabase, type OpenStore } from "./database.ts";

/** Accounts in a SQLite file. */
export interface SqliteAccounts extends AccountStore, OpenStore {}

/**
 * Keeps accounts in a SQLite file, which several processes of one machine can share: of two that reserve at once, the second sees the reservation of
 * the first. Booked amounts survive a crash of the process and of the machine. Sessions and memory can be in the same file. Each call blocks
 * the process while it reads or writes, and up to 5 seconds if another process writes.
 *
 * @throws WritError `database-failed`; the calls of an account in it throw `account-failed`
 * @example
 * ```ts
 * import { account } from "writ/policy";
 * import { sqliteAccounts } from "writ/sqlite";
 *
 * const store = sqliteAccounts("accounts.db");
 * export const accountOf = (user: string) => account({ store, key: user, limits: { tokens: 50_000 }, per: "day" });
 * ```
 */
export function sqliteAccounts(path: string): SqliteAccounts {
  const database = openDatabase(
    path,
    "CREATE TABLE IF NOT EXISTS writ_accounts (key TEXT PRIMARY KEY, entry TEXT NOT NULL) STRICT",
  );
  const select = database.prepare("SELECT entry FROM writ_accounts WHERE key = ?");
  const upsert = database.prepare(
    "INSERT INTO writ_accounts (key, entry) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET entry = excluded.entry",
  );
  function entryOf(key: string): AccountEntry | undefined {
    const row = select.get(toKey(key));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an account checks what it is given
    return row === undefined ? undefined : (JSON.parse(String(row["entry"])) as AccountEntry);
  }
  const { close, [Symbol.dispose]: dispose } = database;
  return {
    async read(key) {
      return database.read(() => entryOf(key));
    },
    async update(key, change) {
      database.write(() => upsert.run(toKey(key), JSON.stringify(change(entryOf(key)))));
    },
    close,
    [Symbol.dispose]: dispose,
  };
}

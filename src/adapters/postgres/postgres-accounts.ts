import { randomInt } from "node:crypto";
import type { AccountEntry } from "../../policy/account/account-entry.ts";
import type { AccountStore } from "../../policy/account/account.ts";
import { oneAfterAnother } from "../one-after-another.ts";
import { toKey } from "../stored-text.ts";
import { postgresDatabase, type Row } from "./database.ts";
import { placeIn, type PostgresOptions } from "./options.ts";
import type { Tables } from "./pool.ts";

/** Accounts in a PostgreSQL database. */
export interface PostgresAccounts extends AccountStore, AsyncDisposable {
  /** Closes the connections. It may be closed twice. */
  close(): Promise<void>;
}

/** The number of latest changes whose marks an account keeps, to recognise a change whose result was lost. */
const markedChanges = 64;

/**
 * Keeps accounts in PostgreSQL (the package `pg`, an optional peer), which processes of many machines share: of two that reserve at once, the second sees the
 * reservation of the first. A booked amount is on the server's disk. A change whose result was lost with its connection is not made twice. They can be in the
 * database of the runs, and a pooler may stand before it. The table is made with the first call; later ones wait a minute for a server that is away.
 *
 * @param url like `postgresql://user:password@host:5432/database`. Without it, the variables `PGHOST`, `PGUSER` and so on apply.
 * @throws WritError `definition-invalid`; the calls of an account in it throw `account-failed`
 * @example
 * ```ts
 * import { account } from "writ/policy";
 * import { postgresAccounts } from "writ/postgres";
 *
 * const store = postgresAccounts("postgresql://writ@localhost/agents");
 * export const accountOf = (user: string) => account({ store, key: user, limits: { tokens: 50_000 }, per: "day" });
 * ```
 */
export function postgresAccounts(url?: string, options: PostgresOptions = {}): PostgresAccounts {
  const place = placeIn("postgresAccounts()", { url, options });
  const accounts = `${place.schema}.accounts`;
  const { query, close } = postgresDatabase({ ...place, tables: tablesOf(accounts) });
  const inTurn = oneAfterAnother(); // writers of one process need not race each other
  const select = `SELECT entry, version, $2::bigint = ANY (marks) AS mine FROM ${accounts} WHERE key = $1`;
  const insert = `INSERT INTO ${accounts} (key, entry, version, marks) VALUES ($1, $2, $4::bigint + 1, ARRAY[$3::bigint])
    ON CONFLICT (key) DO NOTHING RETURNING key`;
  const update = `UPDATE ${accounts} SET entry = $2, version = version + 1, marks = ($3::bigint || marks)[1:${markedChanges}]
    WHERE key = $1 AND version = $4 RETURNING key`;
  return {
    async read(key) {
      return entryOf((await query(select, [toKey(key), 0]))[0]);
    },
    update: (key, change) =>
      inTurn(key, async () => {
        const mark = randomInt(1, 2 ** 47);
        for (;;) {
          const [found] = await query(select, [toKey(key), mark]);
          if (found?.["mine"] === true) return; // it was made, and its result was lost
          const entry = JSON.stringify(change(entryOf(found)));
          const values = [toKey(key), entry, mark, found?.["version"] ?? 0];
          if ((await query(found === undefined ? insert : update, values)).length > 0) return;
        }
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function tablesOf(accounts: string): Tables {
  return {
    last: accounts,
    make: `CREATE TABLE ${accounts} (
      key text COLLATE "C" PRIMARY KEY, entry text NOT NULL, version bigint NOT NULL, marks bigint[] NOT NULL
    )`,
  };
}

function entryOf(row: Row | undefined): AccountEntry | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an account checks what it is given
  return row === undefined ? undefined : (JSON.parse(String(row["entry"])) as AccountEntry);
}

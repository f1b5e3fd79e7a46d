import type { MemoryStore } from "../../session/memory-store.ts";
import { fromKey, toKey } from "../stored-text.ts";
import { postgresDatabase } from "./database.ts";
import { placeIn, type PostgresOptions } from "./options.ts";

/** A memory in a PostgreSQL database. */
export interface PostgresMemory extends MemoryStore, AsyncDisposable {
  /** Closes the connections. It may be closed twice. */
  close(): Promise<void>;
}

/**
 * Keeps memory in PostgreSQL (the package `pg`, an optional peer), which processes of many machines share. Of two texts that are written to a slot at once, the
 * later one stays. It can be in the database of the runs, and a pooler may stand before it. The table is made with the first call; later ones wait a minute for a
 * server that is away.
 *
 * @param url like `postgresql://user:password@host:5432/database`. Without it, the variables `PGHOST`, `PGUSER` and so on apply.
 * @throws WritError `definition-invalid`; from its functions `peer-missing`, `postgres-unreachable`, `postgres-refused`, `postgres-forbidden`, `postgres-failed`
 * @example
 * ```ts
 * import { memoryBank } from "writ";
 * import { postgresMemory } from "writ/postgres";
 *
 * export const bank = memoryBank({ store: postgresMemory("postgresql://writ@localhost/agents"), maxLines: 200 });
 * ```
 */
export function postgresMemory(url?: string, options: PostgresOptions = {}): PostgresMemory {
  const place = placeIn("postgresMemory()", { url, options });
  const memory = `${place.schema}.memory`;
  const make = `CREATE TABLE ${memory} (
    slot text COLLATE "C" PRIMARY KEY, place bigint GENERATED ALWAYS AS IDENTITY, text text NOT NULL
  )`;
  const tables = { last: memory, make };
  const { query, close } = postgresDatabase({ ...place, tables });
  const upsert = `INSERT INTO ${memory} (slot, text) VALUES ($1, $2) ON CONFLICT (slot) DO UPDATE SET text = excluded.text`;
  return {
    async read(slot) {
      const [row] = await query(`SELECT text FROM ${memory} WHERE slot = $1`, [toKey(slot)]);
      return row === undefined ? "" : fromKey(row["text"]);
    },
    async write(slot, text) {
      await query(upsert, [toKey(slot), toKey(text)]);
    },
    async slots() {
      const rows = await query(`SELECT slot FROM ${memory} ORDER BY place`);
      return rows.map((row) => fromKey(row["slot"]));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

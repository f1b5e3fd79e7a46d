import type { MemoryStore } from "../../session/memory-store.ts";
import { fromKey, toKey } from "../stored-text.ts";
import { openDatabase, type OpenStore } from "./database.ts";

/** A memory in a SQLite file. */
export interface SqliteMemory extends MemoryStore, OpenStore {}

/**
 * Keeps memory in a SQLite file, which several processes of one machine can share. Written lines survive a crash of the process and of
 * the machine. Sessions can be in the same file. Each call blocks the process while it reads or writes, and up
 * to 5 seconds if another process writes.
 *
 * @throws WritError `database-failed`; so do the calls of the store
 * @example
 * ```ts
 * import { memoryBank } from "writ";
 * import { sqliteMemory } from "writ/sqlite";
 *
 * export const bank = memoryBank({ store: sqliteMemory("memory.db"), maxLines: 200 });
 * ```
 */
export function sqliteMemory(path: string): SqliteMemory {
  const database = openDatabase(
    path,
    `CREATE TABLE IF NOT EXISTS writ_memory (
      place INTEGER PRIMARY KEY, slot TEXT NOT NULL UNIQUE, text TEXT NOT NULL
    ) STRICT`,
  );
  const select = database.prepare("SELECT text FROM writ_memory WHERE slot = ?");
  const upsert = database.prepare(
    "INSERT INTO writ_memory (slot, text) VALUES (?, ?) ON CONFLICT (slot) DO UPDATE SET text = excluded.text",
  );
  const list = database.prepare("SELECT slot FROM writ_memory ORDER BY place");
  const { close, [Symbol.dispose]: dispose } = database;
  return {
    async read(slot) {
      const row = database.read(() => select.get(toKey(slot)));
      return row === undefined ? "" : fromKey(row["text"]);
    },
    async write(slot, text) {
      database.write(() => upsert.run(toKey(slot), toKey(text)));
    },
    async slots() {
      return database.read(() => list.all()).map((row) => fromKey(row["slot"]));
    },
    close,
    [Symbol.dispose]: dispose,
  };
}

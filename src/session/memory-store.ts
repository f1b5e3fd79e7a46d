/** A store of memory: one text per slot. Any text is a slot's name, and no name reaches another slot. */
export interface MemoryStore {
  /** The text of a slot; empty if nothing was written. */
  read(slot: string): Promise<string>;
  /** Replaces the text of a slot, as a whole or not at all. */
  write(slot: string, text: string): Promise<void>;
  /** The slots that were written, in the order of their first write. */
  slots(): Promise<readonly string[]>;
}

/**
 * Keeps memory in this process, as long as it lives. `sqliteMemory()` keeps it in a file, `postgresMemory()` in a database.
 *
 * @example
 * ```ts
 * import { memoryBank } from "writ";
 * import { inMemorySlots } from "writ/session";
 *
 * const store = inMemorySlots();
 * await store.write("calculator", "6 is the result of yesterday");
 * export const bank = memoryBank({ store });
 * ```
 */
export function inMemorySlots(): MemoryStore {
  const texts = new Map<string, string>();
  return {
    read: (slot) => Promise.resolve(texts.get(slot) ?? ""),
    write: (slot, text) => Promise.resolve(void texts.set(slot, text)),
    slots: () => Promise.resolve([...texts.keys()]),
  };
}

/** A store of memory: one text a slot. Any text is a slot's name, and no name reaches another slot. */
export interface MemoryStore {
  /** The text of a slot; empty when nothing was written. */
  read(slot: string): Promise<string>;
  /** Puts a text in the place of what the slot had, whole or not at all. */
  write(slot: string, text: string): Promise<void>;
  /** The slots that were written, in the order of their first writing. */
  slots(): Promise<readonly string[]>;
}

/**
 * Keeps memory as long as the process lives. `sqliteMemory()` keeps it in a file.
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

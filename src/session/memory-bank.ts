import { checkCount, checkShape, closed } from "../error/check-shape.ts";
import { isPlain, type Label, readLabel, trustedLabel } from "../message/label.ts";
import { parseJson } from "../util/json.ts";
import { inMemorySlots, type MemoryStore } from "./memory-store.ts";
import { keepAll, linesOf, type Retention } from "./retention.ts";
import { anything, callable, having, list, optional, string } from "../util/shape.ts";

/** A memory of agents across runs: one text per slot. Agents that share a bank have different slots. */
export interface MemoryBank {
  /** The whole text of a slot; empty if nothing was written. */
  read(slot: string): Promise<string>;
  /** The text, with the label that it was written with: text that a model wrote after it had read untrusted data stays untrusted in the next run. */
  recall(slot: string): Promise<Remembered>;
  /**
   * Replaces the text of a slot, and returns what was kept of it: the bank's limits hold for every writer. Writes to one slot
   * happen in the order of their calls, each as a whole; a failing one changes nothing. `label`: the source of the text; left out, the program. A function is
   * called once the retention is done, whose digest may have read more.
   */
  write(slot: string, text: string, label?: Label | (() => Label)): Promise<string>;
  /** The lines of a slot that contain the query in any case, joined by line breaks; empty if none does. */
  search(slot: string, query: string): Promise<string>;
  /** The slots that were written. */
  slots(): Promise<readonly string[]>;
}

/** A text of a memory, with its label. */
export interface Remembered {
  readonly text: string;
  readonly label: Label;
}

/** Options of {@link memoryBank}. */
export interface MemoryBankOptions {
  /** The store of the texts. Default: the memory of this process. */
  readonly store?: MemoryStore;
  /** The most lines that a text keeps, the last ones. Applied after `retention`. Default: no limit. */
  readonly maxLines?: number;
  /** The lines of a text that are kept when it is written. Default: all. */
  readonly retention?: Retention;
}

const linesShape = list(string, "the lines that stay, a list of texts");
const optionsShape = closed({
  store: optional(having("a store of memory, like inMemorySlots()", "read", "write", "slots")),
  maxLines: anything,
  retention: optional(callable),
});

/**
 * Makes a memory for one agent or several: each has the slot of its name. An agent with a `memory` has the tools `memory_read`,
 * `memory_write` and `memory_search`; the program can read and write the same slots.
 *
 * @throws WritError `definition-invalid` unless `maxLines` is a whole number of at least 1
 * @example
 * ```ts
 * import { memoryBank } from "writ";
 *
 * const bank = memoryBank({ maxLines: 200 });
 * await bank.write("calculator", "6 is the result of yesterday");
 * console.log(await bank.slots(), await bank.search("calculator", "RESULT"));
 * ```
 */
export function memoryBank(options: MemoryBankOptions = {}): MemoryBank {
  checkShape("A memory bank", options, optionsShape);
  const { store = inMemorySlots(), maxLines = Infinity, retention = keepAll() } = options;
  if (maxLines !== Infinity) checkCount(maxLines, "`maxLines` of a memory bank");
  const writing = new Map<string, Promise<unknown>>();

  async function keep(slot: string, text: string, label: Label | (() => Label)): Promise<string> {
    const retained = await retention(linesOf(text));
    checkShape("What `retention` of a memory bank gave", retained, linesShape);
    const lines = retained.flatMap((line) => line.split("\n")); // a line that an author's function returned may contain line breaks
    const kept = withEnding(lines.slice(-maxLines), text);
    await store.write(slot, written({ text: kept, label: typeof label === "function" ? label() : label }));
    return kept;
  }
  const recall = async (slot: string): Promise<Remembered> => remembered(await store.read(slot));

  return {
    read: async (slot) => (await recall(slot)).text,
    recall,
    async write(slot, text, label = trustedLabel) {
      const before = writing.get(slot);
      const mine =
        before === undefined ? keep(slot, text, label) : before.then(() => keep(slot, text, label));
      const done = mine.catch(() => undefined);
      writing.set(slot, done);
      try {
        return await mine;
      } finally {
        if (writing.get(slot) === done) writing.delete(slot);
      }
    },
    search: async (slot, query) => linesWith(query, (await recall(slot)).text),
    slots: () => store.slots(),
  };
}

/** The lines of a text that contain the query in any case. */
export function linesWith(query: string, text: string): string {
  const wanted = query.toLowerCase();
  const lines = linesOf(text);
  return lines.filter((line) => line.toLowerCase().includes(wanted)).join("\n");
}

const labelMark = "\u0001label ";

/** The entry of the store: text and label together, so that no other writer or crash separates them. A text of the user or the author is kept as it is. */
function written({ text, label }: Remembered): string {
  return isPlain(label) && !text.startsWith(labelMark)
    ? text
    : `${labelMark}${JSON.stringify(label)}\n${text}`;
}

function remembered(entry: string): Remembered {
  if (!entry.startsWith(labelMark)) return { text: entry, label: trustedLabel };
  const [line = "", ...lines] = entry.slice(labelMark.length).split("\n");
  const parsed = parseJson(line);
  return { text: lines.join("\n"), label: readLabel(parsed.ok ? parsed.value : undefined) };
}

/** The lines as a text with the same ending as the text that they come from. */
function withEnding(lines: readonly string[], text: string): string {
  return `${lines.join("\n")}${text.endsWith("\n") && lines.length > 0 ? "\n" : ""}`;
}

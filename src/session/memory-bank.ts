import { checkCount, checkShape, closed } from "../error/check-shape.ts";
import { isPlain, type Label, readLabel, trustedLabel } from "../message/label.ts";
import { parseJson } from "../util/json.ts";
import { inMemorySlots, type MemoryStore } from "./memory-store.ts";
import { keepAll, linesOf, type Retention } from "./retention.ts";
import { anything, callable, having, list, optional, string } from "../util/shape.ts";

/** A memory of agents across runs: one text a slot. Agents that share a bank have slots of their own. */
export interface MemoryBank {
  /** The whole text of a slot; empty when nothing was written. */
  read(slot: string): Promise<string>;
  /** The text, with the label that it was written with: what a model wrote after it had read untrusted things is no better in the next run. */
  recall(slot: string): Promise<Remembered>;
  /**
   * Puts a text in the place of what the slot had, and gives what was kept of it: the bank's limits hold whoever writes. Writes to one slot
   * happen in the order of their calls, each whole; one that fails changes nothing. `label`: where the text comes from; left out, from the program.
   */
  write(slot: string, text: string, label?: Label): Promise<string>;
  /** The lines of a slot that contain the query in any case, with line breaks between them; empty when none does. */
  search(slot: string, query: string): Promise<string>;
  /** The slots that were written. */
  slots(): Promise<readonly string[]>;
}

/** A text of a memory, and where it comes from. */
export interface Remembered {
  readonly text: string;
  readonly label: Label;
}

/** Options of {@link memoryBank}. */
export interface MemoryBankOptions {
  /** The store of the texts. Default: in this process, as long as it lives. */
  readonly store?: MemoryStore;
  /** A text keeps at most so many lines, the last ones. Applied after `retention`. Default: no limit. */
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
 * @throws WritError `definition-invalid` for a `maxLines` that is no whole number of at least 1
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

  async function keep(slot: string, { text, label }: Remembered): Promise<string> {
    const retained = await retention(linesOf(text));
    checkShape("What `retention` of a memory bank gave", retained, linesShape);
    const lines = retained.flatMap((line) => line.split("\n")); // what an author's function calls a line may be several
    const kept = withEnding(lines.slice(-maxLines), text);
    await store.write(slot, written({ text: kept, label }));
    return kept;
  }
  const recall = async (slot: string): Promise<Remembered> => remembered(await store.read(slot));

  return {
    read: async (slot) => (await recall(slot)).text,
    recall,
    async write(slot, text, label = trustedLabel) {
      const before = writing.get(slot);
      const given = { text, label };
      const mine = before === undefined ? keep(slot, given) : before.then(() => keep(slot, given));
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

/** Text and label are one entry of the store, so that no other writer and no crash comes between them. A text of the user's or the author's stands as it is. */
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

/** The lines as a text that ends as the text they were taken from. */
function withEnding(lines: readonly string[], text: string): string {
  return `${lines.join("\n")}${text.endsWith("\n") && lines.length > 0 ? "\n" : ""}`;
}

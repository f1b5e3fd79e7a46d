import { isPlain, joinLabels, type Label, readLabel, trustedLabel } from "../message/label.ts";
import { parseJson } from "../util/json.ts";
import { inMemorySlots, type MemoryStore } from "./memory-store.ts";
import { checkCount, keepAll, linesOf, type Retention } from "./retention.ts";

/** What agents remember across runs: one text a slot. Agents that share a bank have slots of their own. */
export interface MemoryBank {
  /** The whole text of a slot; empty when nothing was written. */
  read(slot: string): Promise<string>;
  /** Where what stands in a slot comes from: what a model wrote after it had read untrusted things is no better in the next run. */
  label(slot: string): Promise<Label>;
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

/** How a memory bank is made. */
export interface MemoryBankOptions {
  /** Where the texts are. Default: in this process, as long as it lives. */
  readonly store?: MemoryStore;
  /** A text keeps at most so many lines, the last ones. Applied after `retention`. Default: no limit. */
  readonly maxLines?: number;
  /** What stays of a text that is written. Default: everything. */
  readonly retention?: Retention;
}

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
  const { store = inMemorySlots(), maxLines = Infinity, retention = keepAll() } = options;
  if (maxLines !== Infinity) checkCount(maxLines, "`maxLines` of a memory bank");
  const writing = new Map<string, Promise<unknown>>();

  async function keep(slot: string, { text, label }: Kept): Promise<string> {
    const retained = await retention(linesOf(text));
    const lines = retained.flatMap((line) => line.split("\n")); // what an author's function calls a line may be several
    const kept = withEnding(lines.slice(-maxLines), text);
    const before = await readLabelOf(slot);
    // Written first, and never better than what is still there: a crash between the two must not raise it.
    await writeLabel(slot, joinLabels(before, label));
    await store.write(slot, kept);
    await writeLabel(slot, label);
    return kept;
  }

  async function readLabelOf(slot: string): Promise<Label> {
    const kept = await store.read(labelSlot(slot));
    if (kept === "") return trustedLabel;
    const parsed = parseJson(kept);
    return readLabel(parsed.ok ? parsed.value : undefined);
  }
  async function writeLabel(slot: string, label: Label): Promise<void> {
    const text = isPlain(label) ? "" : JSON.stringify(label);
    if (text !== (await store.read(labelSlot(slot)))) await store.write(labelSlot(slot), text);
  }

  return {
    read: (slot) => store.read(slot),
    label: readLabelOf,
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
    async search(slot, query) {
      const wanted = query.toLowerCase();
      const lines = linesOf(await store.read(slot));
      return lines.filter((line) => line.toLowerCase().includes(wanted)).join("\n");
    },
    slots: async () => (await store.slots()).filter((slot) => !slot.startsWith(labelPrefix)),
  };
}

/** A text that is written, and where it comes from. */
interface Kept {
  readonly text: string;
  readonly label: Label;
}

/** The labels stand beside the texts in the same store, in slots that no agent is called like. */
const labelPrefix = "\u0001label/";

function labelSlot(slot: string): string {
  return `${labelPrefix}${slot}`;
}

/** The lines as a text that ends as the text they were taken from. */
function withEnding(lines: readonly string[], text: string): string {
  return `${lines.join("\n")}${text.endsWith("\n") && lines.length > 0 ? "\n" : ""}`;
}

import { checkArguments, closed } from "../error/check-shape.ts";
import { oneOf, optional } from "../util/shape.ts";
import type { Journal } from "./journal.ts";
import { type JournalRecord, recordedJournal, recordsShape } from "./recorded-journal.ts";

const optionsShape = closed({ mode: optional(oneOf("replay")) });

/** A journal whose records can be read, to be stored elsewhere or given to another run. */
export interface MemoryJournal extends Journal {
  readonly records: readonly JournalRecord[];
}

/** Options of a journal in memory. */
export interface MemoryJournalOptions extends Pick<Journal, "mode"> {}

/**
 * A journal in memory. With the records of an earlier run it replays that run: no recorded effect happens again, and the facts are the
 * same. Records are kept as JSON text, so a replay gets what a disk would give back. With `mode: "replay"` nothing new
 * happens: the run ends as it ended then, or, where the records end, with `journal-ended`.
 *
 * @throws WritError `journal-mismatch` from a step whose record was made from another request; in a replay, `journal-ended` from a step without a record
 * @example
 * ```ts
 * import { agent, memoryJournal } from "writ";
 *
 * const echo = agent({ name: "echo", instructions: "", model: () => "hello" });
 * const journal = memoryJournal();
 * await echo.run("hi", { journal });
 * await echo.run("hi", { journal: memoryJournal(journal.records) }); // the model is not asked again
 * await echo.run("hi", { journal: memoryJournal(journal.records, { mode: "replay" }) }); // nobody could be
 * ```
 */
export function memoryJournal(
  records: readonly JournalRecord[] = [],
  options: MemoryJournalOptions = {},
): MemoryJournal {
  checkArguments("memoryJournal()", { records, options }, { records: recordsShape, options: optionsShape });
  const kept = [...records];
  let keys: Set<string> | undefined; // made when the first record is kept: a replay keeps none
  const journal = recordedJournal(records, (record) => {
    keys ??= new Set(kept.map(({ key }) => key));
    const isAgain = record.json !== undefined && keys.has(record.key);
    const begun = isAgain ? kept.findLastIndex(({ key }) => key === record.key) : -1;
    if (begun >= 0) kept.splice(begun, 1); // the result takes the place of the beginning, in the order of ends
    keys.add(record.key);
    kept.push(record);
  });
  return { ...journal, ...options, records: kept };
}

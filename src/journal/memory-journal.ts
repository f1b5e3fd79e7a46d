import { WritError } from "../error/writ-error.ts";
import { waitForAll } from "../util/wait-for-all.ts";
import type { Journal, Step } from "./journal.ts";

/** A journal's record of one step: its result as JSON text, and the fingerprint of what it was asked. */
export interface JournalRecord {
  readonly key: string;
  readonly fingerprint: string;
  readonly json: string;
}

/** A journal whose records can be read, to be kept elsewhere or given to another run. */
export interface MemoryJournal extends Journal {
  readonly records: readonly JournalRecord[];
}

/**
 * A journal in memory. Given the records of an earlier run it replays that run: no recorded effect happens again, and the facts are the
 * same. Records are kept as JSON text, so that what is replayed is what a disk would give back.
 *
 * @throws WritError `journal-mismatch` from a step whose record was made from another request.
 * @example
 * ```ts
 * import { agent, memoryJournal } from "writ";
 *
 * const echo = agent({ name: "echo", instructions: "", model: () => "hello" });
 * const journal = memoryJournal();
 * await echo.run("hi", { journal });
 * await echo.run("hi", { journal: memoryJournal(journal.records) }); // the model is not asked again
 * ```
 */
export function memoryJournal(records: readonly JournalRecord[] = []): MemoryJournal {
  const kept = [...records];
  const byKey = new Map(kept.map((record) => [record.key, record]));

  async function step<Result>({ key, run, fingerprint }: Step<Result>): Promise<Result> {
    const asked = fingerprint?.() ?? "";
    let record = byKey.get(key);
    if (record === undefined) {
      record = { key, fingerprint: asked, json: JSON.stringify(await run()) };
      kept.push(record);
      byKey.set(key, record);
    }
    if (record.fingerprint !== asked) throw new WritError("journal-mismatch", { key });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a step of this key and fingerprint wrote it
    return JSON.parse(record.json) as Result;
  }

  return { records: kept, step, all: (steps) => waitForAll(steps.map(step)) };
}

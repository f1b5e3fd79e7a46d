import type { JournalRecord } from "../journal/recorded-journal.ts";

/** The records of the runs inside a run: by the place where they begin (a call, a step of a composition), then by the run. Each run has its own keys. */
export type RecordsInside = ReadonlyMap<string, ReadonlyMap<string, readonly JournalRecord[]>>;

/** A place, the run that began there (its agent, a hash of its input, and a number among equal ones), and the key in that run. */
const insideKey = /^((?:turn\/\d+\/call\/)?\d+)\/(.+?~[0-9a-z]+\/\d+)\/(.+)$/;

/** Sorts the records of the runs inside a run, one level deep. */
export function recordsInside(records: readonly JournalRecord[]): RecordsInside {
  const places = new Map<string, Map<string, JournalRecord[]>>();
  for (const record of records) {
    const [, at, run, key] = insideKey.exec(record.key) ?? [];
    if (at === undefined || run === undefined || key === undefined) continue;
    const runs = places.get(at) ?? new Map<string, JournalRecord[]>();
    places.set(at, runs);
    const kept = runs.get(run) ?? [];
    runs.set(run, kept);
    kept.push({ ...record, key });
  }
  return places;
}

/** The name of the agent of a run inside, from the place of the run. */
export const agentIn = (run: string): string => run.slice(0, run.lastIndexOf("~"));

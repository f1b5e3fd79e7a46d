import type { JournalRecord } from "../journal/recorded-journal.ts";
import { endKey } from "../journal/record-form.ts";
import type { KeptEnd } from "../run/kept-end.ts";
import type { StoredRun } from "./run-store.ts";

/**
 * The records of a run, including its end. A run that was cancelled has its end only in the store, because its worker could record nothing more: it
 * ended after the last of its records.
 */
export function withEnd(
  records: readonly JournalRecord[],
  run: StoredRun | undefined,
): readonly JournalRecord[] {
  const outcome = run?.end?.outcome;
  if (outcome?.type !== "cancelled" || records.some(({ key }) => key === endKey)) return records;
  const ended = records.filter(({ json }) => json !== undefined);
  const open = records.filter(({ json }) => json === undefined).map(({ key }) => key);
  const last = ended.at(-1)?.key;
  const kept: KeptEnd = {
    outcome,
    at: run?.endedAt ?? 0,
    open,
    stop: outcome,
    ...(open.length > 0 || last === undefined ? {} : { after: last }),
  };
  return [...records, { key: endKey, fingerprint: "", json: JSON.stringify(kept) }];
}

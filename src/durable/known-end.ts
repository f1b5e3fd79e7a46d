import type { Outcome } from "../event/outcome.ts";
import type { JournalRecord } from "../journal/recorded-journal.ts";
import { endKey } from "../journal/record-form.ts";
import { type KeptEnd, pauseKey } from "../run/kept-end.ts";
import type { StoredRun } from "./run-store.ts";

/**
 * The records of a run, including its end. Two ends are only in the store: that of a run that was cancelled, because its worker could record nothing more,
 * so that it ended after the last of its records; and the first bound that a run met, because its records end there.
 */
export function withEnd(
  records: readonly JournalRecord[],
  run: StoredRun | undefined,
): readonly JournalRecord[] {
  const outcome = run?.end?.outcome;
  if (outcome === undefined || records.some(({ key }) => key === endKey)) return records;
  const at = run?.endedAt ?? 0;
  if (outcome.type === "cancelled") return [...records, recordOf(endKey, cancelled(outcome, records, at))];
  const isBound = outcome.type === "exhausted" || outcome.type === "suspended";
  const first = pauseKey(1);
  if (!isBound || records.some(({ key }) => key === first)) return records;
  return [...records, recordOf(first, { outcome, at, open: [] })];
}

function cancelled(
  outcome: Extract<Outcome, { type: "cancelled" }>,
  records: readonly JournalRecord[],
  at: number,
): KeptEnd {
  const ended = records.filter(({ json }) => json !== undefined);
  const open = records.filter(({ json }) => json === undefined).map(({ key }) => key);
  const last = ended.at(-1)?.key;
  const after = open.length > 0 || last === undefined ? {} : { after: last };
  return { outcome, at, open, stop: outcome, ...after };
}

function recordOf(key: string, kept: KeptEnd): JournalRecord {
  return { key, fingerprint: "", json: JSON.stringify(kept) };
}

import { isWritError, WritError } from "../../error/writ-error.ts";
import type { JournalRecord } from "../../journal/recorded-journal.ts";
import { asError } from "../../util/interrupt.ts";
import { fromKey, toKey } from "../stored-text.ts";
import { type Database } from "./database.ts";

/** A run, with the number of times that it was taken: writes of an earlier owner are refused. */
export interface Claim {
  readonly runId: string;
  readonly epoch: number;
}

/** The records of the runs in a file. Its functions run inside a transaction. */
export interface RunSteps {
  /** All records, or those after the record of a key. */
  list(runId: string, after?: string): readonly JournalRecord[];
  /**
   * Keeps a record. For a run that has ended, it keeps only the result of a step that is recorded as begun. Returns the JSON text of an answer that somebody
   * gave under its key, which stays.
   *
   * @throws WritError `run-taken`, `run-ended`
   */
  keep(claim: Claim, record: JournalRecord): string | undefined;
  /** Takes the keys of runs, as a list of JSON. */
  forget(runs: string): void;
}

/** The table of {@link runSteps}, beside that of the runs. */
export const stepTable = `
  CREATE TABLE IF NOT EXISTS writ_steps (
    place INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, json TEXT,
    UNIQUE (run, key)
  ) STRICT;`;

/** The records in a file. */
export function runSteps(database: Database): RunSteps {
  const select = database.prepare(
    `SELECT key, fingerprint, json FROM writ_steps WHERE run = $run
      AND place > coalesce((SELECT place FROM writ_steps WHERE run = $run AND key = $after), 0) ORDER BY place`,
  );
  const put = database.prepare(
    `INSERT OR REPLACE INTO writ_steps (run, key, fingerprint, json) SELECT $run, $key, $fingerprint, $json WHERE EXISTS (
      SELECT 1 FROM writ_runs WHERE id = $run AND epoch = $epoch
        AND (ended IS NULL OR $json IS NOT NULL AND EXISTS (SELECT 1 FROM writ_steps WHERE run = $run AND key = $key AND json IS NULL)))
      AND NOT EXISTS (SELECT 1 FROM writ_steps WHERE run = $run AND key = $key AND fingerprint = $fingerprint AND json IS NOT NULL)`,
  );
  const answered = database.prepare(
    `SELECT json FROM writ_steps WHERE run = $run AND key = $key AND fingerprint = $fingerprint AND json IS NOT NULL
      AND EXISTS (SELECT 1 FROM writ_runs WHERE id = $run AND epoch = $epoch AND ended IS NULL)`,
  );
  const forget = database.prepare("DELETE FROM writ_steps WHERE run IN (SELECT value FROM json_each(?))");
  const refusal = refusalIn(database);
  return {
    list: (runId, after) =>
      select
        .all({ run: toKey(runId), after: after === undefined ? null : toKey(after) })
        .map(({ key, fingerprint, json }) => ({
          key: fromKey(key),
          fingerprint: fromKey(fingerprint),
          ...(json === null ? {} : { json: String(json) }),
        })),
    keep(claim, { key, fingerprint, json = null }) {
      const { runId, epoch } = claim;
      const place = { run: toKey(runId), epoch, key: toKey(key), fingerprint: toKey(fingerprint) };
      if (put.run({ ...place, json }).changes > 0) return undefined;
      const given = answered.get(place)?.["json"];
      if (typeof given !== "string") throw refusal(claim);
      return given;
    },
    forget: (runs) => void forget.run(runs),
  };
}

/** A record on its way to the disk. */
interface Arriving {
  readonly claim: Claim;
  readonly record: JournalRecord;
  readonly mustLast: boolean;
  /** Called when it is kept, with the answer that is kept in its place, or with the error. */
  readonly done: (end: string | Error | undefined) => void;
}

/** Keeps records for all runs of a process. */
export interface StepKeeper {
  /** Resolves when the record is kept, with the answer that is kept in its place. @throws WritError `run-taken`, `run-ended`, `database-failed` */
  keep(arriving: Omit<Arriving, "done">): Promise<string | undefined>;
  /** Keeps the waiting records at once, or throws. */
  flush(): void;
}

/**
 * The time for retries: another program can lock a file for longer than SQLite waits, to copy a large file or for a `VACUUM`, and a full disk may be given room.
 * Waiting records are kept after it.
 */
const patienceMs = 60_000;
const pauseMs = 500;

/**
 * Keeps all records together that come in one turn of the event loop, of any runs, so that they wait for the disk once. A record that need not be durable waits
 * for no other.
 */
export function stepKeeper(database: Database, steps: Pick<RunSteps, "keep">): StepKeeper {
  let coming: Arriving[] = [];
  function write(records: readonly Arriving[]): void {
    const ends = new Map<Arriving, string | Error | undefined>();
    const firmness = records.some(({ mustLast }) => mustLast) ? "FULL" : "NORMAL";
    database.write(() => {
      ends.clear();
      for (const each of records)
        try {
          ends.set(each, steps.keep(each.claim, each.record));
        } catch (error) {
          if (!isWritError(error, "run-taken") && !isWritError(error, "run-ended")) throw error;
          ends.set(each, error); // the other runs go on
        }
    }, firmness);
    for (const each of records) each.done(ends.get(each));
  }
  let failedAt: number | undefined;
  function flush(isLast: boolean): void {
    const records = coming;
    if (records.length === 0) return;
    coming = [];
    try {
      write(records);
      failedAt = undefined;
    } catch (error) {
      const mayPass = isWritError(error, "database-failed") && error.retryable;
      failedAt = mayPass ? (failedAt ?? performance.now()) : undefined;
      if (!isLast && failedAt !== undefined && performance.now() - failedAt < patienceMs) {
        coming = [...records, ...coming];
        setTimeout(flush, pauseMs, false);
        return;
      }
      for (const { done } of records) done(asError(error));
    }
  }
  return {
    keep: (arriving) =>
      new Promise((resolve, reject) => {
        const done: Arriving["done"] = (end) => (end instanceof Error ? reject(end) : resolve(end));
        const isFirst = coming.push({ ...arriving, done }) === 1;
        if (isFirst && arriving.mustLast) setImmediate(flush, false);
        else if (isFirst) flush(false);
      }),
    flush: () => flush(true),
  };
}

/** The reason why nothing was written: the run was taken, or it has ended. */
export function refusalIn(database: Database): (claim: Claim) => WritError<"run-taken" | "run-ended"> {
  const find = database.prepare("SELECT status FROM writ_runs WHERE id = ? AND epoch = ?");
  return ({ runId, epoch }) => {
    const status = find.get(toKey(runId), epoch)?.["status"];
    return status === undefined
      ? new WritError("run-taken", { id: runId })
      : new WritError("run-ended", { id: runId, status: String(status) });
  };
}

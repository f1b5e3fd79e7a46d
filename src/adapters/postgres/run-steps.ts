import { WritError } from "../../error/writ-error.ts";
import type { JournalRecord } from "../../journal/recorded-journal.ts";
import { fromKey, toKey } from "../stored-text.ts";
import type { Query, Row } from "./database.ts";
import type { RunTables } from "./run-tables.ts";

/** A run of this process, with the number of times that it was taken: writes of an earlier owner are refused. */
export interface Claim {
  readonly id: string;
  /** The number of its row. Another run of the same id has another number. */
  readonly number: string;
  readonly epoch: string;
}

/** The records of the runs in a database. */
export interface RunSteps {
  /** All records, or those after the record of a key. */
  list(id: string, after?: string): Promise<readonly JournalRecord[]>;
  /**
   * Makes the function that keeps the records of one run. Records that come while it writes go together into the next statement. It returns the JSON text of an
   * answer that somebody gave under the key of a record, which stays.
   */
  keeper(claim: Claim): (record: JournalRecord) => Promise<string | undefined>;
  /** The reason why nothing was written: the run was taken, or it has ended. */
  refusal(claim: Claim): Promise<WritError<"run-taken" | "run-ended">>;
}

export function runSteps(query: Query, { runs, steps }: RunTables): RunSteps {
  // Every writer of a record locks the run's row before the record gets its place, so no record is inserted before one that could already be read.
  const select = `WITH mine AS (SELECT number FROM ${runs} WHERE id = $1)
    SELECT key, fingerprint, json FROM ${steps} WHERE run = (SELECT number FROM mine)
      AND place > coalesce((SELECT place FROM ${steps} WHERE run = (SELECT number FROM mine) AND key = $2), 0) ORDER BY place`;
  // The lock on the run's row lasts until the records are committed: a process that takes the run waits for it, and then reads them. If the epoch were only
  // read, it
  // could be the old one, and its records would appear after the next owner has read.
  const insert = (fresh: string): string => `INSERT INTO ${steps} AS kept (run, key, fingerprint, json)
    SELECT mine.number, fresh.* FROM ${runs} AS mine, ${fresh} AS fresh (key, fingerprint, json)
      WHERE mine.number = $1 AND mine.epoch = $2 AND (mine.ended IS NULL OR fresh.json IS NOT NULL AND EXISTS (
        SELECT FROM ${steps} AS begun WHERE begun.run = $1 AND begun.key = fresh.key AND begun.json IS NULL))
      FOR SHARE OF mine
    ON CONFLICT (run, key) DO UPDATE SET place = DEFAULT, json = excluded.json WHERE kept.json IS NULL
    RETURNING key`;
  // The server plans the first statement once, but the second each time, because it checks the number of records.
  const insertOne = insert("(SELECT $3::text, $4::text, $5::text)");
  const insertMany = insert("unnest($3::text[], $4::text[], $5::text[])");
  const known = `SELECT json, EXISTS (SELECT FROM ${runs} WHERE number = $1 AND epoch = $4 AND ended IS NULL) AS mine
    FROM ${steps} WHERE run = $1 AND key = $2 AND fingerprint = $3 AND json IS NOT NULL`;
  const find = `SELECT status FROM ${runs} WHERE number = $1 AND epoch = $2`;

  async function write(
    { number, epoch }: Claim,
    records: readonly JournalRecord[],
  ): Promise<ReadonlySet<unknown>> {
    const columns = [
      records.map(({ key }) => toKey(key)),
      records.map(({ fingerprint }) => toKey(fingerprint)),
      records.map(({ json = null }) => json),
    ];
    const rows = await (records.length === 1
      ? query(insertOne, [number, epoch, ...columns.flat()])
      : query(insertMany, [number, epoch, ...columns]));
    return new Set(rows.map(({ key }) => fromKey(key)));
  }

  async function refusal({ id, number, epoch }: Claim): Promise<WritError<"run-taken" | "run-ended">> {
    const [run] = await query(find, [number, epoch]);
    return run === undefined
      ? new WritError("run-taken", { id })
      : new WritError("run-ended", { id, status: String(run["status"]) });
  }

  /**
   * The JSON text that is there already. If it is the same, the statement was repeated after the server went away. Otherwise somebody has answered meanwhile,
   * or another process took the run: then it is undefined.
   */
  async function standing(
    { number, epoch }: Claim,
    { key, fingerprint, json }: JournalRecord,
  ): Promise<string | undefined> {
    const [row] = await query(known, [number, toKey(key), toKey(fingerprint), epoch]);
    return row !== undefined && (row["json"] === json || row["mine"] === true)
      ? String(row["json"])
      : undefined;
  }

  return {
    async list(id, after) {
      return (await query(select, [toKey(id), after === undefined ? null : toKey(after)])).map(recordIn);
    },
    keeper(claim) {
      const inBatches = gathered((records: readonly JournalRecord[]) => write(claim, records));
      return async (record) => {
        const kept = await inBatches(record);
        if (kept.has(record.key)) return undefined;
        const stands = record.json === undefined ? undefined : await standing(claim, record);
        if (stands === undefined) throw await refusal(claim);
        return stands;
      };
    },
    refusal,
  };
}

/** The record of a row. */
export function recordIn({ key, fingerprint, json }: Row): JournalRecord {
  return {
    key: fromKey(key),
    fingerprint: fromKey(fingerprint),
    ...(json === null ? {} : { json: String(json) }),
  };
}

/** Does one piece of work at a time; items that come meanwhile are done together afterwards. */
function gathered<Item, Result>(
  work: (items: readonly Item[]) => Promise<Result>,
): (item: Item) => Promise<Result> {
  let before: Promise<unknown> = Promise.resolve();
  let next: { readonly items: Item[]; readonly done: Promise<Result> } | undefined;
  function begin(): { readonly items: Item[]; readonly done: Promise<Result> } {
    const items: Item[] = [];
    const done = before.then(() => {
      next = undefined;
      return work(items);
    });
    before = done.catch(() => undefined);
    return { items, done };
  }
  return (item) => {
    next ??= begin();
    next.items.push(item);
    return next.done;
  };
}

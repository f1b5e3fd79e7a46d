import { WritError } from "../../error/writ-error.ts";
import type { JournalRecord } from "../../journal/recorded-journal.ts";
import { fromKey, toKey } from "../stored-text.ts";
import type { Query, Row } from "./database.ts";
import type { RunTables } from "./run-tables.ts";

/** A run that this process has, and the number of times that it was taken: what an earlier owner writes is refused. */
export interface Claim {
  readonly id: string;
  /** Of its row. Another run of the same id has another number. */
  readonly number: string;
  readonly epoch: string;
}

/** The records of the runs in a database. */
export interface RunSteps {
  /** All, or those behind the one of a key. */
  list(id: string, after?: string): Promise<readonly JournalRecord[]>;
  /**
   * A function that keeps the records of one run. What is given while it writes goes together in the next statement. It gives the JSON text that somebody has
   * answered under the key of a record, which stays.
   */
  keeper(claim: Claim): (record: JournalRecord) => Promise<string | undefined>;
  /** The reason for which nothing was written: the run was taken, or it has ended. */
  refusal(claim: Claim): Promise<WritError<"run-taken" | "run-ended">>;
}

export function runSteps(query: Query, { runs, steps }: RunTables): RunSteps {
  // All who write a record hold the run's row before its place is drawn: none comes to stand before one that could be read.
  const select = `WITH mine AS (SELECT number FROM ${runs} WHERE id = $1)
    SELECT key, fingerprint, json FROM ${steps} WHERE run = (SELECT number FROM mine)
      AND place > coalesce((SELECT place FROM ${steps} WHERE run = (SELECT number FROM mine) AND key = $2), 0) ORDER BY place`;
  // The lock on the run's row stands until the records do: who takes the run waits for it, and then reads them. An epoch that was only looked at
  // could be the one of before, and its records would come after the next owner has read.
  const insert = (fresh: string): string => `INSERT INTO ${steps} AS kept (run, key, fingerprint, json)
    SELECT mine.number, fresh.* FROM ${runs} AS mine, ${fresh} AS fresh (key, fingerprint, json)
      WHERE mine.number = $1 AND mine.epoch = $2 AND (mine.ended IS NULL OR fresh.json IS NOT NULL AND EXISTS (
        SELECT FROM ${steps} AS begun WHERE begun.run = $1 AND begun.key = fresh.key AND begun.json IS NULL))
      FOR SHARE OF mine
    ON CONFLICT (run, key) DO UPDATE SET place = DEFAULT, json = excluded.json WHERE kept.json IS NULL
    RETURNING key`;
  // The server plans the first once. The second it plans each time: it looks how many there are.
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
   * The JSON text that stands there already. As it is, it was said again after the server went away. Another one somebody has answered meanwhile, or is of whoever
   * took the run: then it is undefined.
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

/** Does one piece of work at a time; what is given meanwhile is done together afterwards. */
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

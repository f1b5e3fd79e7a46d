import type { Erased, NewRun, RunEnd, RunFilter, StoredRun } from "../../durable/run-store.ts";
import { WritError } from "../../error/writ-error.ts";
import { listStatement, type ListWords } from "../run-list.ts";
import { begunIn, runIn, startOf } from "../stored-run.ts";
import { fromKey, toKey } from "../stored-text.ts";
import { nowMs, type PostgresDatabase, type Query } from "./database.ts";
import { heldLocks } from "./held-locks.ts";
import { claimedBy } from "./run-claims.ts";
import type { Claim } from "./run-steps.ts";
import { changeOf, columns, type RunTables } from "./run-tables.ts";

/** The rows of the runs in a database. */
export interface RunRows {
  begin(run: NewRun): Promise<StoredRun>;
  find(id: string): Promise<StoredRun | undefined>;
  /** @throws WritError `run-missing` */
  list(wanted: RunFilter): Promise<readonly StoredRun[]>;
  /** @throws WritError `run-missing`, `run-moved` */
  cancel(id: string, reason: string): Promise<StoredRun>;
  /** @throws WritError `run-missing`, `run-moved` */
  reopen(id: string): Promise<StoredRun>;
  /** @throws WritError `run-claimed` */
  erase(which: Erased): Promise<number>;
  /** Ends the run of a claim, if it has not ended. False if it was taken. */
  end(claim: Claim, end: RunEnd): Promise<boolean>;
  /** Gives up the run of a claim, without the questions in `passed`. It waits if `waits` is true and nobody has answered since it was taken. */
  leave(claim: Claim, waits: boolean, passed: readonly string[]): Promise<void>;
}

/** The condition of a run whose process died, among the runs that a process had. */
const isLeft = `lock NOT IN (${heldLocks})`;

/** The columns of a run as others see it: a run whose process died is ready. */
const seen = columns.replace(
  "status",
  `CASE WHEN status = 'running' AND ${isLeft} THEN 'ready' ELSE status END AS status`,
);

export function runRows(database: PostgresDatabase, tables: RunTables): RunRows {
  const { runs, questions, told, lockOf } = tables;
  const insert = `INSERT INTO ${runs} (id, lock, agent, session, protocol, begun, start) VALUES ($1, $2, $3, $4, $5, ${nowMs}, $6)
    ON CONFLICT (id) DO NOTHING RETURNING ${columns}, ${told("$7")}`;
  const select = `SELECT ${seen} FROM ${runs} WHERE id = $1`;
  const words: ListWords = {
    table: runs,
    columns: seen,
    order: "number",
    startsWith: (column, text) => `starts_with(${column}, ${text})`,
    orderInSession: "number + 0",
    questions,
    asker: "number",
    unindexed: (column) => column, // the server knows the number of rows for each value
    standsAs: {
      running: `status = 'running' AND NOT ${isLeft}`,
      ready: `status IN ('ready', 'running') AND (status = 'ready' OR ${isLeft})`,
    },
  };
  const withoutQuestions = (ending: string): string =>
    `WITH ending AS (${ending} RETURNING number), gone AS (DELETE FROM ${questions} USING ending WHERE run = ending.number)
      SELECT ${told("$1")} FROM ending`;
  const cancel = withoutQuestions(
    `UPDATE ${runs} SET status = 'cancelled', ended = ${nowMs}, finish = $3 WHERE id = $2 AND ended IS NULL AND status <> 'moved'`,
  );
  const finish =
    withoutQuestions(`UPDATE ${runs} SET owner = NULL, status = CASE WHEN ended IS NULL THEN $4 ELSE status END,
    finish = coalesce(finish, $5), ended = coalesce(ended, ${nowMs}) WHERE number = $2 AND epoch = $3`);
  const leave = `WITH leaving AS (UPDATE ${runs} SET owner = NULL, status = CASE WHEN ended IS NOT NULL THEN status WHEN $3 AND NOT woken THEN 'waiting'
      ELSE 'ready' END WHERE number = $1 AND epoch = $2 RETURNING number),
    gone AS (DELETE FROM ${questions} USING leaving WHERE run = leaving.number AND key = ANY($5::text[]))
    SELECT ${told("$4")} FROM leaving`;
  const reopen = `UPDATE ${runs} SET status = 'ready', ended = NULL, finish = NULL
    WHERE id = $1 AND ended IS NOT NULL AND status NOT IN ('answered', 'cancelled', 'moved') RETURNING ${told("$2")}`;

  const { query } = database;
  async function find(id: string): Promise<StoredRun | undefined> {
    const [row] = await query(select, [toKey(id)]);
    return row && runIn(row);
  }
  async function get(id: string): Promise<StoredRun> {
    const run = await find(id);
    if (run === undefined) throw new WritError("run-missing", { id });
    return run;
  }
  async function here(id: string): Promise<StoredRun> {
    const run = await get(id);
    if (run.status === "moved") throw new WritError("run-moved", { id });
    return run;
  }
  return {
    async begin(run) {
      const { id, agent, session, protocol } = run;
      const place = [toKey(id), lockOf(id), toKey(agent), keyOf(session)];
      const values = [...place, protocol, startOf(run), changeOf(id)];
      const [row] = await query(insert, values);
      const [known] = row === undefined ? await query(select, [toKey(id)]) : [row];
      return known === undefined ? get(id) : begunIn(known);
    },
    find,
    async list(wanted) {
      const { sql, values } = listStatement(wanted, words);
      const found = (await query(sql, values)).map(runIn);
      if (found.length === 0 && wanted.before !== undefined) await get(wanted.before);
      return found;
    },
    async cancel(id, reason) {
      const end: RunEnd = { outcome: { type: "cancelled", reason } };
      await query(cancel, [changeOf(id), toKey(id), JSON.stringify(end)]);
      return here(id);
    },
    async reopen(id) {
      await query(reopen, [toKey(id), changeOf(id)]);
      return here(id);
    },
    erase: (which) => database.transaction((query) => erased(query, tables, which)),
    async end({ id, number, epoch }, end) {
      const values = [changeOf(id), number, epoch, end.outcome.type, JSON.stringify(end)];
      return (await query(finish, values)).length > 0;
    },
    async leave({ id, number, epoch }, waits, passed) {
      await query(leave, [number, epoch, waits, changeOf(id), passed.map(toKey)]);
    },
  };
}

const keyOf = (text: string | undefined): string | null => (text === undefined ? null : toKey(text));

/** Runs inside a transaction. */
async function erased(
  query: Query,
  { runs, steps, questions, told }: RunTables,
  which: Erased,
): Promise<number> {
  // A run that has ended is never claimed for long, and there may be very many: it is skipped while another process reads it.
  const old = `SELECT number FROM ${runs} WHERE ended < $1 AND lock NOT IN (${heldLocks}) ORDER BY ended LIMIT $2 FOR UPDATE SKIP LOCKED`;
  // A run without an owner is given up, though its lock may be held for a moment more.
  const some = (column: string): string => `WITH wanted AS MATERIALIZED (
      SELECT number, id, lock, owner FROM ${runs} WHERE ${column} = $1 ORDER BY number FOR UPDATE)
    SELECT number, id, owner, CASE WHEN owner IS NULL THEN true ELSE pg_try_advisory_xact_lock(lock) END AS free FROM wanted`;
  const rows =
    "endedBefore" in which
      ? await query(old, [which.endedBefore, which.most])
      : "id" in which
        ? await query(some("id"), [toKey(which.id)])
        : await query(some("session"), [toKey(which.session)]);
  const taken = rows.find(({ free }) => free === false);
  if (taken !== undefined) throw claimedBy(taken);
  const numbers = rows.map(({ number }) => Number(number));
  await query(`DELETE FROM ${steps} WHERE run = ANY($1)`, [numbers]);
  await query(`DELETE FROM ${questions} WHERE run = ANY($1)`, [numbers]);
  await query(`DELETE FROM ${runs} WHERE number = ANY($1)`, [numbers]);
  const changed = "endedBefore" in which ? [""] : rows.map(({ id }) => changeOf(fromKey(String(id)))); // for very many runs, no ids are announced
  await query(`SELECT ${told("id")} FROM unnest($1::text[]) AS id`, [changed]);
  return rows.length;
}

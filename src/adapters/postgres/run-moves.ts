import { checkArrival, movedRun } from "../../durable/moved-run.ts";
import type { MovedRun, StoredRun } from "../../durable/run-store.ts";
import { WritError } from "../../error/writ-error.ts";
import { jsonColumn, movedQuestionIn, runIn, startOf } from "../stored-run.ts";
import { toKey } from "../stored-text.ts";
import type { PostgresDatabase, Query, Row } from "./database.ts";
import { recordIn } from "./run-steps.ts";
import { changeOf, columns, type RunTables } from "./run-tables.ts";

/** Moves the runs of a database to other stores and back. */
export interface RunMoves {
  /** @throws WritError `run-missing` */
  out(id: string): Promise<MovedRun>;
  /** @throws WritError `run-exists` */
  in(moved: MovedRun): Promise<StoredRun>;
}

export function runMoves({ transaction }: PostgresDatabase, tables: RunTables): RunMoves {
  const { runs, steps, questions, told, lockOf } = tables;
  const find = `SELECT number, ${columns} FROM ${runs} WHERE id = $1 FOR UPDATE`; // the process that carries it out has written by then, or never will
  const leave = `UPDATE ${runs} SET epoch = epoch + 1, owner = NULL, status = 'moved', start = $2 WHERE number = $1 RETURNING ${told("$3")}`;
  const recordsOf = `SELECT key, fingerprint, json FROM ${steps} WHERE run = $1 ORDER BY place`;
  const questionsOf = `SELECT id AS run, key, fingerprint, request, since, until, last, people FROM ${questions} JOIN ${runs} ON number = run WHERE run = $1 AND ended IS NULL ORDER BY place`;
  const arrive = `INSERT INTO ${runs} (id, lock, status, agent, session, protocol, begun, ended, start, finish)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (id) DO NOTHING RETURNING number, ${columns}, ${told("$11")}`;
  const record = `INSERT INTO ${steps} (run, key, fingerprint, json)
    SELECT $1, key, fingerprint, json FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS moved (key, fingerprint, json, place)
    ORDER BY place`;
  const ask = `INSERT INTO ${questions} (run, key, fingerprint, request, since, until, last, people)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`;
  const forget = [steps, questions].map((table) => `DELETE FROM ${table} WHERE run = $1`);
  const forgetRun = `DELETE FROM ${runs} WHERE number = $1`;

  async function forgetOld(query: Query, { number }: Row): Promise<void> {
    for (const sql of [...forget, forgetRun]) await query(sql, [number]);
  }
  async function put(query: Query, { run, records, questions: asked }: MovedRun): Promise<Row> {
    const { id, agent, session, status, protocol, begunAt, endedAt = null, end } = run;
    const place = [
      toKey(id),
      lockOf(id),
      status,
      toKey(agent),
      session === undefined ? null : toKey(session),
    ];
    const finish = end === undefined ? null : JSON.stringify(end);
    const [row] = await query(arrive, [
      ...place,
      protocol,
      begunAt,
      endedAt,
      startOf(run),
      finish,
      changeOf(id),
    ]);
    if (row === undefined) throw new WritError("run-exists", { id }); // another process inserted it at the same moment
    const { number } = row;
    await query(record, [
      number,
      records.map(({ key }) => toKey(key)),
      records.map(({ fingerprint }) => toKey(fingerprint)),
      records.map(({ json = null }) => json),
    ]);
    for (const { key, fingerprint, request, since, until = null, last = null, by } of asked) {
      const question = [toKey(key), toKey(fingerprint), JSON.stringify(request)];
      await query(ask, [number, ...question, since, until, last, jsonColumn(by)]);
    }
    return row;
  }
  return {
    out: (id) =>
      transaction(async (query) => {
        const [row] = await query(find, [toKey(id)]);
        if (row === undefined) throw new WritError("run-missing", { id });
        const run = movedRun(runIn(row));
        const { number } = row;
        await query(leave, [number, startOf(run), changeOf(id)]);
        const [records, asked] = [await query(recordsOf, [number]), await query(questionsOf, [number])];
        return { run, records: records.map(recordIn), questions: asked.map(movedQuestionIn) };
      }),
    async in(moved) {
      let arrived: StoredRun | undefined; // by an attempt whose result was lost
      return transaction(async (query) => {
        const [known] = await query(find, [toKey(moved.run.id)]);
        const stored = known && runIn(known);
        if (arrived !== undefined && JSON.stringify(arrived) === JSON.stringify(stored)) return arrived;
        checkArrival(moved.run, stored);
        if (known !== undefined) await forgetOld(query, known);
        arrived = runIn(await put(query, moved));
        return arrived;
      });
    },
  };
}

import { WritError } from "../../error/writ-error.ts";
import { answerRecord, notWaiting } from "../../durable/answer-record.ts";
import type { QuestionAnswer, QuestionFilter, RunSignal, WaitingQuestion } from "../../durable/run-store.ts";
import { isWaitFor, printOfSignal, signalAnswer, signalRecord, takenSignal } from "../../durable/signals.ts";
import type { KeptQuestion } from "../../journal/recorded-journal.ts";
import { questionStatement, type QuestionWords } from "../question-list.ts";
import { jsonColumn, questionIn, questionsIn, restOfPage } from "../stored-run.ts";
import { fromKey, toKey } from "../stored-text.ts";
import { nowMs, type PostgresDatabase, type Query } from "./database.ts";
import type { Claim } from "./run-steps.ts";
import { changeOf, type RunTables } from "./run-tables.ts";

/** The questions of the runs in a database. */
export interface RunQuestions {
  /** Keeps a question, or returns the answer that came meanwhile. False if the run was taken, or has ended. */
  keep(claim: Claim, question: KeptQuestion): Promise<string | boolean>;
  list(id?: string, wanted?: QuestionFilter): Promise<readonly WaitingQuestion[]>;
  /** Also makes a waiting run ready. @throws WritError `question-…` */
  answer(id: string, key: string, answer: QuestionAnswer): Promise<void>;
  /** Answers a wait for a signal, or keeps the signal. @throws WritError `run-missing`, `run-moved`, `run-ended` */
  signal(id: string, signal: RunSignal): Promise<void>;
  /** Removes questions that nothing waits for any more. */
  withdraw(claim: Claim, keys: readonly string[]): Promise<void>;
  /** Answers the questions whose time is over. Returns the ids of their runs. */
  expire(): Promise<readonly string[]>;
}

/** The condition of a valid question. The statement that ends a run removes its questions, but does not see one that is kept at the same moment. */
const isOpen = "status <> 'moved' AND ended IS NULL";

// The subquery is a value: of NOT EXISTS the server expects next to no rows, and reads every question for one page.
const wordsOf = ({ runs, steps, questions }: RunTables): QuestionWords => ({
  select: `SELECT id AS run, agent, ${columns} FROM ${questions} JOIN ${runs} ON number = run WHERE ${isOpen}
    AND coalesce((SELECT false FROM ${steps} AS given WHERE given.run = number AND given.key = ${questions}.key), true)`,
  table: questions,
  id: "id",
  asker: (id) => `(SELECT number FROM ${runs} WHERE id = ${id})`,
  startsWith: (column, text) => `starts_with(${column}, ${text})`,
  ofAgents: (list) => `agent IN (SELECT json_array_elements_text(${list}::json))`,
});

/** The wanted questions that can be read: other ones do not make a page shorter. */
async function readableIn(
  from: { readonly query: Query; readonly words: QuestionWords },
  id: string | undefined,
  wanted: QuestionFilter = {},
): Promise<readonly WaitingQuestion[]> {
  const { sql, values } = questionStatement(id, wanted, from.words);
  const rows = await from.query(sql, values);
  const found = questionsIn(rows, id);
  const rest = restOfPage(rows, found.length, wanted);
  return rest === undefined ? found : [...found, ...(await readableIn(from, id, rest))];
}

export function runQuestions({ query, transaction }: PostgresDatabase, tables: RunTables): RunQuestions {
  const { runs, steps, questions, told } = tables;
  const mine = `SELECT ended FROM ${runs} WHERE number = $1 AND epoch = $2 FOR NO KEY UPDATE`; // from here on neither an answer nor a record can be written
  const known = `SELECT json FROM ${steps} WHERE run = $1 AND key = $2 AND fingerprint = $3`;
  const insert = `WITH clock AS MATERIALIZED (SELECT ${nowMs} AS now)
    INSERT INTO ${questions} (run, key, fingerprint, request, since, until, last, people)
    SELECT $1, $2, $3, $4, now, now + $5::bigint, $6, $7 FROM clock
    ON CONFLICT (run, key) DO UPDATE SET fingerprint = excluded.fingerprint, request = excluded.request, people = excluded.people`;
  const words = wordsOf(tables);
  const lock = `SELECT number, status, ended FROM ${runs} WHERE id = $1 FOR UPDATE`;
  const take = `DELETE FROM ${questions} WHERE run = $1 AND key = $2 RETURNING fingerprint, ${columns}, ${nowMs} AS now`;
  const over = `SELECT id FROM ${questions} JOIN ${runs} ON number = run WHERE until <= ${nowMs} AND ${isOpen} GROUP BY id LIMIT ${atOnce}`;
  const takeOver = `DELETE FROM ${questions} WHERE run = $1 AND until <= ${nowMs} RETURNING key, fingerprint, last`;
  const record = `INSERT INTO ${steps} (run, key, fingerprint, json) VALUES ($1, $2, $3, $4)`;
  const wake = `UPDATE ${runs} SET woken = true, status = CASE status WHEN 'waiting' THEN 'ready' ELSE status END
    WHERE number = $1 RETURNING ${told("$2")}`;
  const gone = `DELETE FROM ${questions} USING ${runs} AS mine WHERE run = mine.number AND mine.number = $1 AND mine.epoch = $2
    AND key = ANY($3::text[]) RETURNING ${told("$4")}`;
  const answered = `SELECT json FROM ${steps} WHERE run = $1 AND key = $2`;

  const kept = `SELECT key, json FROM ${steps} WHERE run = $1 AND fingerprint = $2 ORDER BY place LIMIT 1`;
  const taken = `UPDATE ${steps} SET fingerprint = $3, json = $4 WHERE run = $1 AND key = $2`;

  const listed = (query: Query, id?: string, wanted?: QuestionFilter) =>
    readableIn({ query, words }, id, wanted);
  /** Takes the oldest kept signal of a name. */
  async function takeSignal(query: Query, number: unknown, name: string): Promise<string | undefined> {
    const [row] = await query(kept, [number, toKey(printOfSignal(name))]);
    if (row === undefined) return undefined;
    await query(taken, [number, row["key"], toKey(takenSignal.fingerprint), takenSignal.json]);
    return String(row["json"]);
  }

  return {
    keep: ({ number, epoch }, { key, fingerprint, request, atLast, by, signal }) =>
      transaction(async (query) => {
        const [run] = await query(mine, [number, epoch]);
        if (run === undefined) return false;
        const place = [number, toKey(key), toKey(fingerprint)];
        const json: unknown = (await query(known, place))[0]?.["json"];
        if (typeof json === "string") return json;
        if (run["ended"] !== null) return false;
        const sent = signal === undefined ? undefined : await takeSignal(query, number, signal);
        if (sent !== undefined) {
          await query(record, [...place, sent]);
          return sent;
        }
        const bounds = [atLast?.afterMs ?? null, jsonColumn(atLast?.answer), jsonColumn(by)];
        await query(insert, [...place, JSON.stringify(request), ...bounds]);
        return true;
      }),
    list: (id, wanted) => listed(query, id, wanted),
    async answer(id, key, answer) {
      let written: string | undefined; // by an attempt whose result was lost
      await transaction(async (query) => {
        const { number, status, ended } = (await query(lock, [toKey(id)]))[0] ?? {};
        if (status === "moved") throw new WritError("run-moved", { id });
        const known = (await query(answered, [number, toKey(key)]))[0];
        if (written !== undefined && known?.["json"] === written) return;
        const isAsked = known === undefined && ended === null; // the process that carries it out may have asked somebody itself
        const [row] = isAsked ? await query(take, [number, toKey(key)]) : [];
        if (row === undefined) throw notWaiting(id, key, known?.["json"]);
        written = answerRecord(questionIn({ ...row, run: toKey(id) }), answer, Number(row["now"]));
        await query(record, [number, toKey(key), row["fingerprint"], written]);
        await query(wake, [number, changeOf(id)]);
      });
    },
    signal: (id, signal) =>
      transaction(async (query) => {
        const { number, status, ended } = (await query(lock, [toKey(id)]))[0] ?? {};
        if (number === undefined) throw new WritError("run-missing", { id });
        if (status === "moved") throw new WritError("run-moved", { id });
        const question = (await listed(query, id)).find((each) => isWaitFor(each, signal.name));
        const { key, fingerprint, json } = signalRecord(signal, question !== undefined);
        if ((await query(answered, [number, toKey(key)])).length > 0) return;
        if (ended !== null) throw new WritError("run-ended", { id, status: String(status) });
        await query(record, [number, toKey(key), toKey(fingerprint), json]);
        if (question === undefined) return;
        const [row] = await query(take, [number, toKey(question.key)]);
        await query(record, [number, toKey(question.key), row?.["fingerprint"], signalAnswer(signal)]);
        await query(wake, [number, changeOf(id)]);
      }),
    async withdraw({ id, number, epoch }, keys) {
      await query(gone, [number, epoch, keys.map(toKey), changeOf(id)]);
    },
    async expire() {
      const ids = (await query(over)).map((row) => fromKey(row["id"]));
      for (const id of ids)
        await transaction(async (query) => {
          const { number, status, ended } = (await query(lock, [toKey(id)]))[0] ?? {};
          const rows = status === "moved" || ended !== null ? [] : await query(takeOver, [number]);
          for (const { key, fingerprint, last } of rows)
            if ((await query(answered, [number, key])).length === 0)
              await query(record, [number, key, fingerprint, last]);
          if (rows.length > 0) await query(wake, [number, changeOf(id)]);
        });
      return ids;
    },
  };
}

const columns = "key, request, since, until, people";

/** The most runs whose questions are answered in one pass. */
const atOnce = 100;

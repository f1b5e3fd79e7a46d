import { answerRecord, type QuestionAnswer, type WaitingQuestion } from "../../durable/run-store.ts";
import { WritError } from "../../error/writ-error.ts";
import type { KeptQuestion } from "../../journal/recorded-journal.ts";
import type { ApprovalRequest } from "../../policy/rules/approval-request.ts";
import { fromKey, toKey } from "../stored-text.ts";
import type { PostgresDatabase, Row } from "./database.ts";
import type { Claim } from "./run-steps.ts";
import { changeOf, nowMs, type RunTables } from "./run-tables.ts";

/** The questions of the runs in a database. */
export interface RunQuestions {
  /** Keeps a question, or gives the answer that came meanwhile. False where the run was taken, or has ended. */
  keep(claim: Claim, question: KeptQuestion): Promise<string | boolean>;
  list(id: string | undefined): Promise<readonly WaitingQuestion[]>;
  /** Also makes a run that waits ready. @throws WritError `question-unknown`, `question-changed` */
  answer(id: string, key: string, answer: QuestionAnswer): Promise<void>;
}

export function runQuestions({ query, transaction }: PostgresDatabase, tables: RunTables): RunQuestions {
  const { runs, steps, questions, told } = tables;
  const mine = `SELECT ended FROM ${runs} WHERE number = $1 AND epoch = $2 FOR SHARE`; // from here on no answer comes
  const known = `SELECT json FROM ${steps} WHERE run = $1 AND key = $2 AND fingerprint = $3`;
  const insert = `INSERT INTO ${questions} (run, key, fingerprint, request, since) VALUES ($1, $2, $3, $4, ${nowMs})
    ON CONFLICT (run, key) DO UPDATE SET fingerprint = excluded.fingerprint, request = excluded.request`;
  const select = `SELECT id, key, request, since FROM ${questions} JOIN ${runs} ON number = run 
    WHERE ($1::text IS NULL OR id = $1) AND status <> 'moved' ORDER BY place`;
  const lock = `SELECT number, status FROM ${runs} WHERE id = $1 FOR UPDATE`;
  const take = `DELETE FROM ${questions} WHERE run = $1 AND key = $2 RETURNING fingerprint, request`;
  const record = `INSERT INTO ${steps} (run, key, fingerprint, json) VALUES ($1, $2, $3, $4)`;
  const wake = `UPDATE ${runs} SET woken = true, status = CASE status WHEN 'waiting' THEN 'ready' ELSE status END
    WHERE number = $1 RETURNING ${told("$2")}`;
  const kept = `SELECT FROM ${steps} WHERE run = $1 AND key = $2 AND json = $3`;

  return {
    keep: ({ number, epoch }, { key, fingerprint, request }) =>
      transaction(async (query) => {
        const [run] = await query(mine, [number, epoch]);
        if (run === undefined) return false;
        const place = [number, toKey(key), toKey(fingerprint)];
        const json: unknown = (await query(known, place))[0]?.["json"];
        if (typeof json === "string") return json;
        if (run["ended"] !== null) return false;
        await query(insert, [...place, JSON.stringify(request)]);
        return true;
      }),
    async list(id) {
      return (await query(select, [id === undefined ? null : toKey(id)])).map(questionIn);
    },
    async answer(id, key, answer) {
      let written: string | undefined; // by an attempt whose end nobody saw
      await transaction(async (query) => {
        const { number, status } = (await query(lock, [toKey(id)]))[0] ?? {};
        if (status === "moved") throw new WritError("run-moved", { id });
        const [row] = await query(take, [number, toKey(key)]);
        if (row === undefined) {
          if (written !== undefined && (await query(kept, [number, toKey(key), written])).length > 0) return;
          throw new WritError("question-unknown", { id, key });
        }
        written = answerRecord({ runId: id, key, request: requestIn(row) }, answer);
        await query(record, [number, toKey(key), row["fingerprint"], written]);
        await query(wake, [number, changeOf(id)]);
      });
    },
  };
}

/** The question of a row. */
export function questionIn(row: Row): WaitingQuestion {
  const { id, key, since } = row;
  return { runId: fromKey(id), key: fromKey(key), request: requestIn(row), since: Number(since) };
}

function requestIn({ request }: Row): ApprovalRequest {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the journal of a run wrote it
  return JSON.parse(String(request)) as ApprovalRequest;
}

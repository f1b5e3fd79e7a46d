import { answerRecord, notWaiting } from "../../durable/answer-record.ts";
import type { QuestionAnswer, WaitingQuestion } from "../../durable/run-store.ts";
import type { KeptQuestion } from "../../journal/recorded-journal.ts";
import type { ApprovalRequest } from "../../policy/rules/approval-request.ts";
import { fromKey, toKey } from "../stored-text.ts";
import { type Database, type LaterColumns } from "./database.ts";
import { type Claim, refusalIn } from "./run-steps.ts";

/** The questions of the runs in a file. Its functions are parts of a transaction. */
export interface Questions {
  /** Keeps a question, or gives the answer that came meanwhile. @throws WritError `run-taken`, `run-ended` */
  keep(claim: Claim, question: KeptQuestion): string | undefined;
  list(runId: string | undefined): readonly WaitingQuestion[];
  /** @throws WritError `question-…` */
  answer(runId: string, key: string, answer: QuestionAnswer): void;
  /** True where the time of a question is over. */
  areOver(): boolean;
  /** Answers the questions whose time is over. Gives their runs. */
  expire(): readonly string[];
  forget(runId: string): void;
}

/** Table of {@link questionsOf}, beside those of the runs and their steps. `last` is the answer when the time is over. */
export const questionTable = `
  CREATE TABLE IF NOT EXISTS writ_questions (
    place INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, request TEXT NOT NULL,
    since INTEGER NOT NULL, until INTEGER, last TEXT, people TEXT, UNIQUE (run, key)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS writ_questions_until ON writ_questions (until) WHERE until IS NOT NULL;`;

export const laterColumns: LaterColumns = { writ_questions: ["until INTEGER", "last TEXT", "people TEXT"] };

/** The questions in a file. */
export function questionsOf(database: Database): Questions {
  const insert = database.prepare(
    `INSERT INTO writ_questions (run, key, fingerprint, request, since, until, last, people) SELECT ?1, ?3, ?4, ?5, ?6, ?6 + ?7, ?8, ?9
      WHERE EXISTS (SELECT 1 FROM writ_runs WHERE id = ?1 AND epoch = ?2 AND ended IS NULL)
      ON CONFLICT (run, key) DO UPDATE SET fingerprint = excluded.fingerprint, request = excluded.request, people = excluded.people`,
  );
  const known = database.prepare("SELECT json FROM writ_steps WHERE run = ? AND key = ? AND fingerprint = ?");
  const select = database.prepare(`SELECT * FROM writ_questions WHERE (?1 IS NULL OR run = ?1)
      AND run NOT IN (SELECT id FROM writ_runs WHERE status = 'moved') ORDER BY place`);
  const take = database.prepare("DELETE FROM writ_questions WHERE run = ? AND key = ? RETURNING *");
  const isOver = "until <= ? AND run NOT IN (SELECT id FROM writ_runs WHERE status = 'moved')";
  const over = database.prepare(`SELECT 1 FROM writ_questions WHERE ${isOver} LIMIT 1`);
  const takeOver = database.prepare(`DELETE FROM writ_questions WHERE ${isOver} RETURNING *`);
  const answered = database.prepare("SELECT json FROM writ_steps WHERE run = ? AND key = ?");
  const record = database.prepare("INSERT INTO writ_steps (run, key, fingerprint, json) VALUES (?, ?, ?, ?)");
  const remove = database.prepare("DELETE FROM writ_questions WHERE run = ?");
  const refusal = refusalIn(database);
  return {
    keep(claim, question) {
      const [run, key, fingerprint] = [toKey(claim.runId), toKey(question.key), toKey(question.fingerprint)];
      const json = known.get(run, key, fingerprint)?.["json"];
      if (typeof json === "string") return json;
      const { request, atLast, by } = question;
      const bounds = [atLast?.afterMs ?? null, textOf(atLast?.answer), textOf(by)];
      const { changes } = insert.run(
        run,
        claim.epoch,
        key,
        fingerprint,
        JSON.stringify(request),
        Date.now(),
        ...bounds,
      );
      if (changes === 0) throw refusal(claim);
      return undefined;
    },
    list: (runId) => select.all(runId === undefined ? null : toKey(runId)).map(questionIn),
    answer(runId, key, answer) {
      const place = [toKey(runId), toKey(key)];
      const taken = take.get(...place);
      if (taken === undefined) throw notWaiting(runId, key, answered.get(...place)?.["json"]);
      const json = answerRecord(questionIn(taken), answer, Date.now());
      record.run(...place, String(taken["fingerprint"]), json);
    },
    areOver: () => over.get(Date.now()) !== undefined,
    expire: () =>
      takeOver.all(Date.now()).map(({ run, key, fingerprint, last }) => {
        record.run(String(run), String(key), String(fingerprint), String(last));
        return fromKey(run);
      }),
    forget: (runId) => void remove.run(toKey(runId)),
  };
}

/** A value as a column takes it that may be left out. */
export const textOf = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));

/** The question of a row. */
export function questionIn(row: Readonly<Record<string, unknown>>): WaitingQuestion {
  const { since, until, people } = row;
  return {
    runId: fromKey(row["run"]),
    key: fromKey(row["key"]),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the journal of a run wrote it
    request: JSON.parse(String(row["request"])) as ApprovalRequest,
    since: Number(since),
    ...(until === null ? {} : { until: Number(until) }),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same
    ...(typeof people !== "string" ? {} : { by: JSON.parse(people) as readonly string[] }),
  };
}

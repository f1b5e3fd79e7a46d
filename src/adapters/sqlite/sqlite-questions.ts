import { answerRecord, type QuestionAnswer, type WaitingQuestion } from "../../durable/run-store.ts";
import { WritError } from "../../error/writ-error.ts";
import type { KeptQuestion } from "../../journal/recorded-journal.ts";
import type { ApprovalRequest } from "../../policy/rules/approval-request.ts";
import { fromKey, toKey } from "../stored-text.ts";
import { type Database } from "./database.ts";
import { type Claim, refusalIn } from "./run-steps.ts";

/** The questions of the runs in a file. Its functions are parts of a transaction. */
export interface Questions {
  /** Keeps a question, or gives the answer that came meanwhile. @throws WritError `run-taken`, `run-ended` */
  keep(claim: Claim, question: KeptQuestion): string | undefined;
  list(runId: string | undefined): readonly WaitingQuestion[];
  /** @throws WritError `question-unknown`, `question-changed` */
  answer(runId: string, key: string, answer: QuestionAnswer): void;
  forget(runId: string): void;
}

/** Table of {@link questionsOf}, beside those of the runs and their steps. */
export const questionTable = `
  CREATE TABLE IF NOT EXISTS writ_questions (
    place INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, request TEXT NOT NULL,
    since INTEGER NOT NULL, UNIQUE (run, key)
  ) STRICT;`;

/** The questions in a file. */
export function questionsOf(database: Database): Questions {
  const insert = database.prepare(
    `INSERT INTO writ_questions (run, key, fingerprint, request, since) SELECT ?1, ?3, ?4, ?5, ?6
      WHERE EXISTS (SELECT 1 FROM writ_runs WHERE id = ?1 AND epoch = ?2 AND ended IS NULL)
      ON CONFLICT (run, key) DO UPDATE SET fingerprint = excluded.fingerprint, request = excluded.request`,
  );
  const known = database.prepare("SELECT json FROM writ_steps WHERE run = ? AND key = ? AND fingerprint = ?");
  const select = database.prepare(`SELECT * FROM writ_questions WHERE (?1 IS NULL OR run = ?1)
      AND run NOT IN (SELECT id FROM writ_runs WHERE status = 'moved') ORDER BY place`);
  const take = database.prepare("DELETE FROM writ_questions WHERE run = ? AND key = ? RETURNING *");
  const record = database.prepare("INSERT INTO writ_steps (run, key, fingerprint, json) VALUES (?, ?, ?, ?)");
  const remove = database.prepare("DELETE FROM writ_questions WHERE run = ?");
  const refusal = refusalIn(database);
  return {
    keep(claim, question) {
      const [run, key, fingerprint] = [toKey(claim.runId), toKey(question.key), toKey(question.fingerprint)];
      const json = known.get(run, key, fingerprint)?.["json"];
      if (typeof json === "string") return json;
      const { changes } = insert.run(
        run,
        claim.epoch,
        key,
        fingerprint,
        JSON.stringify(question.request),
        Date.now(),
      );
      if (changes === 0) throw refusal(claim);
      return undefined;
    },
    list: (runId) => select.all(runId === undefined ? null : toKey(runId)).map(questionIn),
    answer(runId, key, answer) {
      const taken = take.get(toKey(runId), toKey(key));
      if (taken === undefined) throw new WritError("question-unknown", { id: runId, key });
      const json = answerRecord(questionIn(taken), answer);
      record.run(toKey(runId), toKey(key), String(taken["fingerprint"]), json);
    },
    forget: (runId) => void remove.run(toKey(runId)),
  };
}

/** The question of a row. */
export function questionIn(row: Readonly<Record<string, unknown>>): WaitingQuestion {
  return {
    runId: fromKey(row["run"]),
    key: fromKey(row["key"]),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the journal of a run wrote it
    request: JSON.parse(String(row["request"])) as ApprovalRequest,
    since: Number(row["since"]),
  };
}

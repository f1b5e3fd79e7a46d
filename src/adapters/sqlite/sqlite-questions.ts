import { readAnswer } from "../../call/ask.ts";
import { WritError } from "../../error/writ-error.ts";
import type { KeptQuestion } from "../../journal/recorded-journal.ts";
import type { ApprovalRequest } from "../../policy/rules/approval-request.ts";
import type { Approval } from "../../run/approval.ts";
import type { OpenQuestion } from "../../run/waits.ts";
import { type Database, fromKey, toKey } from "./database.ts";

/** A question of a run, kept until somebody answers it. */
export interface WaitingQuestion extends OpenQuestion {
  readonly runId: string;
  /** The time at which it was first asked, in milliseconds since 1970. */
  readonly since: number;
}

/** The questions of the runs in a file. Its functions are parts of a transaction. */
export interface Questions {
  /** False where another process has taken the run: then nothing is kept. */
  keep(runId: string, epoch: number, question: KeptQuestion): boolean;
  list(runId: string | undefined): readonly WaitingQuestion[];
  /** @throws WritError `question-unknown`, `question-changed` */
  answer(runId: string, key: string, answer: Approval & { readonly hash: string }): void;
  forget(runId: string): void;
}

/** Tables of {@link questionsOf}, beside those of the journals. */
export const questionTables = `
  CREATE TABLE IF NOT EXISTS writ_questions (
    place INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, request TEXT NOT NULL,
    since INTEGER NOT NULL, UNIQUE (run, key)
  ) STRICT;`;

/** The questions in a file. */
export function questionsOf(database: Database): Questions {
  const insert = database.prepare(
    `INSERT INTO writ_questions (run, key, fingerprint, request, since) SELECT ?1, ?3, ?4, ?5, ?6
      WHERE EXISTS (SELECT 1 FROM writ_runs WHERE id = ?1 AND epoch = ?2)
      ON CONFLICT (run, key) DO UPDATE SET fingerprint = excluded.fingerprint, request = excluded.request`,
  );
  const select = database.prepare("SELECT * FROM writ_questions WHERE ?1 IS NULL OR run = ?1 ORDER BY place");
  const take = database.prepare(
    "DELETE FROM writ_questions WHERE run = ? AND key = ? RETURNING fingerprint, request",
  );
  const record = database.prepare("INSERT INTO writ_steps (run, key, fingerprint, json) VALUES (?, ?, ?, ?)");
  const remove = database.prepare("DELETE FROM writ_questions WHERE run = ?");
  return {
    keep(runId, epoch, { key, fingerprint, request }) {
      const values = [toKey(runId), epoch, toKey(key), toKey(fingerprint), JSON.stringify(request)] as const;
      return insert.run(...values, Date.now()).changes > 0;
    },
    list(runId) {
      return select.all(runId === undefined ? null : toKey(runId)).map((row) => ({
        runId: fromKey(row["run"]),
        key: fromKey(row["key"]),
        request: requestIn(row),
        since: Number(row["since"]),
      }));
    },
    answer(runId, key, { hash, ...answer }) {
      const taken = take.get(toKey(runId), toKey(key));
      if (taken === undefined) throw new WritError("question-unknown", { id: runId, key });
      const { hash: shown, tool } = requestIn(taken);
      if (hash !== shown) throw new WritError("question-changed", { id: runId, key, tool });
      const json = JSON.stringify(readAnswer(answer));
      record.run(toKey(runId), toKey(key), String(taken["fingerprint"]), json);
    },
    forget(runId) {
      remove.run(toKey(runId));
    },
  };
}

function requestIn(row: Readonly<Record<string, unknown>>): ApprovalRequest {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the journal of a run wrote it
  return JSON.parse(String(row["request"])) as ApprovalRequest;
}

import type { StatementSync } from "node:sqlite";
import { WritError } from "../../error/writ-error.ts";
import { answerRecord, notWaiting } from "../../durable/answer-record.ts";
import type {
  QuestionAnswer,
  QuestionFilter,
  RunSignal,
  StoredRun,
  WaitingQuestion,
} from "../../durable/run-store.ts";
import { isWaitFor, printOfSignal, signalAnswer, signalRecord, takenSignal } from "../../durable/signals.ts";
import type { KeptQuestion } from "../../journal/recorded-journal.ts";
import { questionStatement, type QuestionWords } from "../question-list.ts";
import { jsonColumn, questionIn, questionsIn, restOfPage } from "../stored-run.ts";
import { fromKey, toKey } from "../stored-text.ts";
import { byNumber, type Database, type LaterColumns } from "./database.ts";
import { type Claim, refusalIn } from "./run-steps.ts";

/** The questions of the runs in a file. Its functions run inside a transaction. */
export interface Questions {
  /** Keeps a question, or returns the answer that came meanwhile. @throws WritError `run-taken`, `run-ended` */
  keep(claim: Claim, question: KeptQuestion): string | undefined;
  list(runId?: string, wanted?: QuestionFilter): readonly WaitingQuestion[];
  /** @throws WritError `question-…` */
  answer(runId: string, key: string, answer: QuestionAnswer): void;
  /** Answers a wait for a signal; returns false if nothing waits, and keeps the signal. @throws WritError `run-ended` */
  signal(run: StoredRun, signal: RunSignal): boolean;
  /** True if the time of some question is over. */
  areOver(): boolean;
  /** Answers the questions whose time is over. Returns the ids of their runs. */
  expire(): readonly string[];
  /** Takes the keys of runs, as a list of JSON. */
  forget(runs: string): void;
  /** Withdraws questions that nothing waits for any more. */
  withdraw(claim: Claim, keys: readonly string[]): void;
}

/** The table of {@link questionsOf}, beside those of the runs and their steps. `last` is the answer after the time is over. */
export const questionTable = `
  CREATE TABLE IF NOT EXISTS writ_questions (
    place INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, request TEXT NOT NULL,
    since INTEGER NOT NULL, until INTEGER, last TEXT, people TEXT, UNIQUE (run, key)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS writ_questions_since ON writ_questions (since);
  CREATE INDEX IF NOT EXISTS writ_questions_until ON writ_questions (until) WHERE until IS NOT NULL;`;

export const laterColumns: LaterColumns = { writ_questions: ["until INTEGER", "last TEXT", "people TEXT"] };

const isHere = "NOT EXISTS (SELECT 1 FROM writ_runs WHERE id = run AND +status = 'moved')"; // there may be very many that were moved

const words: QuestionWords = {
  select: `SELECT *, (SELECT agent FROM writ_runs WHERE id = run) AS agent FROM writ_questions AS asked WHERE NOT EXISTS (SELECT 1 FROM writ_steps WHERE run = asked.run AND key = asked.key) AND ${isHere}`,
  table: "writ_questions",
  id: "run",
  asker: (id) => id,
  startsWith: (column, text) => `substr(${column}, 1, length(${text})) = ${text}`,
  ofAgents: (list) =>
    `EXISTS (SELECT 1 FROM writ_runs WHERE id = run AND agent IN (SELECT value FROM json_each(${list})))`,
};

/** Makes the function that reads the rows of open questions. */
function listing(database: Database) {
  const lists = new Map<string, StatementSync>();
  return (runId?: string, wanted: QuestionFilter = {}) => {
    const { sql, values } = questionStatement(runId, wanted, words);
    const list = lists.get(sql) ?? database.prepare(sql);
    lists.set(sql, list);
    return list.all(byNumber(values));
  };
}

/** The wanted questions that can be read: other ones do not make a page shorter. */
function readableIn(
  rowsOf: ReturnType<typeof listing>,
  runId: string | undefined,
  wanted: QuestionFilter = {},
): readonly WaitingQuestion[] {
  const rows = rowsOf(runId, wanted);
  const found = questionsIn(rows, runId);
  const rest = restOfPage(rows, found.length, wanted);
  return rest === undefined ? found : [...found, ...readableIn(rowsOf, runId, rest)];
}

/** The questions in a file. */
export function questionsOf(database: Database): Questions {
  const insert = database.prepare(
    `INSERT INTO writ_questions (run, key, fingerprint, request, since, until, last, people) SELECT $run, $key, $fingerprint, $request, $since, $since + $afterMs, $last, $people
      WHERE EXISTS (SELECT 1 FROM writ_runs WHERE id = $run AND epoch = $epoch AND ended IS NULL)
      ON CONFLICT (run, key) DO UPDATE SET fingerprint = excluded.fingerprint, request = excluded.request, people = excluded.people`,
  );
  const known = database.prepare("SELECT json FROM writ_steps WHERE run = ? AND key = ? AND fingerprint = ?");
  const rowsOf = listing(database);
  const take = database.prepare("DELETE FROM writ_questions WHERE run = ? AND key = ? RETURNING *");
  const isOver = `until <= ? AND ${isHere}`;
  const over = database.prepare(`SELECT 1 FROM writ_questions WHERE ${isOver} LIMIT 1`);
  const takeOver = database.prepare(`DELETE FROM writ_questions WHERE ${isOver} RETURNING *`);
  const answered = database.prepare("SELECT json FROM writ_steps WHERE run = ? AND key = ?");
  const record = database.prepare("INSERT INTO writ_steps (run, key, fingerprint, json) VALUES (?, ?, ?, ?)");
  const kept = database.prepare(
    "SELECT key, json FROM writ_steps WHERE run = ? AND fingerprint = ? ORDER BY place LIMIT 1",
  );
  const taken = database.prepare(
    "UPDATE writ_steps SET fingerprint = $fingerprint, json = $json WHERE run = $run AND key = $key",
  );
  /** Takes the oldest kept signal of a name. */
  function takeSignal(run: string, name: string): string | undefined {
    const row = kept.get(run, toKey(printOfSignal(name)));
    if (row === undefined) return undefined;
    const { fingerprint, json } = takenSignal;
    taken.run({ run, key: String(row["key"]), fingerprint: toKey(fingerprint), json });
    return String(row["json"]);
  }
  const remove = database.prepare("DELETE FROM writ_questions WHERE run IN (SELECT value FROM json_each(?))");
  const withdraw = database.prepare(
    "DELETE FROM writ_questions WHERE run = $run AND key = $key AND EXISTS (SELECT 1 FROM writ_runs WHERE id = $run AND epoch = $epoch)",
  );
  const refusal = refusalIn(database);
  return {
    keep(claim, question) {
      const [run, key, fingerprint] = [toKey(claim.runId), toKey(question.key), toKey(question.fingerprint)];
      const json = known.get(run, key, fingerprint)?.["json"];
      if (typeof json === "string") return json;
      const { request, atLast, by, signal } = question;
      const { changes } = insert.run({
        run,
        epoch: claim.epoch,
        key,
        fingerprint,
        request: JSON.stringify(request),
        since: Date.now(),
        afterMs: atLast?.afterMs ?? null,
        last: jsonColumn(atLast?.answer),
        people: jsonColumn(by),
      });
      if (changes === 0) throw refusal(claim);
      const sent = signal === undefined ? undefined : takeSignal(run, signal);
      if (sent === undefined) return undefined;
      take.get(run, key);
      record.run(run, key, fingerprint, sent);
      return sent;
    },
    list: (runId, wanted) => readableIn(rowsOf, runId, wanted),
    answer(runId, key, answer) {
      const place = [toKey(runId), toKey(key)];
      const known = answered.get(...place);
      const taken = known === undefined ? take.get(...place) : undefined; // the process that carries it out may have asked somebody itself
      if (taken === undefined) throw notWaiting(runId, key, known?.["json"]);
      const json = answerRecord(questionIn(taken), answer, Date.now());
      record.run(...place, String(taken["fingerprint"]), json);
    },
    signal({ id, end, status }, signal) {
      const run = toKey(id);
      const question = rowsOf(id).find((row) => isWaitFor(questionIn(row), signal.name));
      const { key, fingerprint, json } = signalRecord(signal, question !== undefined);
      if (answered.get(run, toKey(key)) !== undefined) return false;
      if (end !== undefined) throw new WritError("run-ended", { id, status });
      record.run(run, toKey(key), toKey(fingerprint), json);
      if (question === undefined) return false;
      const place = [run, String(question["key"])];
      take.get(...place);
      record.run(...place, String(question["fingerprint"]), signalAnswer(signal));
      return true;
    },
    areOver: () => over.get(Date.now()) !== undefined,
    expire: () =>
      takeOver.all(Date.now()).map(({ run, key, fingerprint, last }) => {
        const place = [String(run), String(key)];
        if (answered.get(...place) === undefined) record.run(...place, String(fingerprint), String(last));
        return fromKey(run);
      }),
    forget: (runs) => void remove.run(runs),
    withdraw({ runId, epoch }, keys) {
      for (const key of keys) withdraw.run({ run: toKey(runId), epoch, key: toKey(key) });
    },
  };
}

import { movedRun } from "../../durable/moved-run.ts";
import type { MovedRun, StoredRun } from "../../durable/run-store.ts";
import { WritError } from "../../error/writ-error.ts";
import { jsonColumn, movedQuestionIn, startOf } from "../stored-run.ts";
import { toKey } from "../stored-text.ts";
import type { Database } from "./database.ts";
import type { RunRows } from "./run-rows.ts";
import type { RunSteps } from "./run-steps.ts";

/** Moves the runs of a file to other stores and back. Its functions run inside a transaction. */
export interface RunMoves {
  /** @throws WritError `run-missing` */
  out(runId: string): MovedRun;
  /** Inserts a run, unless the file has one with its id. */
  in(moved: MovedRun): StoredRun;
  /** @throws WritError `run-moved` */
  checkHere(runId: string): void;
}

/** Makes the functions that move runs of a file. */
export function runMoves(database: Database, { rows, steps }: { rows: RunRows; steps: RunSteps }): RunMoves {
  const leave = database.prepare(
    "UPDATE writ_runs SET epoch = epoch + 1, owner = NULL, status = 'moved', start = ? WHERE id = ?",
  );
  const arrive = database.prepare(
    `INSERT INTO writ_runs (id, epoch, status, agent, session, begun, ended, start, finish)
      VALUES (?, abs(random() % 4503599627370496), ?, ?, ?, ?, ?, ?, ?)`,
  );
  const record = database.prepare("INSERT INTO writ_steps (run, key, fingerprint, json) VALUES (?, ?, ?, ?)");
  const questions = database.prepare("SELECT * FROM writ_questions WHERE run = ? ORDER BY place");
  const ask = database.prepare(
    "INSERT INTO writ_questions (run, key, fingerprint, request, since, until, last, people) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  return {
    out(runId) {
      const run = movedRun(rows.get(runId));
      leave.run(startOf(run), toKey(runId));
      return { run, records: steps.list(runId), questions: questions.all(toKey(runId)).map(movedQuestionIn) };
    },
    in({ run, records, questions: asked }) {
      const { id, agent, session, status, begunAt, endedAt, end } = run;
      const place = toKey(id);
      arrive.run(
        place,
        status,
        toKey(agent),
        session === undefined ? null : toKey(session),
        begunAt,
        endedAt ?? null,
        startOf(run),
        end === undefined ? null : JSON.stringify(end),
      );
      for (const { key, fingerprint, json } of records)
        record.run(place, toKey(key), toKey(fingerprint), json ?? null);
      for (const { key, fingerprint, request, since, until = null, last = null, by } of asked) {
        const question = [toKey(key), toKey(fingerprint), JSON.stringify(request)];
        ask.run(place, ...question, since, until, last, jsonColumn(by));
      }
      return rows.get(id);
    },
    checkHere(runId) {
      if (rows.find(runId)?.status === "moved") throw new WritError("run-moved", { id: runId });
    },
  };
}

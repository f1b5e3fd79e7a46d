import { string } from "../../util/shape.ts";
import { checkArguments } from "../../error/check-shape.ts";
import { checkArrival } from "../../durable/moved-run.ts";
import type { Erased, RunEnd, RunJournal, RunStore } from "../../durable/run-store.ts";
import { recordedJournal } from "../../journal/recorded-journal.ts";
import { type Database, openDatabase, type OpenStore } from "./database.ts";
import { refuseOtherMachines } from "./local-file.ts";
import { type RunChanges, runChanges } from "./run-changes.ts";
import { type RunMoves, runMoves } from "./run-moves.ts";
import { type RunOwners, runOwners } from "./run-owners.ts";
import { namesOf, type RunRows, runRows, runTable, type Taken, type WantedRuns } from "./run-rows.ts";
import { refusalIn, type RunSteps, runSteps, type StepKeeper, stepKeeper, stepTable } from "./run-steps.ts";
import { type Questions, questionsOf, questionTable, laterColumns } from "./sqlite-questions.ts";

/** The runs in a SQLite file. */
export interface SqliteRuns extends RunStore, OpenStore {}

/**
 * Keeps runs in a SQLite file, for processes of one machine. Records survive `kill -9`, and the process that
 * takes the run next has them. If the machine loses power, the latest steps that may be repeated can be lost. The beginning and the end of a step that may not
 * happen twice are on the disk before the run goes on, and so are beginnings, answers and ends of runs. A process that has runs locks a small file beside this
 * one. The system releases the lock when the process, the thread or the container ends, and its runs can then be taken at once. Sessions, memory and accounts
 * can be in the same file. `:memory:` is a store of this process alone.
 *
 * @throws WritError `database-failed`, also for a folder of another machine: several processes cannot share a file there
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { sqliteRuns } from "writ/sqlite";
 *
 * using runs = sqliteRuns("runs.db");
 * await using journal = await runs.open("invoice-17"); // begun, or taken from the process that died
 * const payer = agent({ name: "payer", model: "ollama/qwen2.5:7b" });
 * await payer.run("Pay invoice 17", { journal, runId: journal.run.id });
 * ```
 */
export function sqliteRuns(path: string): SqliteRuns {
  checkArguments("sqliteRuns()", { path }, { path: string });
  refuseOtherMachines(path);
  const database = openDatabase(path, runTable + stepTable + questionTable, laterColumns);
  const rows = runRows(database);
  const steps = runSteps(database);
  const keeper = stepKeeper(database, steps);
  const questions = questionsOf(database);
  const owners = runOwners(database);
  const changes = runChanges(database);
  const moves = runMoves(database, { rows, steps });
  const file: RunFile = {
    database,
    rows,
    steps,
    keeper,
    questions,
    owners,
    changes,
    moves,
    refusal: refusalIn(database),
  };
  function close(): void {
    changes.stop();
    keeper.flush();
    owners.close();
    database.close();
  }
  return {
    begin: async (run) => changing(file, run.id, () => rows.begin(run)),
    open: async (id) =>
      database.write(() => {
        moves.checkHere(id);
        owners.checkFree(namesOf([id]));
        return journalOf(file, rows.take(id, owners.mine()));
      }, "NORMAL"),
    claim: async (agents, id, alone = []) =>
      database.write(() => {
        for (;;) {
          const taken = takenOf(file, { agents, id, alone });
          const end = taken?.run.end;
          if (taken === undefined || end === undefined) return taken && journalOf(file, taken);
          endOf(file, taken, end); // its row cannot be read
        }
      }, "NORMAL"),
    read: async (id) => seen(file, () => rows.find(id)),
    list: async (wanted = {}) => seen(file, () => rows.list(wanted)),
    records: async (id, after) => database.read(() => steps.list(id, after)),
    questions: async (id, wanted) => database.read(() => questions.list(id, wanted)),
    answer: async (id, key, answer) =>
      changing(file, id, () => {
        moves.checkHere(id);
        questions.answer(id, key, answer);
        rows.answered(id);
      }),
    signal: async (id, signal) =>
      changing(file, id, () => {
        moves.checkHere(id);
        if (questions.signal(rows.get(id), signal)) rows.answered(id);
      }),
    async expire() {
      if (!database.read(() => questions.areOver())) return [];
      const ids = database.write(() => {
        const over = questions.expire();
        over.forEach((id) => rows.answered(id));
        return over;
      });
      ids.forEach((id) => changes.told(id));
      return ids;
    },
    cancel: async (id, reason) =>
      changing(file, id, () => {
        moves.checkHere(id);
        rows.end(id, { outcome: { type: "cancelled", reason } });
        const run = rows.get(id);
        questions.forget(namesOf([id]));
        return run;
      }),
    reopen: async (id) =>
      changing(file, id, () => {
        moves.checkHere(id);
        rows.reopen(id);
        return rows.get(id);
      }),
    moveOut: async (id) => changing(file, id, () => moves.out(id)),
    moveIn: async (moved) =>
      changing(file, moved.run.id, () => {
        checkArrival(moved.run, rows.find(moved.run.id));
        forgotten(file, [moved.run.id]);
        return moves.in(moved);
      }),
    erase: async (which) => erased(file, which),
    watch: changes.watch,
    close,
    [Symbol.dispose]: close,
  };
}

/** The parts of an open file. */
interface RunFile {
  readonly database: Database;
  readonly rows: RunRows;
  readonly steps: RunSteps;
  readonly keeper: StepKeeper;
  readonly questions: Questions;
  readonly owners: RunOwners;
  readonly changes: RunChanges;
  readonly moves: RunMoves;
  readonly refusal: ReturnType<typeof refusalIn>;
}

/** Changes a run durably, and reports it to watchers. */
function changing<Result>({ database, changes }: RunFile, runId: string, work: () => Result): Result {
  const result = database.write(work);
  changes.told(runId);
  return result;
}

/** Reads runs, after making those of dead processes ready. If the file cannot be written now, they stay as they were. */
function seen<Result>({ database, owners }: RunFile, look: () => Result): Result {
  try {
    owners.freeDue();
  } catch {
    // a reader needs no right to write
  }
  return database.read(look);
}

/** The next free run, or the one of an id. Runs inside a transaction. */
function takenOf({ rows, owners }: RunFile, wanted: WantedRuns): Taken | undefined {
  const next = (): Taken | undefined => rows.takeNext(wanted, owners.mine());
  const hasLooked = owners.freeDue();
  return next() ?? (!hasLooked && owners.freeDead() ? next() : undefined);
}

function erased(file: RunFile, which: Erased): number {
  const work = (): [readonly string[], number] => {
    const ids = "id" in which ? [which.id] : file.rows.ids(which);
    return [ids, forgotten(file, ids)];
  };
  const [ids, count] = file.database.write(work, "endedBefore" in which ? "NORMAL" : "FULL"); // an old run is found again later
  ids.forEach((id) => file.changes.told(id));
  return count;
}

/** Erases runs. Returns the number of those that there were. Runs inside a transaction. @throws WritError `run-claimed` */
function forgotten({ rows, steps, questions, owners }: RunFile, ids: readonly string[]): number {
  const runs = namesOf(ids);
  owners.checkFree(runs);
  steps.forget(runs);
  questions.forget(runs);
  return rows.forget(runs);
}

/** The journal of a run that was taken. Runs inside the transaction that took it. */
function journalOf(file: RunFile, taken: Taken): RunJournal {
  const { database, rows, steps, keeper, questions, changes } = file;
  const { run, runId } = taken;
  const journal = recordedJournal(
    steps.list(runId),
    async (record, mustLast) => {
      const answered = await keeper.keep({ claim: taken, record, mustLast });
      changes.kept(runId);
      return answered;
    },
    (question) => database.write(() => questions.keep(taken, question), "NORMAL"), // a lost question is asked again
  );
  async function leave(waits: boolean, passed: readonly string[] = []): Promise<void> {
    database.write(() => {
      questions.withdraw(taken, passed);
      rows.leave(taken, waits);
    }, "NORMAL");
    changes.told(runId);
  }
  const close = (): Promise<void> => leave(false);
  return {
    ...journal,
    run,
    end: async (end: RunEnd) => changing(file, runId, () => endOf(file, taken, end)),
    wait: (passed) => leave(true, passed),
    withdraw: async (passed) => changing(file, runId, () => questions.withdraw(taken, passed)),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** @throws WritError `run-taken` */
function endOf({ rows, questions, refusal }: RunFile, taken: Taken, end: RunEnd): void {
  rows.end(taken.runId, end, taken);
  const refused = refusal(taken);
  if (refused.code === "run-taken") throw refused;
  questions.forget(namesOf([taken.runId]));
  rows.leave(taken, false);
}

import { string } from "../../util/shape.ts";
import { checkArguments } from "../../error/check-shape.ts";
import { checkArrival } from "../../durable/moved-run.ts";
import type { RunEnd, RunJournal, RunStore } from "../../durable/run-store.ts";
import { recordedJournal } from "../../journal/recorded-journal.ts";
import { type Database, openDatabase, type OpenStore } from "./database.ts";
import { refuseOtherMachines } from "./local-file.ts";
import { type RunChanges, runChanges } from "./run-changes.ts";
import { type RunMoves, runMoves } from "./run-moves.ts";
import { type RunOwners, runOwners } from "./run-owners.ts";
import { type RunRows, runRows, runTable, type Taken } from "./run-rows.ts";
import { refusalIn, type RunSteps, runSteps, type StepKeeper, stepKeeper, stepTable } from "./run-steps.ts";
import { type Questions, questionsOf, questionTable, laterColumns } from "./sqlite-questions.ts";

/** The runs in a SQLite file. */
export interface SqliteRuns extends RunStore, OpenStore {}

/**
 * Keeps runs in a SQLite file, for processes of one machine. What was recorded survives `kill -9`, and is there for the process that
 * takes the run next. When the machine loses its power, the latest steps that may be repeated can be lost; that a step began which may not happen
 * twice, and how it ended, is on the disk before the run goes on; so are beginnings, answers and ends of runs. A process that has
 * runs holds the lock of a small file beside this one, which the system frees when the process, the thread or the container ends: its runs can be
 * taken at once. Sessions, memory and accounts can be in the same file. `:memory:` is a store of this process alone.
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
        owners.checkFree(id);
        return journalOf(file, rows.take(id, owners.mine()));
      }, "NORMAL"),
    claim: async (agents, id) =>
      database.write(() => {
        const taken = takenOf(file, agents, id);
        return taken && journalOf(file, taken);
      }, "NORMAL"),
    read: async (id) => seen(file, () => rows.find(id)),
    list: async (wanted = {}) => seen(file, () => rows.list(wanted)),
    records: async (id, after) => database.read(() => steps.list(id, after)),
    questions: async (id) => database.read(() => questions.list(id)),
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
        questions.forget(id);
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
        forgotten(file, moved.run.id);
        return moves.in(moved);
      }),
    async erase(which) {
      const ids = database.write(
        () => ("id" in which ? [which.id] : rows.ids(which)).filter((id) => forgotten(file, id)),
        "endedBefore" in which ? "NORMAL" : "FULL", // what is old is found again
      );
      ids.forEach((id) => changes.told(id));
      return ids.length;
    },
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

/** Changes a run for good, and tells those who watch it. */
function changing<Result>({ database, changes }: RunFile, runId: string, work: () => Result): Result {
  const result = database.write(work);
  changes.told(runId);
  return result;
}

/** Looks at runs: those of processes that died are ready. Where the file cannot be written now, they stand as they did. */
function seen<Result>({ database, owners }: RunFile, look: () => Result): Result {
  try {
    owners.freeDue();
  } catch {
    // whoever looks needs no right to write
  }
  return database.read(look);
}

/** The next run that is free, or the one of an id. A part of a transaction. */
function takenOf({ rows, owners }: RunFile, agents: readonly string[], id?: string): Taken | undefined {
  const next = (): Taken | undefined => rows.takeNext(agents, owners.mine(), id);
  const hasLooked = owners.freeDue();
  return next() ?? (!hasLooked && owners.freeDead() ? next() : undefined);
}

/** A part of a transaction. @throws WritError `run-claimed` */
function forgotten({ rows, steps, questions, owners }: RunFile, runId: string): boolean {
  owners.checkFree(runId);
  steps.forget(runId);
  questions.forget(runId);
  return rows.forget(runId);
}

/** The journal of a run that was taken. A part of the transaction that took it. */
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
    (question) => database.write(() => questions.keep(taken, question), "NORMAL"), // it is asked again where it is lost
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
  questions.forget(taken.runId);
  rows.leave(taken, false);
}

import { statfsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { WritError } from "../../error/writ-error.ts";
import type { Journal } from "../../journal/journal.ts";
import { type JournalRecord, recordedJournal } from "../../journal/recorded-journal.ts";
import type { Approval } from "../../run/approval.ts";
import { lifeOf, type ProcessOwner, thisProcess } from "../process-owner.ts";
import { fromKey, openDatabase, type OpenStore, toKey } from "./database.ts";
import { questionsOf, questionTables, type WaitingQuestion } from "./sqlite-questions.ts";

/** The journals of many runs in one SQLite file. */
export interface SqliteJournals extends OpenStore {
  /**
   * Takes a run for this process and gives its journal, with all that earlier processes recorded. A run that nobody has begun is begun.
   *
   * @throws WritError `run-claimed` while another process that lives carries it out, or another journal of this one; `database-failed`
   */
  open(runId: string): RunJournal;
  /** The questions that runs wait for, or one run, the oldest first. */
  questions(runId?: string): readonly WaitingQuestion[];
  /**
   * Answers a question, once; the next process that opens the run goes on with the answer. `hash` is that of the request that was shown: an answer
   * to another call is refused.
   *
   * @throws WritError `question-unknown` when nothing there waits, or somebody has answered; `question-changed` for another hash
   */
  answer(runId: string, key: string, answer: Approval & { readonly hash: string }): void;
  /** The records of a run, in the order in which they were made. Whoever carries it out is not disturbed. */
  records(runId: string): readonly JournalRecord[];
  /** Forgets a run. @throws WritError `run-claimed` while a process that lives carries it out */
  remove(runId: string): void;
}

/** The journal of one run. A step of it throws `run-taken` when another process has taken the run meanwhile. */
export interface RunJournal extends Journal {
  readonly runId: string;
  /** Gives the run up: another process may take it. */
  readonly close: () => void;
  /** The same, for `using`. */
  readonly [Symbol.dispose]: () => void;
}

const tables = `
  CREATE TABLE IF NOT EXISTS writ_runs (id TEXT PRIMARY KEY, epoch INTEGER NOT NULL, owner TEXT) STRICT;
  CREATE TABLE IF NOT EXISTS writ_steps (
    place INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, json TEXT,
    UNIQUE (run, key)
  ) STRICT;`;

/**
 * Keeps journals of runs in a SQLite file, for processes of one machine. What was recorded survives `kill -9`, and is there for the process that
 * takes the run next. When the machine loses its power, the latest steps that may be repeated can be lost; that a step began which may not happen
 * twice, and how it ended, is on the disk before the run goes on. A process that died is found by its number and the time of its start, so
 * that its runs can be taken at once. Sessions, memory and accounts can be in the same file.
 *
 * @throws WritError `database-failed`, also for a folder of another machine: several processes cannot share a file there
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { sqliteJournals } from "writ/sqlite";
 *
 * using journals = sqliteJournals("runs.db");
 * using journal = journals.open("invoice-17"); // begun, or taken from the process that died
 * const payer = agent({ name: "payer", model: "ollama/qwen2.5:7b" });
 * await payer.run("Pay invoice 17", { journal, runId: journal.runId });
 * ```
 */
export function sqliteJournals(path: string): SqliteJournals {
  refuseOtherMachines(path);
  const database = openDatabase(path, tables + questionTables);
  const questions = questionsOf(database);
  const owner = thisProcess();
  const find = database.prepare("SELECT epoch, owner FROM writ_runs WHERE id = ?");
  // The first epoch is random: a run of the same id that was removed must not share one.
  const claim = database.prepare(
    "INSERT INTO writ_runs (id, epoch, owner) VALUES (?, abs(random() % 4503599627370496), ?) ON CONFLICT (id) DO UPDATE SET epoch = epoch + 1, owner = excluded.owner RETURNING epoch",
  );
  const giveUp = database.prepare("UPDATE writ_runs SET owner = NULL WHERE id = ? AND epoch = ?");
  const select = database.prepare(
    "SELECT key, fingerprint, json FROM writ_steps WHERE run = ? ORDER BY place",
  );
  const begin = database.prepare(
    `INSERT INTO writ_steps (run, key, fingerprint) SELECT ?1, ?3, ?4
      WHERE EXISTS (SELECT 1 FROM writ_runs WHERE id = ?1 AND epoch = ?2)`,
  );
  const end = database.prepare(
    `INSERT OR REPLACE INTO writ_steps (run, key, fingerprint, json) SELECT ?1, ?3, ?4, ?5
      WHERE EXISTS (SELECT 1 FROM writ_runs WHERE id = ?1 AND epoch = ?2)`,
  );
  const forgetSteps = database.prepare("DELETE FROM writ_steps WHERE run = ?");
  const forgetRun = database.prepare("DELETE FROM writ_runs WHERE id = ?");

  /** @throws WritError `run-claimed` */
  function checkFree(runId: string): void {
    const found = find.get(toKey(runId))?.["owner"];
    if (typeof found !== "string") return;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a process wrote it here
    const other = JSON.parse(found) as ProcessOwner;
    const life = lifeOf(other);
    if (life === "dead") return;
    const where = life === "alive" ? "" : ` on the machine "${other.host}", of which nothing is known here`;
    throw new WritError("run-claimed", { id: runId, owner: `process ${other.pid}${where}` });
  }

  function recordsOf(runId: string): readonly JournalRecord[] {
    return select.all(toKey(runId)).map(({ key, fingerprint, json }) => ({
      key: fromKey(key),
      fingerprint: fromKey(fingerprint),
      ...(json === null ? {} : { json: String(json) }),
    }));
  }

  function keep(runId: string, epoch: number, { key, fingerprint, json }: JournalRecord): void {
    const values = [toKey(runId), epoch, toKey(key), toKey(fingerprint)] as const;
    const { changes } = json === undefined ? begin.run(...values) : end.run(...values, json);
    if (changes === 0) throw new WritError("run-taken", { id: runId });
  }

  const { close, [Symbol.dispose]: dispose } = database;
  return {
    open(runId) {
      const { epoch, records } = database.write(() => {
        checkFree(runId);
        const claimed = claim.get(toKey(runId), JSON.stringify(owner));
        return { epoch: Number(claimed?.["epoch"]), records: recordsOf(runId) };
      });
      const journal = recordedJournal(
        records,
        (record, mayNotRepeat) =>
          database.write(() => keep(runId, epoch, record), mayNotRepeat ? "FULL" : "NORMAL"),
        (question) =>
          database.write(() => {
            if (!questions.keep(runId, epoch, question)) throw new WritError("run-taken", { id: runId });
          }),
      );
      const leave = (): void => database.write(() => void giveUp.run(toKey(runId), epoch));
      return { ...journal, runId, close: leave, [Symbol.dispose]: leave };
    },
    questions: (runId) => database.read(() => questions.list(runId)),
    answer: (runId, key, answer) => database.write(() => questions.answer(runId, key, answer)),
    records: (runId) => database.read(() => recordsOf(runId)),
    remove(runId) {
      database.write(() => {
        checkFree(runId);
        forgetSteps.run(toKey(runId));
        questions.forget(runId);
        forgetRun.run(toKey(runId));
      });
    },
    close,
    [Symbol.dispose]: dispose,
  };
}

/** The kinds of file systems, by their numbers on Linux, that are folders of other machines. */
const remote: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x00c36400, "Ceph"],
  [0x5346414f, "AFS"],
]);

/** @throws WritError `database-failed` */
function refuseOtherMachines(path: string): void {
  if (path === ":memory:" || process.platform !== "linux") return;
  const kind = remote.get(typeOf(dirname(resolve(path))));
  if (kind === undefined) return;
  const reason = `the folder is on another machine (${kind}), where processes cannot share a file safely: use a local folder`;
  throw new WritError("database-failed", { path, reason });
}

function typeOf(folder: string): number {
  try {
    return statfsSync(folder).type;
  } catch {
    return 0; // opening it says what is wrong
  }
}

import { protocol } from "../../durable/protocol.ts";
import type { RunEnd, RunJournal, RunStore } from "../../durable/run-store.ts";
import { WritError } from "../../error/writ-error.ts";
import { recordedJournal } from "../../journal/recorded-journal.ts";
import { oneAfterAnother } from "../one-after-another.ts";
import { postgresDatabase } from "./database.ts";
import { placeIn, type PostgresOptions } from "./options.ts";
import { runChanges, type RunChanges } from "./run-changes.ts";
import { runClaims, type Taken } from "./run-claims.ts";
import { runMoves } from "./run-moves.ts";
import { type RunQuestions, runQuestions } from "./run-questions.ts";
import { type RunRows, runRows } from "./run-rows.ts";
import { type RunSteps, runSteps } from "./run-steps.ts";
import { runTables } from "./run-tables.ts";
import { liveSession } from "./session.ts";

/** The runs in a PostgreSQL database. */
export interface PostgresRuns extends RunStore, AsyncDisposable {
  /** Closes the connections, which releases the claims of this process. It may be closed twice. */
  close(): Promise<void>;
}

/**
 * Keeps runs in PostgreSQL (the package `pg`, an optional peer), for processes of many machines. A record is on the server's disk before the
 * run goes on, in one round trip per step; steps that end together are sent together. A process holds its runs by one connection: when the process dies, others
 * can take them at once. A process whose connection broke goes on, unless another process has taken its run meanwhile: then it records nothing more
 * (`run-taken`). It waits a minute for a server that is away. The address is that of the server itself, or of a pooler in session mode: one that gives each
 * transaction another connection is refused, because it breaks the claims. Tables are made with the first call.
 *
 * @param url like `postgresql://user:password@host:5432/database`. Without it, the variables `PGHOST`, `PGUSER` and so on apply.
 * @throws WritError `definition-invalid`; from its functions `peer-missing`, `postgres-unreachable`, `postgres-refused`, `postgres-forbidden`, `postgres-pooled`, `postgres-failed`
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { postgresRuns } from "writ/postgres";
 *
 * await using runs = postgresRuns("postgresql://writ@localhost/agents");
 * await using journal = await runs.open("invoice-17"); // begun, or taken from the process that died
 * const payer = agent({ name: "payer", model: "ollama/qwen2.5:7b" });
 * await payer.run("Pay invoice 17", { journal, runId: journal.run.id });
 * ```
 */
export function postgresRuns(url?: string, options: PostgresOptions = {}): PostgresRuns {
  const place = placeIn("postgresRuns()", { url, options });
  const tables = runTables(place.schema);
  const database = postgresDatabase({ ...place, tables, needsOwnConnection: true });
  const session = liveSession(database, tables.channel);
  const rows = runRows(database, tables);
  const steps = runSteps(database.query, tables);
  const questions = runQuestions(database, tables);
  const claims = runClaims(session, tables);
  const moves = runMoves(database, tables);
  const changes = runChanges(database.query, session, tables);
  const server: RunServer = { rows, steps, questions, changes };
  async function open(id: string): Promise<RunJournal> {
    const { status } = await rows.begin({ id, agent: "", input: null, options: {}, protocol });
    if (status === "moved") throw new WritError("run-moved", { id });
    const taken = await claims.take(id);
    return taken === undefined ? open(id) : journalOf(server, taken); // erased or moved in between
  }
  /** Reports a change to the watchers of this process, which need not wait for the server. */
  async function told<Result>(id: string, change: Promise<Result>): Promise<Result> {
    const result = await change;
    changes.here(id);
    return result;
  }
  async function close(): Promise<void> {
    changes.close();
    await session.close();
    await database.close();
  }
  return {
    begin: (run) => told(run.id, rows.begin(run)),
    open,
    async claim(agents, id, alone = []) {
      for (;;) {
        const taken = await claims.takeNext(agents, id, alone);
        const end = taken?.run.end;
        if (taken === undefined || end === undefined) return taken && journalOf(server, taken);
        try {
          await rows.end(taken, end); // its row cannot be read
        } finally {
          await taken.release();
        }
      }
    },
    read: (id) => rows.find(id),
    list: (wanted = {}) => rows.list(wanted),
    records: (id, after) => steps.list(id, after),
    questions: (id, wanted) => questions.list(id, wanted),
    answer: (id, key, answer) => told(id, questions.answer(id, key, answer)),
    signal: (id, signal) => told(id, questions.signal(id, signal)),
    async expire() {
      const ids = await questions.expire();
      for (const id of ids) changes.here(id);
      return ids;
    },
    cancel: (id, reason) => told(id, rows.cancel(id, reason)),
    reopen: (id) => told(id, rows.reopen(id)),
    moveOut: (id) => told(id, moves.out(id)),
    moveIn: (moved) => told(moved.run.id, moves.in(moved)),
    erase: (which) => ("id" in which ? told(which.id, rows.erase(which)) : rows.erase(which)),
    watch: (onChange) => changes.watch(onChange),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The parts of a store. */
interface RunServer {
  readonly rows: RunRows;
  readonly steps: RunSteps;
  readonly questions: RunQuestions;
  readonly changes: RunChanges;
}

async function journalOf(server: RunServer, taken: Taken): Promise<RunJournal> {
  const { rows, steps, questions, changes } = server;
  const { id, release } = taken;
  const keep = steps.keeper(taken);
  const inTurn = oneAfterAnother();
  async function leave(waits: boolean, passed: readonly string[] = []): Promise<void> {
    try {
      await rows.leave(taken, waits, passed);
    } finally {
      await release();
    }
  }
  const close = (): Promise<void> => leave(false);
  const records = await steps.list(id).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  const journal = recordedJournal(
    records,
    async (record) => {
      const answered = await keep(record);
      changes.tell(id);
      return answered;
    },
    async (question) => {
      const kept = await inTurn("", () => questions.keep(taken, question));
      if (kept === false) throw await steps.refusal(taken);
      return typeof kept === "string" ? kept : undefined;
    },
  );
  return {
    ...journal,
    run: taken.run,
    async end(end: RunEnd) {
      try {
        if (!(await rows.end(taken, end))) throw await steps.refusal(taken);
      } finally {
        await release();
      }
    },
    wait: (passed) => leave(true, passed),
    withdraw: (passed) => questions.withdraw(taken, passed),
    close,
    [Symbol.asyncDispose]: close,
  };
}

import type { StatementSync } from "node:sqlite";
import { listStatement, type ListWords } from "../run-list.ts";
import { begunIn, runIn, startOf } from "../stored-run.ts";
import { protocol } from "../../durable/protocol.ts";
import type { NewRun, RunEnd, RunFilter, StoredRun } from "../../durable/run-store.ts";
import { WritError } from "../../error/writ-error.ts";
import { fromKey, toKey } from "../stored-text.ts";
import { byNumber, type Database } from "./database.ts";
import type { Claim } from "./run-steps.ts";

/** A run that was taken. */
export interface Taken extends Claim {
  readonly run: StoredRun;
}

/** The runs of which one is to be taken: those of some agents, of which those in `alone` take only runs without a session, or the run of an id. */
export interface WantedRuns {
  readonly agents: readonly string[];
  readonly id: string | undefined;
  readonly alone: readonly string[];
}

/** The rows of the runs in a file. Its functions run inside a transaction. */
export interface RunRows {
  /** Inserts a run, unless the file has one with its id. */
  begin(run: NewRun): StoredRun;
  find(runId: string): StoredRun | undefined;
  /** @throws WritError `run-missing` */
  get(runId: string): StoredRun;
  /** @throws WritError `run-missing` */
  list(wanted: RunFilter): readonly StoredRun[];
  /** Gives a run to an owner, whoever has it; begins it if it does not exist. */
  take(runId: string, owner: string): Taken;
  /** Gives the oldest ready one of the wanted runs to an owner. */
  takeNext(wanted: WantedRuns, owner: string): Taken | undefined;
  /** Gives a run up. It waits if `waits` is true and nobody has answered since it was taken. */
  leave(claim: Claim, waits: boolean): void;
  /** Ends a run that has not ended; `claim` is the claim of the owner that carries it out. */
  end(runId: string, end: RunEnd, claim?: Claim): void;
  answered(runId: string): void;
  reopen(runId: string): void;
  /** Takes the keys of runs, as a list of JSON. Returns the number of runs that there were. */
  forget(runs: string): number;
  /** The ids of the runs of a session, or of runs that ended before a time. */
  ids(
    which: { readonly session: string } | { readonly endedBefore: number; readonly most: number },
  ): readonly string[];
}

/** The table of {@link runRows}. `woken` is 1 if somebody has answered since the run was taken. */
export const runTable = `
  CREATE TABLE IF NOT EXISTS writ_runs (
    place INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, epoch INTEGER NOT NULL, owner TEXT, status TEXT NOT NULL,
    woken INTEGER NOT NULL DEFAULT 0, agent TEXT NOT NULL, session TEXT, begun INTEGER NOT NULL, ended INTEGER, start TEXT NOT NULL, finish TEXT
  ) STRICT;
  CREATE INDEX IF NOT EXISTS writ_runs_status ON writ_runs (status, place);
  CREATE INDEX IF NOT EXISTS writ_runs_ready ON writ_runs (agent, place) WHERE status = 'ready';
  CREATE INDEX IF NOT EXISTS writ_runs_session ON writ_runs (session, place) WHERE session IS NOT NULL;
  CREATE INDEX IF NOT EXISTS writ_runs_open ON writ_runs (session, place) WHERE session IS NOT NULL AND ended IS NULL;
  CREATE INDEX IF NOT EXISTS writ_runs_ended ON writ_runs (ended) WHERE ended IS NOT NULL;
  CREATE INDEX IF NOT EXISTS writ_runs_owner ON writ_runs (owner) WHERE owner IS NOT NULL;`;

/** Names, or ids, as the statements look for them. */
export const namesOf = (names: readonly string[]): string => JSON.stringify(names.map(toKey));

/** The protocol of a run. One that cannot be read has none, so that it is taken and told of, and keeps no other run from being taken. */
const protocolOf = "CASE WHEN json_valid(start) THEN start ->> '$.protocol' END";

/** The statements that take a run, whose row matches `which`. It then has this version of the protocol, so that earlier versions leave it alone. */
const taking = (which: string): string =>
  `UPDATE writ_runs SET epoch = epoch + 1, owner = $owner, woken = 0,
    start = CASE WHEN ${protocolOf} < ${protocol} THEN json_set(start, '$.protocol', ${protocol}) ELSE start END, status = CASE WHEN ended IS NULL THEN 'running' ELSE status END
    WHERE place = (${which}) RETURNING *`;

const words: ListWords = {
  table: "writ_runs",
  columns: "*",
  order: "place",
  startsWith: (column, text) => `substr(${column}, 1, length(${text})) = ${text}`,
  unindexed: (column) => `+${column}`,
  orderInSession: "place",
  questions: "writ_questions",
  asker: "id",
};

/** The rows in a file. */
export function runRows(database: Database): RunRows {
  // The first epoch is random, so that it differs from that of an erased run with the same id.
  const insert = database.prepare(
    `INSERT INTO writ_runs (id, epoch, status, agent, session, begun, start)
      VALUES (?, abs(random() % 4503599627370496), 'ready', ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
  );
  const find = database.prepare("SELECT * FROM writ_runs WHERE id = ?");
  const lists = new Map<string, StatementSync>();
  const takeOne = database.prepare(taking("SELECT place FROM writ_runs WHERE id = $id"));
  const isReady = `status = 'ready' AND ifnull(${protocolOf}, 0) <= $protocol AND (session IS NULL OR agent NOT IN (SELECT value FROM json_each($alone)))`;
  const oldest = `SELECT place FROM writ_runs WHERE agent = own.value AND ${isReady} ORDER BY place LIMIT 1`;
  const takeNext = database.prepare(taking(`SELECT min((${oldest})) FROM json_each($agents) AS own`)); // looks at no run of another agent
  const takeReady = database.prepare(
    taking(
      `SELECT place FROM writ_runs WHERE id = $id AND agent IN (SELECT value FROM json_each($agents)) AND ${isReady}`,
    ),
  );
  const leave = database.prepare(
    `UPDATE writ_runs SET owner = NULL, status = CASE WHEN ended IS NOT NULL THEN status WHEN $waits AND woken = 0 THEN 'waiting' ELSE 'ready' END
      WHERE id = $id AND epoch = $epoch`,
  );
  const ended = database.prepare(
    "UPDATE writ_runs SET status = $status, ended = $ended, finish = $finish WHERE id = $id AND ended IS NULL AND epoch = ifnull($epoch, epoch)",
  );
  const answered = database.prepare(
    "UPDATE writ_runs SET woken = 1, status = CASE status WHEN 'waiting' THEN 'ready' ELSE status END WHERE id = ?",
  );
  const reopen = database.prepare(
    "UPDATE writ_runs SET status = 'ready', ended = NULL, finish = NULL WHERE id = ? AND ended IS NOT NULL AND status NOT IN ('answered', 'cancelled')",
  );
  const forget = database.prepare("DELETE FROM writ_runs WHERE id IN (SELECT value FROM json_each(?))");
  const ofSession = database.prepare("SELECT id FROM writ_runs WHERE session = ?");
  const old = database.prepare(
    "SELECT id FROM writ_runs WHERE ended < ? AND owner IS NULL ORDER BY ended LIMIT ?",
  );

  const found = (runId: string): StoredRun | undefined => {
    const row = find.get(toKey(runId));
    return row === undefined ? undefined : runIn(row);
  };
  const get = (runId: string): StoredRun => {
    const run = found(runId);
    if (run === undefined) throw new WritError("run-missing", { id: runId });
    return run;
  };
  const put = (run: NewRun): StoredRun => {
    const { id, agent, session } = run;
    insert.run(
      toKey(id),
      toKey(agent),
      session === undefined ? null : toKey(session),
      Date.now(),
      startOf(run),
    );
    return begunIn(find.get(toKey(id)) ?? {});
  };
  return {
    begin: put,
    find: found,
    get,
    list(wanted) {
      const { sql, values } = listStatement(wanted, words);
      const list = lists.get(sql) ?? database.prepare(sql);
      lists.set(sql, list);
      const runs = list.all(byNumber(values)).map(runIn);
      if (runs.length === 0 && wanted.before !== undefined) get(wanted.before);
      return runs;
    },
    take(id, owner) {
      put({ id, agent: "", input: null, options: {}, protocol });
      return takenIn(takeOne.get({ id: toKey(id), owner }) ?? {});
    },
    takeNext({ agents, id, alone }, owner) {
      const given = { agents: namesOf(agents), alone: namesOf(alone), owner, protocol };
      const row = id === undefined ? takeNext.get(given) : takeReady.get({ ...given, id: toKey(id) });
      return row && takenIn(row);
    },
    leave: ({ runId, epoch }, waits) => void leave.run({ id: toKey(runId), epoch, waits: waits ? 1 : 0 }),
    end(runId, end, claim) {
      const { type: status } = end.outcome;
      const finish = JSON.stringify(end);
      ended.run({ id: toKey(runId), status, ended: Date.now(), finish, epoch: claim?.epoch ?? null });
    },
    answered: (runId) => void answered.run(toKey(runId)),
    reopen: (runId) => void reopen.run(toKey(runId)),
    forget: (runs) => Number(forget.run(runs).changes),
    ids: (which) =>
      ("session" in which ? ofSession.all(toKey(which.session)) : old.all(which.endedBefore, which.most)).map(
        ({ id }) => fromKey(id),
      ),
  };
}

function takenIn(row: Readonly<Record<string, unknown>>): Taken {
  const run = runIn(row);
  return { runId: run.id, epoch: Number(row["epoch"]), run };
}

import { randomUUID } from "node:crypto";
import { WritError } from "../../error/writ-error.ts";
import {
  checkVersion,
  headText,
  missing,
  recordOf,
  runText,
  type SessionRun,
  type SessionStore,
} from "../../session/session-store.ts";
import { fromKey, toKey } from "../stored-text.ts";
import { postgresDatabase, type Row } from "./database.ts";
import { placeIn, type PostgresOptions } from "./options.ts";
import { sessionClaims } from "./session-claims.ts";
import { sessionStatements } from "./session-statements.ts";
import { sessionTables } from "./session-tables.ts";

/** The sessions in a PostgreSQL database. */
export interface PostgresSessions extends SessionStore, AsyncDisposable {
  /** Closes the connections. It may be closed twice. */
  close(): Promise<void>;
}

/**
 * Keeps sessions in PostgreSQL (the package `pg`, an optional peer), for processes of many machines; they can be in the database of the runs. Each change is
 * one statement, and of two that were made from the same version, one is refused. Of two runs of a session in two processes, one waits for the other. A claim
 * is timed by the clock of the server: that of a process that died or stands still holds for at most 15 seconds. It waits a minute for a server that is away.
 * A pooler may stand before it. Tables are made with the first call.
 *
 * @param url like `postgresql://user:password@host:5432/database`. Without it, the variables `PGHOST`, `PGUSER` and so on apply.
 * @throws WritError `definition-invalid`; from its functions `peer-missing`, `postgres-unreachable`, `postgres-refused`, `postgres-forbidden`, `postgres-failed`
 * @example
 * ```ts
 * import { agent, session } from "writ";
 * import { postgresSessions } from "writ/postgres";
 *
 * await using sessions = postgresSessions("postgresql://writ@localhost/agents");
 * const talker = agent({ name: "talker", model: "ollama/qwen2.5:7b" });
 * await talker.run("My name is Kim.", { session: session(sessions, "kim") });
 * ```
 */
export function postgresSessions(url?: string, options: PostgresOptions = {}): PostgresSessions {
  const place = placeIn("postgresSessions()", { url, options });
  const tables = sessionTables(place.schema);
  const { query, close } = postgresDatabase({ ...place, tables });
  const sql = sessionStatements(tables);

  /** Makes a change from a version, once: if its result was lost, its mark shows that it was made. */
  async function change(
    id: string,
    from: number,
    make: (mark: string) => Promise<readonly Row[]>,
  ): Promise<number> {
    const mark = randomUUID();
    for (;;) {
      if ((await make(mark)).length > 0) return from + 1;
      const [found] = await query(sql.standing, [toKey(id), mark]);
      if (found === undefined) throw missing(id);
      if (found["mine"] === true) return from + 1;
      checkVersion(id, Number(found["version"]), from); // the same version: the other change came at the same moment
    }
  }

  function reading(key: string, only: Parameters<SessionStore["read"]>[1]): Promise<readonly Row[]> {
    if (only === undefined) return query(sql.read, [key]);
    return "runId" in only
      ? query(sql.readRun, [key, toKey(only.runId)])
      : query(sql.readLast, [key, only.lastRuns]);
  }

  return {
    async create(id, contents = {}) {
      const head = headText(contents);
      const { runs = [], version = 0 } = contents;
      const mark = randomUUID();
      const rows = await query(sql.create, [toKey(id), head, mark, ...columnsOf(runs), version]);
      if (rows.length === 0 && (await query(sql.made, [toKey(id), mark])).length === 0)
        throw new WritError("session-exists", { id });
      return recordOf(id, { version, head, runs: runs.map(runText) });
    },
    async read(id, only) {
      const [found] = await reading(toKey(id), only);
      if (found === undefined) throw missing(id);
      const { version, head, runs } = found;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an array of texts
      return recordOf(id, { version: Number(version), head: String(head), runs: runs as readonly string[] });
    },
    async append(id, run, expectedVersion) {
      const values = [toKey(run.runId), runText(run)];
      return change(id, expectedVersion, (mark) =>
        query(sql.append, [toKey(id), expectedVersion, mark, ...values]),
      );
    },
    async update(id, contents, expectedVersion) {
      const values = [headText(contents), ...columnsOf(contents.runs)];
      return change(id, expectedVersion, (mark) =>
        query(sql.update, [toKey(id), expectedVersion, mark, ...values]),
      );
    },
    async delete(id) {
      const [found] = await query(sql.find, [toKey(id)]);
      if (found === undefined) throw missing(id);
      await query(sql.remove, [found["place"]]);
    },
    async list() {
      return (await query(sql.list)).map((row) => fromKey(row["id"]));
    },
    claims: sessionClaims(query, tables),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The ids of runs, with their JSON. */
function columnsOf(runs: readonly SessionRun[]): readonly (readonly string[])[] {
  return [runs.map(({ runId }) => toKey(runId)), runs.map(runText)];
}

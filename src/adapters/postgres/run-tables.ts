import { hash } from "node:crypto";
import { toKey } from "../stored-text.ts";
import { newIndex } from "./later-indexes.ts";
import type { Tables } from "./pool.ts";

/** The tables of runs in a schema, as statements name them. */
export interface RunTables extends Tables {
  readonly runs: string;
  readonly steps: string;
  readonly questions: string;
  /** The channel on which changes are announced. */
  readonly channel: string;
  /** An expression that announces a change, given as a parameter of the statement, when the statement is committed. */
  readonly told: (parameter: string) => string;
  /** The number of the advisory lock of a run. */
  readonly lockOf: (id: string) => string;
}

/**
 * The tables of runs. Steps and questions refer to their run by its number, because another run of the same id has another number. `woken` is true if somebody
 * has answered since the run was taken; `last` is the answer to a question after its time is over.
 *
 * @param schema quoted
 */
export function runTables(schema: string): RunTables {
  const [runs, steps, questions] = [`${schema}.runs`, `${schema}.steps`, `${schema}.questions`];
  const channel = `writ_${hash("sha256", schema).slice(0, 32)}`;
  const indexes = [
    { name: "questions_until_idx", on: `${questions} (until) WHERE until IS NOT NULL` },
    { name: "runs_of_agent", on: `${runs} (agent, (number + 0)) WHERE status IN ('ready', 'running')` },
    { name: "questions_since", on: `${questions} (since, place)` },
  ];
  return {
    runs,
    steps,
    questions,
    channel,
    told: (parameter) => `pg_notify('${channel}', ${parameter})`,
    lockOf: (id) =>
      Buffer.from(hash("sha256", `${schema} ${toKey(id)}`, "buffer"))
        .readBigInt64BE()
        .toString(),
    last: questions,
    later: [
      {
        relation: questions,
        column: "people",
        add: `ALTER TABLE ${questions} ADD COLUMN until bigint, ADD COLUMN last text, ADD COLUMN people text;`,
      },
    ],
    indexes,
    make: `
      CREATE TABLE ${runs} (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE, lock bigint NOT NULL,
        epoch bigint NOT NULL DEFAULT 0, owner text, status text NOT NULL DEFAULT 'ready', woken boolean NOT NULL DEFAULT false,
        agent text NOT NULL, session text, protocol integer NOT NULL, begun bigint NOT NULL, ended bigint, start text NOT NULL, finish text
      );
      CREATE INDEX ON ${runs} (number) WHERE status IN ('ready', 'running');
      CREATE INDEX ON ${runs} (status, number);
      CREATE INDEX ON ${runs} (session, number) WHERE session IS NOT NULL;
      CREATE INDEX ON ${runs} (ended) WHERE ended IS NOT NULL;
      CREATE TABLE ${steps} (
        place bigint GENERATED ALWAYS AS IDENTITY, run bigint NOT NULL, key text COLLATE "C" NOT NULL, fingerprint text NOT NULL,
        json text, PRIMARY KEY (run, key)
      );
      CREATE TABLE ${questions} (
        place bigint GENERATED ALWAYS AS IDENTITY, run bigint NOT NULL, key text COLLATE "C" NOT NULL, fingerprint text NOT NULL,
        request text NOT NULL, since bigint NOT NULL, until bigint, last text, people text, PRIMARY KEY (run, key)
      );
      ${indexes.map(newIndex).join("\n      ")}`,
  };
}

/** The columns from which a run is made. */
export const columns = "id, agent, session, status, begun, ended, start, finish, protocol";

/** The longest key of a run in a message, which may stand in brackets: for a run with a longer one it says only that something happened. */
const longestKey = 7_997;

/** The announcement that something happened to a run. */
export function changeOf(id: string): string {
  const key = toKey(id);
  return Buffer.byteLength(key) > longestKey ? "" : key;
}

/** The announcement that a run only made progress. Earlier versions read the same id in it. */
export function progressOf(id: string): string {
  const key = changeOf(id);
  return key === "" ? "" : `[${key}]`;
}

/** The same announcement, as an expression over the row of the run. */
export const progressOfRow: string = `CASE WHEN octet_length(id) > ${longestKey} THEN '' ELSE '[' || id || ']' END`;

/** True for the announcement of progress. */
export const isProgressIn = (message: string): boolean => message.startsWith("[");

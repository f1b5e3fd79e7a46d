import type { SessionTables } from "./session-tables.ts";

/** The rows of one run. The index has the first signs of an id alone: its entries have a greatest length, and ids have none. */
const ofRun = (parameter: string): string =>
  `session = place AND left(run, 200) = left(${parameter}, 200) AND run = ${parameter}`;

/** The statements of sessions. Each change is one statement, which returns a row if the change was made. */
export function sessionStatements({ sessions, runs }: SessionTables) {
  const putRuns = (ids: string, texts: string): string =>
    `put AS (INSERT INTO ${runs} (session, run, json, change) SELECT place, run, json, $3 FROM changed,
      unnest(${ids}::text[], ${texts}::text[]) WITH ORDINALITY AS given (run, json, nth) ORDER BY nth)`;
  // The version is the caller's: it can be any number.
  const changing = (what: string): string =>
    `changed AS (UPDATE ${sessions} SET version = version + 1${what} WHERE id = $1 AND version = $2::float8 RETURNING place)`;
  const [reading, ofSession] = [
    "SELECT version, head, ARRAY(SELECT json FROM",
    `ORDER BY number) AS runs FROM ${sessions} WHERE id = $1`,
  ];
  return {
    create: `WITH changed AS (INSERT INTO ${sessions} (id, head, change, version) VALUES ($1, $2, $3, $6) ON CONFLICT (id) DO NOTHING RETURNING place),
      ${putRuns("$4", "$5")} SELECT place FROM changed`,
    made: `SELECT FROM ${sessions} WHERE id = $1 AND change = $2`,
    read: `${reading} ${runs} WHERE session = place ${ofSession}`,
    readLast: `${reading} (SELECT number, json FROM ${runs} WHERE session = place ORDER BY number DESC LIMIT $2::bigint) AS latest ${ofSession}`,
    readRun: `${reading} ${runs} WHERE ${ofRun("$2")} ${ofSession}`,
    append: `WITH ${changing("")}, gone AS (DELETE FROM ${runs} USING changed WHERE ${ofRun("$4")}),
      put AS (INSERT INTO ${runs} (session, run, json, change) SELECT place, $4, $5, $3 FROM changed) SELECT place FROM changed`,
    update: `WITH ${changing(", head = $4, change = $3")}, gone AS (DELETE FROM ${runs} USING changed WHERE session = place),
      ${putRuns("$5", "$6")} SELECT place FROM changed`,
    standing: `SELECT version, change = $2 OR EXISTS (SELECT FROM ${runs} AS kept WHERE session = place AND kept.change = $2) AS mine
      FROM ${sessions} WHERE id = $1`,
    find: `SELECT place FROM ${sessions} WHERE id = $1`,
    remove: `DELETE FROM ${sessions} WHERE place = $1`,
    list: `SELECT id FROM ${sessions} ORDER BY place`,
  };
}

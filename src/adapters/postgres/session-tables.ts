import { newIndex } from "./later-indexes.ts";
import type { Tables } from "./pool.ts";

/** The tables of sessions in a schema, as statements name them. */
export interface SessionTables extends Tables {
  readonly sessions: string;
  readonly runs: string;
  readonly claims: string;
}

/**
 * The tables of sessions, beside those of runs if these are in the same schema. `change` is the mark of the statement that wrote a row: a repeated statement,
 * whose result was lost, recognises its own work by it.
 *
 * @param schema quoted
 */
export function sessionTables(schema: string): SessionTables {
  const [sessions, runs, claims] = [
    `${schema}.sessions`,
    `${schema}.session_runs`,
    `${schema}.session_claims`,
  ];
  const ofRun = { name: "session_runs_run", on: `${runs} (session, left(run, 200), number)` };
  return {
    sessions,
    runs,
    claims,
    last: claims,
    indexes: [ofRun],
    make: `
      CREATE TABLE ${sessions} (
        place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE,
        version bigint NOT NULL DEFAULT 0, head text NOT NULL, change text NOT NULL
      );
      CREATE TABLE ${runs} (
        number bigint GENERATED ALWAYS AS IDENTITY, session bigint NOT NULL REFERENCES ${sessions} (place) ON DELETE CASCADE,
        run text NOT NULL, json text NOT NULL, change text NOT NULL, PRIMARY KEY (session, number)
      );
      ${newIndex(ofRun)}
      CREATE TABLE ${claims} (id text COLLATE "C" PRIMARY KEY, owner text NOT NULL, until bigint NOT NULL);`,
  };
}

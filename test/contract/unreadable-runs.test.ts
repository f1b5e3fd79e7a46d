import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { afterAll, beforeAll, describe } from "vitest";
import { postgresMissing, type PostgresServer, startPostgres } from "../postgres-server.ts";
import { postgresUnderTest } from "./run-store-postgres.ts";
import { sqliteUnderTest } from "./run-store-sqlite.ts";
import { unreadableRuns } from "./unreadable-runs.ts";

/** The text without its last sign or, without that already, with it. */
const damaged = (column: string): string =>
  `CASE WHEN ${column} LIKE '%}' THEN substr(${column}, 1, length(${column}) - 1) ELSE ${column} || '}' END`;

unreadableRuns("SQLite", sqliteUnderTest, async (address, [table, column]) => {
  const database = new DatabaseSync(address);
  const own = table === "runs" ? "id" : "run";
  database.exec(`UPDATE writ_${table} SET ${column} = ${damaged(column)} WHERE ${own} = '"a"'`);
  database.close();
});

describe.skipIf(postgresMissing() !== undefined)("in PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.close());
  const under = postgresUnderTest(() => server);
  unreadableRuns("PostgreSQL", under, async (address, [table, column]) => {
    const [url, schema = ""] = address.split("#");
    const client = new pg.Client(url);
    await client.connect();
    const within = `"${schema.replaceAll('"', '""')}"`;
    const own = table === "runs" ? "number" : "run";
    const which = `${own} = (SELECT number FROM ${within}.runs WHERE id = '"a"')`;
    await client.query(`UPDATE ${within}.${table} SET ${column} = ${damaged(column)} WHERE ${which}`);
    await client.end();
  });
});

import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { postgresRuns } from "../../src/postgres.ts";
import { password, postgresMissing, type PostgresServer, startPostgres } from "../postgres-server.ts";

/** The index that an earlier version lacked. */
const index = "writ.runs_of_agent";

describe.skipIf(postgresMissing() !== undefined)("an index that tables of an earlier version get", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.close());

  async function connected(): Promise<pg.Client> {
    const client = new pg.Client(server.url);
    client.on("error", () => undefined);
    await client.connect();
    onTestFinished(() => client.end());
    return client;
  }

  /** A database without the index, and a transaction that writes to its table: who builds the index waits for its end. */
  async function upgrading() {
    const store = postgresRuns(server.url);
    await store.list();
    await store.close();
    const [writer, admin] = [await connected(), await connected()];
    await admin.query(`DROP INDEX ${index}`);
    await writer.query("BEGIN; UPDATE writ.runs SET woken = woken");
    const builders = async (): Promise<readonly number[]> => {
      const { rows } = await admin.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE query LIKE '%CREATE INDEX%' AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()",
      );
      return rows.map(({ pid }) => pid);
    };
    const isValid = async (): Promise<boolean | undefined> => {
      const { rows } = await admin.query<{ indisvalid: boolean }>(
        "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)",
        [index],
      );
      return rows[0]?.indisvalid;
    };
    return { writer, admin, builders, isValid };
  }

  function opened(): Promise<unknown> {
    const store = postgresRuns(server.url);
    onTestFinished(() => store.close());
    return store.list();
  }

  it("is built while others write", async () => {
    const { writer, admin, builders, isValid } = await upgrading();
    const opening = opened();
    await expect.poll(async () => (await builders()).length, { timeout: 10_000 }).toBe(1);
    await admin.query("SET lock_timeout = 2000");
    await admin.query("UPDATE writ.runs SET woken = woken"); // it waits for nobody
    await writer.query("COMMIT");
    await opening;
    expect(await isValid()).toBe(true);
  });

  it("is built by one of the processes that start at once", async () => {
    const { writer, builders, isValid } = await upgrading();
    const opening = [opened(), opened(), opened()];
    await expect.poll(async () => (await builders()).length, { timeout: 10_000 }).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 500)); // the others look, and wait
    expect(await builders()).toHaveLength(1);
    await writer.query("COMMIT");
    await Promise.all(opening);
    expect(await isValid()).toBe(true);
  });

  it("is built anew where a process died while it built it", async () => {
    const { writer, admin, builders, isValid } = await upgrading();
    const opening = opened().then(
      () => "opened",
      () => "failed",
    );
    await expect.poll(async () => (await builders()).length, { timeout: 10_000 }).toBe(1);
    await admin.query("SELECT pg_terminate_backend($1)", [(await builders())[0]]);
    expect(await opening).toBe("failed");
    expect(await isValid()).toBe(false);
    await writer.query("COMMIT");
    await opened();
    expect(await isValid()).toBe(true);
  });

  it("is left out for a role that does not own the tables", async () => {
    const { writer, admin, isValid } = await upgrading();
    await writer.query("COMMIT");
    await admin.query(`CREATE ROLE weak LOGIN PASSWORD '${password}';
      GRANT USAGE ON SCHEMA writ TO weak; GRANT ALL ON ALL TABLES IN SCHEMA writ TO weak`);
    await using weak = postgresRuns(server.url.replace("writ:", "weak:"));
    expect(await weak.list()).toEqual([]);
    expect(await isValid()).toBeUndefined();
  });
});

import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  type PostgresAccounts,
  postgresAccounts,
  postgresMemory,
  postgresNotes,
  type PostgresOptions,
  type PostgresRuns,
  postgresRuns,
  type PostgresSessions,
  postgresSessions,
} from "../../src/postgres.ts";
import { killRun } from "../../tools/kill/kill-runs.ts";
import { type PgBouncer, pgBouncerMissing, startPgBouncer } from "../pgbouncer-server.ts";
import { type PostgresServer, startPostgres } from "../postgres-server.ts";
import { memoryStoreContract } from "./memory-store.ts";
import { noteStoreContract } from "./note-store.ts";
import { postgresUnderTest } from "./run-store-postgres.ts";
import { sessionStoreContract, storedRun } from "./session-store.ts";

const reset = { server_reset_query: "DISCARD ALL" };
const refused: readonly Readonly<Record<string, string>>[] = [
  { pool_mode: "transaction" },
  { pool_mode: "transaction", ...reset, server_reset_query_always: "1" },
  { pool_mode: "transaction", server_round_robin: "1", min_pool_size: "5" },
  { pool_mode: "statement" },
  { pool_mode: "session", server_reset_query: "" },
];

describe.skipIf(pgBouncerMissing() !== undefined)("through PgBouncer", () => {
  let server: PostgresServer;
  let admin: pg.Client;
  let inSessionMode: PgBouncer;
  let inTransactionMode: PgBouncer;
  const opened: { readonly close: () => Promise<void> }[] = [];
  beforeAll(async () => {
    server = await startPostgres();
    admin = new pg.Client(server.url);
    await admin.connect();
    inSessionMode = await startPgBouncer(server.url, { pool_mode: "session", ...reset });
    inTransactionMode = await startPgBouncer(server.url, { pool_mode: "transaction" });
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });
  afterAll(async () => {
    await Promise.all([inSessionMode.close(), inTransactionMode.close(), admin.end()]);
    server.close();
  });
  function runs(url: string, schema: string): PostgresRuns {
    const store = postgresRuns(url, { schema, connections: 2 });
    opened.push(store);
    return store;
  }
  function sessions(schema: string): PostgresSessions {
    const store = postgresSessions(inTransactionMode.url, { schema, connections: 4 });
    opened.push(store);
    return store;
  }
  const locks = async () =>
    (await admin.query("SELECT pid, classid, objid FROM pg_locks WHERE locktype = 'advisory'")).rows;

  it.each(refused)("runs are refused with %j, and nothing is written", async (settings) => {
    const pooler = await startPgBouncer(server.url, settings);
    onTestFinished(pooler.close);
    const run = { id: "r", agent: "a", input: "", options: {}, protocol: 1 };
    const stores = [runs(pooler.url, "refused"), runs(pooler.url, "refused")];
    const attempts = stores.flatMap((store) => [store.begin(run), store.claim(["a"])]);
    for (const attempt of await Promise.allSettled(attempts))
      expect(attempt).toMatchObject({ status: "rejected", reason: { code: "postgres-pooled" } });
    expect((await admin.query("SELECT FROM pg_namespace WHERE nspname = 'refused'")).rows).toEqual([]);
  });

  it("runs in session mode lose nothing and pay nothing twice when their processes are killed", async () => {
    const store = postgresUnderTest(() => ({ ...server, url: inSessionMode.url }));
    const { complaints, kills } = await killRun(["in:6", "kept:2"], { store });
    expect(complaints).toEqual([]);
    expect(kills).toBe(2);
  });

  it("runs in session mode are opened by many at once, and hear of each other", async () => {
    const stores = Array.from({ length: 8 }, () => runs(inSessionMode.url, "many"));
    await Promise.all(stores.map((store) => store.list()));
    const heard: unknown[] = [];
    onTestFinished(runs(inSessionMode.url, "many").watch((id) => heard.push(id)));
    await expect.poll(() => heard).toEqual([undefined]);
    await stores[0]?.begin({ id: "r", agent: "a", input: "", options: {}, protocol: 1 });
    await expect.poll(() => heard).toContain("r");
  });

  let schemas = 0;
  sessionStoreContract("PgBouncer in transaction mode", () => sessions(`sessions ${(schemas += 1)}`));

  memoryStoreContract("PgBouncer in transaction mode", () => inSchema(postgresMemory));
  noteStoreContract("PgBouncer in transaction mode", () => inSchema(postgresNotes));

  function inSchema<Store extends { readonly close: () => Promise<void> }>(
    open: (url: string, options: PostgresOptions) => Store,
  ): Store {
    const store = open(inTransactionMode.url, { schema: `remembered ${(schemas += 1)}` });
    opened.push(store);
    return store;
  }

  it("an index that a new version adds is built in both modes, and leaves no lock", async () => {
    const drops = [
      ["runs_of_agent", () => runs(inSessionMode.url, "added").list()],
      [
        "session_runs_run",
        () =>
          sessions("added")
            .read("s", { lastRuns: 1 })
            .catch(() => undefined),
      ], // there is no such session
    ] as const;
    for (const [index, use] of drops) {
      await use();
      await admin.query(`DROP INDEX added.${index}`);
      await Promise.all([use(), use(), use()]);
      const { rows } = await admin.query(
        "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)",
        [`added.${index}`],
      );
      expect(rows).toEqual([{ indisvalid: true }]);
    }
    await Promise.all(opened.splice(0).map((store) => store.close()));
    await expect.poll(locks).toEqual([]);
  });

  it("accounts in transaction mode count every change of several at once", async () => {
    const stores = [1, 2].map(() => postgresAccounts(inTransactionMode.url, { schema: "accounts" }));
    opened.push(...stores);
    const more = async (store: PostgresAccounts): Promise<void> =>
      store.update("k", (entry) => {
        const tokens = (entry?.used.tokens ?? 0) + 1;
        return { since: 0, held: [], used: { tokens, costUsd: 0, toolCalls: 0, runs: 0 } };
      });
    await Promise.all(stores.flatMap((store) => Array.from({ length: 20 }, () => more(store))));
    expect((await stores[0]?.read("k"))?.used.tokens).toBe(40);
  });

  it("sessions in transaction mode are written by several at once, and leave no lock behind", async () => {
    const before = await locks();
    const stores = Array.from({ length: 4 }, () => sessions("shared"));
    await Promise.all(
      stores.map(async (store, nth) => {
        await store.create(`s${nth}`);
        for (let run = 0; run < 20; run += 1) await store.append(`s${nth}`, storedRun(`r${run}`), run);
      }),
    );
    for (const [nth, store] of stores.entries()) expect((await store.read(`s${nth}`)).runs).toHaveLength(20);
    expect(await locks()).toEqual(before);
  });
});

import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type PostgresOptions, type PostgresRuns, postgresRuns } from "../../src/postgres.ts";
import { toKey } from "../../src/adapters/stored-text.ts";
import { password, postgresMissing, type PostgresServer, startPostgres } from "../postgres-server.ts";
import { cutClaims } from "../../tools/kill/postgres-faults.ts";
import { silentLine } from "./silent-line.ts";

const newRun = { id: "r", agent: "a", input: "", options: {}, protocol: 1 };
const step = (key: string, value: unknown = key) => ({ key, run: () => Promise.resolve(value) });

it("say that nobody is there", async () => {
  await using runs = postgresRuns("postgresql://kim:hidden@127.0.0.1:1/agents");
  const error: unknown = await runs.list().catch((error: unknown) => error);
  expect(error).toMatchObject({
    code: "postgres-unreachable",
    retryable: true,
    data: { server: "127.0.0.1:1/agents", reason: "connect ECONNREFUSED 127.0.0.1:1" },
  });
  await expect(runs.begin(newRun)).rejects.toMatchObject({ code: "postgres-unreachable" });
});

it.each([[[]], [[undefined]], [[undefined, { schema: "mine" }]]])(
  "refuse to guess the server where nothing names it: %j",
  (given) => {
    for (const name of ["PGHOST", "PGPORT", "PGUSER", "PGDATABASE"]) vi.stubEnv(name, undefined);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as plain JavaScript would
    const open = () => postgresRuns(...(given as Parameters<typeof postgresRuns>));
    expect(open).toThrow(
      expect.objectContaining({ code: "definition-invalid", message: expect.stringContaining("no address") }),
    );
    vi.stubEnv("PGHOST", "127.0.0.1");
    expect(open).not.toThrow();
    vi.unstubAllEnvs();
  },
);

it.each([
  [["localhost:5432"], "url"],
  [[{}], "url"],
  [["postgresql://x", { connections: 0 }], "connections"],
  [["postgresql://x", { pool: 3 }], "pool"],
  [["postgresql://x", { schema: "" }], "schema"],
  [["postgresql://x", { schema: "pg_writ" }], "schema"],
  [["postgresql://x", { schema: "\u00e9".repeat(32) }], "schema"],
])("refuse what nobody can mean: %j", (given, part) => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as plain JavaScript would
  const open = () => postgresRuns(...(given as Parameters<typeof postgresRuns>));
  expect(open).toThrow(
    expect.objectContaining({ code: "definition-invalid", message: expect.stringContaining(part) }),
  );
});

it("say that the package pg is missing, and how it is installed", () => {
  const program = `
    import { registerHooks } from "node:module";
    registerHooks({ resolve(specifier, context, next) {
      if (specifier === "pg" || specifier.includes("/node_modules/pg/")) throw Object.assign(new Error("absent"), { code: "ERR_MODULE_NOT_FOUND" });
      return next(specifier, context);
    } });
    const { postgresRuns } = await import(${JSON.stringify(new URL("../../src/postgres.ts", import.meta.url).href)});
    await postgresRuns("postgresql://127.0.0.1:1/x").list().catch(({ code, hint }) => console.log(code, hint));`;
  const words = ["--no-warnings", "--input-type=module", "-e", program];
  const { stdout } = spawnSync(process.execPath, words, { encoding: "utf8" });
  expect(stdout).toBe("peer-missing Install it: npm i pg\n");
});

describe.skipIf(postgresMissing() !== undefined)("runs in PostgreSQL", () => {
  let server: PostgresServer;
  let admin: pg.Client;
  beforeAll(async () => {
    server = await startPostgres();
    admin = new pg.Client(server.url);
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
    server.close();
  });
  const opened: PostgresRuns[] = [];
  afterEach(async () => {
    for (const runs of opened.splice(0)) await runs.close();
  });
  function open(schema: string, more: { readonly url?: string } & PostgresOptions = {}): PostgresRuns {
    const { url = server.url, ...options } = more;
    const runs = postgresRuns(url, { schema, ...options });
    opened.push(runs);
    return runs;
  }
  const addressWith = (change: (url: URL) => void): string => {
    const url = new URL(server.url);
    change(url);
    return url.href;
  };
  async function records(schema: string): Promise<readonly unknown[]> {
    return (await admin.query(`SELECT key FROM "${schema}".steps ORDER BY place`)).rows;
  }

  it("say that the password, the role or the database is wrong, and never tell the password", async () => {
    const wrong = [
      addressWith((url) => (url.password = "guessed")),
      addressWith((url) => (url.username = "nobody")),
      addressWith((url) => (url.pathname = "/nothing")),
      addressWith((url) => (url.password = "")),
    ];
    for (const url of wrong) {
      const error: unknown = await open("x", { url })
        .list()
        .catch((error: unknown) => error);
      expect(error).toMatchObject({ code: "postgres-refused" });
      expect(JSON.stringify(error) + String(error)).not.toMatch(/guessed|kept%20secret|kept secret/);
    }
  });

  it.each([
    { what: "SSL that the server lacks", more: "?sslmode=require", advice: "`sslmode`" },
    {
      what: "a server that only reads",
      more: "?options=-c%20default_transaction_read_only=on",
      advice: "primary server",
    },
    { what: "an id that no index can hold", id: randomBytes(3000).toString("hex"), advice: "shorter id" },
  ])("say what to do about $what", async ({ more = "", id = "r", advice }) => {
    const begun = open("advice", { url: server.url + more }).begin({ ...newRun, id });
    const hint = expect.stringContaining(advice);
    await expect(begun).rejects.toMatchObject({ code: "postgres-failed", hint });
  });

  it("have no question of a run that is cancelled while it is kept", async () => {
    const runs = open("late");
    await using journal = await runs.open("r");
    await admin.query("BEGIN");
    const sql = 'SELECT number FROM "late".runs FOR NO KEY UPDATE';
    const { number } = (await admin.query<{ number: string }>(sql)).rows[0] ?? {};
    await admin.query(
      `INSERT INTO "late".questions (run, key, fingerprint, request, since) VALUES ($1, $2, '', '{"hash":"h"}', 1)`,
      [number, toKey("q")],
    );
    const cancelling = runs.cancel("r", "too late");
    await sleep(200); // it waits for the run's row by then
    await admin.query("COMMIT");
    expect(await cancelling).toMatchObject({ status: "cancelled" });
    expect(await runs.questions()).toEqual([]);
    await expect(runs.answer("r", "q", { approved: true, hash: "h" })).rejects.toMatchObject({
      code: "question-unknown",
    });
    await journal.close();
  });

  it("say what a role needs that may not make tables, and do with less once they are there", async () => {
    await admin.query(`CREATE ROLE weak LOGIN PASSWORD '${password}'`);
    const url = addressWith((url) => (url.username = "weak"));
    await expect(open("theirs", { url }).list()).rejects.toMatchObject({
      code: "postgres-forbidden",
      hint: expect.stringContaining('CREATE SCHEMA "theirs" AUTHORIZATION "weak"'),
    });
    await open("theirs").list();
    const forbidden: unknown = await open("theirs", { url })
      .list()
      .catch((error: unknown) => error);
    expect(forbidden).toMatchObject({ code: "postgres-forbidden" });
    await admin.query(/GRANT .*(?=\. Or)/.exec(String(Reflect.get(Object(forbidden), "hint")))?.[0] ?? ""); // as it advises
    await open("theirs", { url }).begin(newRun);
    await admin.query("CREATE SCHEMA own AUTHORIZATION weak");
    await open("own", { url }).begin(newRun);
  });

  it("make their tables once, whoever comes first", async () => {
    const stores = Array.from({ length: 10 }, () => open('many "at once"', { connections: 1 }));
    const begun = await Promise.all(stores.map((runs) => runs.begin(newRun)));
    expect(new Set(begun.map(({ begunAt }) => begunAt)).size).toBe(1);
  });

  it("keep what the author says of the connections", async () => {
    const { hostname: host, port, username: user } = new URL(server.url);
    const token = { password: () => Promise.resolve(password), application_name: "mine" };
    const client = { host, port: Number(port), user, database: "postgres", ...token };
    await using runs = postgresRuns(undefined, { schema: "settings", client });
    await runs.list();
    const { rows } = await admin.query("SELECT FROM pg_stat_activity WHERE application_name = 'mine'");
    expect(rows.length).toBeGreaterThanOrEqual(1);
  });

  it("name the process that has one, also when it asks for a lock of its own", async () => {
    const runs = open("named");
    await runs.open("r");
    const claimed = { code: "run-claimed", data: { id: "r", owner: `process ${process.pid}` } };
    await expect(runs.open("r")).rejects.toMatchObject(claimed);
    await expect(open("named").open("r")).rejects.toMatchObject(claimed);
  });

  it("are erased once they have ended, also before their lock is released", async () => {
    const runs = open("ended");
    await using journal = await runs.open("r");
    const lock = (await admin.query<{ lock: string }>(`SELECT lock FROM "ended".runs`)).rows[0]?.lock;
    await expect(open("ended").erase({ id: "r" })).rejects.toMatchObject({ code: "run-claimed" });
    await journal.end({ outcome: { type: "answered", content: "x", finishReason: "stop" } });
    await admin.query("SELECT pg_advisory_lock($1)", [lock]);
    expect(await open("ended").erase({ id: "r" })).toBe(1);
    await admin.query("SELECT pg_advisory_unlock($1)", [lock]);
  });

  it("ask one thing at a time of a connection: pg warns of more", async () => {
    const warnings: string[] = [];
    const note = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", note);
    const runs = open("in turn");
    await Promise.all(Array.from({ length: 10 }, (_, id) => runs.begin({ ...newRun, id: String(id) })));
    const journals = await Promise.all(Array.from({ length: 10 }, () => runs.claim(["a"])));
    const taken = journals.filter((journal) => journal !== undefined);
    await Promise.all(taken.map((journal) => journal.all([step("a"), step("b"), step("c")])));
    await Promise.all(taken.map((journal) => journal.close()));
    expect(taken).toHaveLength(10);
    process.off("warning", note);
    expect(warnings).toEqual([]);
  });

  it("are given up once: who closes twice takes nothing from the next", async () => {
    const runs = open("twice");
    const first = await runs.open("r");
    await first.close();
    const second = await runs.open("r");
    await first.close();
    await first.wait();
    await expect(open("twice").open("r")).rejects.toMatchObject({ code: "run-claimed" });
    expect(await second.step(step("k"))).toBe("k");
  });

  it("go on over a connection that was cut, and hold their run again", async () => {
    const runs = open("cut");
    const journal = await runs.open("r");
    await journal.step(step("before"));
    await admin.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'writ'",
    );
    expect(await journal.step(step("after"))).toBe("after");
    await expect
      .poll(() =>
        open("cut")
          .open("r")
          .then(
            () => "taken",
            ({ code }) => String(code),
          ),
      )
      .toBe("run-claimed");
    expect(await records("cut")).toEqual([{ key: '"before"' }, { key: '"after"' }]);
  });

  it.each([
    ["has no connection left", "ALTER ROLE busy CONNECTION LIMIT 1", "ALTER ROLE busy CONNECTION LIMIT -1"],
    [
      "only reads, as a replica before it takes over",
      "ALTER ROLE busy SET default_transaction_read_only = on",
      "ALTER ROLE busy RESET default_transaction_read_only",
    ],
  ])("wait for a server that for a moment %s", async (_what, begin, end) => {
    await admin.query(`DROP SCHEMA IF EXISTS busy CASCADE; DROP ROLE IF EXISTS busy`);
    await admin.query(`CREATE ROLE busy LOGIN PASSWORD '${password}'; CREATE SCHEMA busy AUTHORIZATION busy`);
    const url = addressWith((url) => (url.username = "busy"));
    const journal = await open("busy", { url, client: { idleTimeoutMillis: 20 } }).open("r");
    await sleep(200); // connections for statements are closed by then
    await admin.query(begin);
    const kept = Promise.all([journal.step(step("k")), journal.ask?.({ key: "q", request: null })]);
    await Promise.race([kept, sleep(500)]);
    await admin.query(end);
    expect(await kept).toEqual(["k", { waitsAt: "q" }]);
    await journal.close();
  });

  it.each([
    ["statement_timeout", "'300ms'"],
    ["lock_timeout", "'300ms'"],
    ["default_transaction_isolation", "'repeatable read'"],
  ])(
    "keep a record that the server gave up by its %s while others locked the run",
    async (setting, value) => {
      await admin.query(`DROP SCHEMA IF EXISTS slow CASCADE; DROP ROLE IF EXISTS slow`);
      await admin.query(
        `CREATE ROLE slow LOGIN PASSWORD '${password}'; CREATE SCHEMA slow AUTHORIZATION slow`,
      );
      const url = addressWith((address) => (address.username = "slow"));
      const before = open("slow", { url }); // makes the tables, which takes a busy machine longer than the setting
      await before.list();
      await before.close();
      await admin.query(`ALTER ROLE slow SET ${setting} = ${value}`);
      const journal = await open("slow", { url }).open("r");
      await admin.query("BEGIN; UPDATE slow.runs SET woken = woken");
      const kept = Promise.all([journal.step(step("k")), journal.ask?.({ key: "q", request: null })]);
      await Promise.race([kept, sleep(1000)]);
      await admin.query("COMMIT");
      expect(await kept).toEqual(["k", { waitsAt: "q" }]);
      await journal.close();
    },
  );

  it("get their tables however short the statements of their role may be", async () => {
    await admin.query(`DROP SCHEMA IF EXISTS brief CASCADE; DROP ROLE IF EXISTS brief`);
    await admin.query(
      `CREATE ROLE brief LOGIN PASSWORD '${password}'; CREATE SCHEMA brief AUTHORIZATION brief; ALTER ROLE brief SET statement_timeout = '200ms'; ALTER ROLE brief SET lock_timeout = '200ms'`,
    );
    await admin.query("SELECT pg_advisory_lock(x'77726974'::int)"); // another process makes tables
    const listed = open("brief", { url: addressWith((address) => (address.username = "brief")) }).list();
    await Promise.race([listed.catch(() => undefined), sleep(600)]);
    await admin.query("SELECT pg_advisory_unlock(x'77726974'::int)");
    expect(await listed).toEqual([]);
  });

  it("list a page of questions without reading all that wait", async () => {
    const store = open("pages");
    await store.list();
    await admin.query(`INSERT INTO pages.runs (id, lock, epoch, status, woken, agent, begun, start, protocol)
      SELECT '"r' || n || '"', n, 1, 'waiting', false, '"a"', n, '{"agent":"a","input":"x","options":{}}', 1 FROM generate_series(1, 5050) AS n`);
    await admin.query(`INSERT INTO pages.questions (run, key, fingerprint, request, since)
      SELECT number, '"turn/1/approval/0"', '""', '{}', begun FROM pages.runs`);
    await admin.query(`INSERT INTO pages.steps (run, key, fingerprint, json)
      SELECT number, key, '""', '{}' FROM pages.runs, unnest(ARRAY['"start"', '"turn/1/approval/0"']) AS key WHERE key = '"start"' OR number % 50 = 0`);
    await admin.query("ANALYZE pages.runs, pages.questions, pages.steps");
    const asked = vi.spyOn(pg.Client.prototype, "query");
    expect((await store.questions(undefined, { limit: 20 })).length).toBe(20);
    const said: readonly unknown[] = asked.mock.calls.flat();
    asked.mockRestore();
    const page = said.find((each): each is pg.QueryConfig =>
      String(Object(each).text).includes("ORDER BY since"),
    );
    const plan = await admin.query(`EXPLAIN ${page?.text}`, page?.values);
    expect(JSON.stringify(plan.rows)).not.toContain("Sort");
  });

  it("are claimed over another connection where nothing comes over the first any more, and nobody says so", async () => {
    await open("silent").begin(newRun);
    const line = await silentLine(Number(new URL(server.url).port));
    const url = addressWith((url) => (url.port = String(line.port)));
    const runs = open("silent", { url, client: { query_timeout: 1000 } });
    expect(await runs.claim(["nobody"])).toBeUndefined();
    line.silence();
    expect((await runs.claim(["a"]))?.run.id).toBe("r");
    await runs.close();
    line.close();
  });

  it("take one round trip a step, and two for one that may not happen twice", async () => {
    const runs = open("trips");
    const journal = await runs.open("r");
    await journal.step(step("first"));
    const query = vi.spyOn(pg.Client.prototype, "query");
    // Other processes are told of changes apart, some at a time.
    const asked = () => query.mock.calls.filter((given) => !JSON.stringify(given).includes("pg_notify"));
    try {
      await journal.step(step("k"));
      expect(asked()).toHaveLength(1);
      await journal.step({ ...step("never"), lost: () => Promise.resolve("lost") });
      expect(asked()).toHaveLength(3);
    } finally {
      query.mockRestore();
    }
  });

  it("tell others of what is taken and recorded apart from what lets a run go on", async () => {
    const [runs, others] = [open("told"), open("told")];
    const told: (readonly [id: string | undefined, isProgress: boolean])[] = [];
    await others.list();
    others.watch((id, isProgress = false) => void told.push([id, isProgress]));
    const news = async () => {
      await expect.poll(() => told.length).toBeGreaterThan(0);
      return told.splice(0);
    };
    await news(); // it has begun to listen
    await runs.begin(newRun);
    expect(await news()).toEqual([["r", false]]);
    const journal = await runs.claim(["a"]);
    expect(await news()).toEqual([["r", true]]);
    await journal?.step(step("one"));
    expect(await news()).toEqual([["r", true]]);
    await journal?.close();
    expect(await news()).toEqual([["r", false]]);
  });

  it("are claimed without a look at the ready runs of other agents", async () => {
    const runs = open("others");
    await runs.list();
    await admin.query(`INSERT INTO others.runs (id, lock, agent, protocol, begun, start)
      SELECT to_jsonb(n)::text, n, '"other"', 1, 0, '{}' FROM generate_series(1, 2000) AS n; ANALYZE others.runs`);
    await runs.begin(newRun);
    const query = vi.spyOn(pg.Client.prototype, "query");
    try {
      expect((await runs.claim(["nobody", "a"]))?.run.id).toBe("r");
      const asked = query.mock.calls.map(([statement]): pg.QueryConfig => Object(statement));
      const { text, values } = asked.find((statement) => /try_advisory/.test(statement.text)) ?? { text: "" };
      const { rows } = await admin.query(`EXPLAIN (ANALYZE, TIMING OFF) ${text}`, values);
      const removed = JSON.stringify(rows).matchAll(/Rows Removed by Filter: (\d+)/g);
      expect(Math.max(0, ...[...removed].map(([, count]) => Number(count)))).toBeLessThan(100);
    } finally {
      query.mockRestore();
    }
  });

  it("keep steps that end together in one statement, and each with its own result", async () => {
    const runs = open("together");
    const journal = await runs.open("r");
    const calls = () => statements("together");
    await journal.step(step("first"));
    const before = await calls();
    const all = await journal.all(Array.from({ length: 16 }, (_, nth) => step(`s${nth}`, nth)));
    expect(all).toEqual(Array.from({ length: 16 }, (_, nth) => nth));
    expect((await calls()) - before).toBeLessThanOrEqual(2);
    expect(await records("together")).toHaveLength(17);
  });

  /** The transactions that have written steps, counted by what they left. */
  async function statements(schema: string): Promise<number> {
    const { rows } = await admin.query<{ count: string }>(
      `SELECT count(DISTINCT xmin::text) FROM "${schema}".steps`,
    );
    return Number(rows[0]?.count);
  }

  it("keep long results, keys and ids", async () => {
    const runs = open("long");
    const id = "i".repeat(9_000);
    const journal = await runs.open(id);
    const key = "turn/1/call/0/helper/".repeat(200);
    const value = Array.from({ length: 200_000 }, (_, nth) => nth % 97);
    await journal.step(step(key, { value }));
    await journal.close();
    const again = await runs.open(id);
    expect(await again.step(step(key, "another"))).toEqual({ value });
  });

  it("are taken from a process that stands still in the middle of a change and has lost its lock", async () => {
    const [module, driver] = [
      new URL("../../src/postgres.ts", import.meta.url).href,
      import.meta.resolve("pg"),
    ];
    const program = `const { default: pg } = await import(${JSON.stringify(driver)});
      const { postgresRuns } = await import(${JSON.stringify(module)});
      const { query } = pg.Client.prototype;
      pg.Client.prototype.query = function (...given) {
        const rows = query.apply(this, given);
        const isLocking = String(given[0]?.text).includes("FOR NO KEY UPDATE");
        return isLocking ? rows.then((found) => (process.kill(process.pid, "SIGSTOP"), found)) : rows;
      };
      const runs = postgresRuns(process.argv[1], { schema: "still" });
      const journal = await runs.open("r");
      await journal.ask({ key: "q", request: { tool: "pay", hash: "h", policy: "" } });`;
    const owner = spawn(
      process.execPath,
      ["--no-warnings", "--input-type=module", "-e", program, server.url],
      { stdio: "ignore" },
    );
    try {
      const stateOf = () => readFileSync(`/proc/${owner.pid}/stat`, "utf8");
      await expect.poll(stateOf, { timeout: 15_000 }).toMatch(/^\d+ \(.*\) T /);
      await cutClaims(server);
      const runs = open("still");
      const journal = await vi.waitFor(() => runs.open("r"), { timeout: 35_000, interval: 50 }); // the server needs a moment to end the connection
      expect(journal.run.id).toBe("r");
    } finally {
      owner.kill("SIGKILL");
    }
  }, 50_000);

  it("let the program go on that closes them where it has only just listened", () => {
    const module = JSON.stringify(new URL("../../src/postgres.ts", import.meta.url).href);
    const program = `const { postgresRuns } = await import(${module});
      const runs = postgresRuns(process.argv[1], { schema: "heard" });
      await runs.list();
      runs.watch(() => undefined)();
      await runs.close();
      console.log("done");`;
    const words = ["--no-warnings", "--input-type=module", "-e", program, server.url];
    const { stdout, status } = spawnSync(process.execPath, words, { encoding: "utf8", timeout: 15_000 });
    expect([stdout, status]).toEqual(["done\n", 0]);
  });

  it("let the program end that forgot to close them, and refuse all that comes after the end", async () => {
    const module = JSON.stringify(new URL("../../src/postgres.ts", import.meta.url).href);
    const program = `const { postgresRuns } = await import(${module});
      const runs = postgresRuns(process.argv[1], { schema: "forgotten" });
      const journal = await runs.open("r");
      await journal.step({ key: "k", run: () => Promise.resolve(1) });
      console.log("done");`;
    const words = ["--no-warnings", "--input-type=module", "-e", program, server.url];
    const { stdout, status } = spawnSync(process.execPath, words, { encoding: "utf8", timeout: 15_000 });
    expect([stdout, status]).toEqual(["done\n", 0]);
    const runs = open("forgotten");
    const journal = await runs.open("r");
    await runs.close();
    await runs.close();
    await expect(journal.step(step("late"))).rejects.toMatchObject({ code: "postgres-failed" });
    await expect(runs.list()).rejects.toMatchObject({ code: "postgres-failed" });
  });
});

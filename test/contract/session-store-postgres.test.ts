import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { agent, session } from "../../src/index.ts";
import {
  type PostgresOptions,
  postgresRuns,
  type PostgresSessions,
  postgresSessions,
} from "../../src/postgres.ts";
import { password, postgresMissing, type PostgresServer, startPostgres } from "../postgres-server.ts";
import { endProcesses, payer, SessionProcess, writer } from "./session-process.ts";
import { sessionClaimsContract, sessionRunsContract } from "./session-runs.ts";
import { sessionStoreContract, storedRun } from "./session-store.ts";
import { silentLine } from "./silent-line.ts";

it("say that nobody is there, and refuse what nobody can mean", async () => {
  await using sessions = postgresSessions("postgresql://kim:hidden@127.0.0.1:1/agents");
  await expect(sessions.list()).rejects.toMatchObject({ code: "postgres-unreachable", retryable: true });
  const invalid = expect.objectContaining({
    code: "definition-invalid",
    message: expect.stringContaining("postgresSessions()"),
  });
  expect(() => postgresSessions("localhost:5432")).toThrow(invalid);
});

describe.skipIf(postgresMissing() !== undefined)("sessions in PostgreSQL", () => {
  let server: PostgresServer;
  let admin: pg.Client;
  let folder = "";
  let schemas = 0;
  const opened: PostgresSessions[] = [];
  beforeAll(async () => {
    server = await startPostgres();
    admin = new pg.Client(server.url);
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
    server.close();
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "writ-sessions-"));
  });
  afterEach(async () => {
    await endProcesses();
    await Promise.all(opened.splice(0).map((sessions) => sessions.close()));
    rmSync(folder, { recursive: true, force: true });
  });
  function open(schema: string, more: { readonly url?: string } & PostgresOptions = {}): PostgresSessions {
    const { url = server.url, ...options } = more;
    const sessions = postgresSessions(url, { schema, ...options });
    opened.push(sessions);
    return sessions;
  }
  function fresh(): string {
    schemas += 1;
    return `sessions "${schemas}"`;
  }
  /** A store that is empty. */
  const empty = (): PostgresSessions => open(fresh(), { connections: 2, client: { idleTimeoutMillis: 500 } });
  const process = (program: string, schema: string, ...more: readonly string[]): SessionProcess =>
    new SessionProcess(program, `${server.url}#${schema}`, ...more);
  const asRole = (role: string): string => {
    const url = new URL(server.url);
    url.username = role;
    return url.href;
  };

  sessionStoreContract("PostgreSQL", empty);
  sessionClaimsContract("PostgreSQL", empty);
  sessionRunsContract("PostgreSQL", empty);

  it("are written by two processes at once: of two changes from one version one is refused [C42]", async () => {
    const store = open(fresh());
    await store.create("s");
    const pair = [1, 2].map(() => process(writer, `sessions "${schemas}"`));
    expect(await Promise.all(pair.map((one) => one.line()))).toEqual(["ready", "ready"]);
    for (let version = 0; version < 20; version += 1) {
      const ends = await Promise.all(
        pair.map((one, index) => one.ask(`append p${index}_${version} ${version}`)),
      );
      expect(ends.toSorted()).toEqual(["session-conflict", `version ${version + 1}`]);
    }
    const { version, runs } = await store.read("s");
    expect([version, runs.length]).toEqual([20, 20]);
  });

  it("lose nothing when two processes write as fast as they can and one is killed, and are read whole meanwhile [C42]", async () => {
    const store = open(fresh());
    await store.create("s");
    const [one, other] = [1, 2].map(() => process(writer, `sessions "${schemas}"`));
    await Promise.all([one?.line(), other?.line()]);
    other?.process.stdin.write("race q 100000\n");
    const end = one?.ask("race p 40");
    for (let read = 0, own = 0; own < 40; await sleep(2)) {
      const { version, runs } = await store.read("s");
      expect(runs).toHaveLength(version);
      own = runs.filter(({ runId }) => runId.startsWith("p")).length;
      if (read < 20 && version >= 20) await other?.kill();
      read = version;
    }
    expect(await end).toMatch(/^conflicts \d+$/);
    const { version, runs } = await store.read("s");
    for (const name of ["p", "q"]) {
      const own = runs.filter(({ runId }) => runId.startsWith(name));
      expect(own.map(({ runId }) => runId)).toEqual(own.map((_each, index) => `${name}${index}`));
    }
    expect(await store.append("s", storedRun("after"), version)).toBe(version + 1);
  });

  it("are read by their last runs: a message looks at so many rows, however many there are", async () => {
    const rowsOfTen = async (count: number): Promise<number> => {
      const schema = fresh();
      const runs = Array.from({ length: count }, (_, nth) => storedRun(`run-${nth}`));
      const filling = open(schema);
      for (const id of ["s", "other"]) await filling.create(id, { runs });
      const store = open(schema, { connections: 1 });
      const talk = session(store, "s", { lastRuns: 10 });
      for (let nth = 0; nth < 10; nth += 1) {
        const loaded = await talk.load();
        await talk.check(`new-${nth}`, loaded);
        await store.append("s", storedRun(`new-${nth}`), loaded.version);
      }
      await store.close(); // its server process counts at its end
      const looked = async (): Promise<number> => {
        const { rows } = await admin.query<{ rows: number }>(
          "SELECT (seq_tup_read + idx_tup_fetch)::int AS rows FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = 'session_runs'",
          [schema],
        );
        return rows[0]?.rows ?? 0;
      };
      while ((await looked()) === 0) await sleep(20);
      return looked();
    };
    expect(await rowsOfTen(400)).toBe(100);
    expect(await rowsOfTen(1_200)).toBe(100);
  });

  it("make their tables once, whoever comes first, also beside those of runs in the same schema", async () => {
    const schema = fresh();
    const stores = Array.from({ length: 6 }, () => open(schema, { connections: 1 }));
    const runs = postgresRuns(server.url, { schema });
    onTestFinished(() => runs.close());
    await Promise.all([runs.list(), ...stores.map((store, nth) => store.create(String(nth)))]);
    expect(await stores[0]?.list()).toHaveLength(6);
    await runs.begin({ id: "r", agent: "a", input: "", options: {}, protocol: 1 });
  });

  it("need a role that may make tables once, and do with less afterwards", async () => {
    await admin.query(`CREATE ROLE weak LOGIN PASSWORD '${password}'`);
    const weak = { url: asRole("weak") };
    await expect(open("theirs", weak).list()).rejects.toMatchObject({ code: "postgres-forbidden" });
    await open("theirs").list();
    await admin.query(
      "GRANT USAGE ON SCHEMA theirs TO weak; GRANT ALL ON ALL TABLES IN SCHEMA theirs TO weak",
    );
    const store = open("theirs", weak);
    await store.create("s", { runs: [storedRun("r")] });
    await store.claims?.take("s", "a", { forMs: 1000 });
    await store.delete("s");
    await expect(open("forbidden", weak).list()).rejects.toMatchObject({ code: "postgres-forbidden" });
  });

  it.each(["repeatable read", "serializable"])(
    "let one of two changes win for a role whose transactions are %s",
    async (level) => {
      await admin.query("DROP SCHEMA IF EXISTS strict CASCADE; DROP ROLE IF EXISTS strict");
      await admin.query(
        `CREATE ROLE strict LOGIN PASSWORD '${password}'; CREATE SCHEMA strict AUTHORIZATION strict;
        ALTER ROLE strict SET default_transaction_isolation = '${level}'`,
      );
      const store = open("strict", { url: asRole("strict") });
      await store.create("s");
      for (let version = 0; version < 10; version += 1) {
        const names = ["a", "b", "c"].map((name) => storedRun(`${name}${version}`));
        const ends = await Promise.allSettled(names.map((run) => store.append("s", run, version)));
        expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
        const holders = await Promise.all(
          names.map(async ({ runId }) => store.claims?.take("s", runId, { forMs: 60_000 })),
        );
        expect(new Set(holders).size).toBe(1);
        await store.claims?.release("s", holders[0] ?? "");
      }
    },
  );

  describe("whose connection breaks", () => {
    /** A store behind a line that can lose what the server says. */
    async function behindLine(): Promise<{ readonly store: PostgresSessions; readonly lose: () => void }> {
      const line = await silentLine(Number(new URL(server.url).port));
      onTestFinished(() => line.close());
      const url = new URL(server.url);
      url.port = String(line.port);
      const store = open(fresh(), { url: url.href, connections: 1 });
      await store.list();
      return { store, lose: line.loseReply };
    }

    it("are changed once where the server's word of it was lost: nobody is told of a conflict with itself", async () => {
      const { store, lose } = await behindLine();
      lose();
      expect(await store.create("s", { runs: [storedRun("r0")] })).toMatchObject({ version: 0 });
      lose();
      expect(await store.append("s", storedRun("r1"), 0)).toBe(1);
      lose();
      expect(await store.append("s", storedRun("r1", "again"), 1)).toBe(2);
      lose();
      expect(await store.update("s", { messages: [], runs: [storedRun("r2")], summary: "short" }, 2)).toBe(3);
      expect(await store.read("s")).toMatchObject({ version: 3, runs: [storedRun("r2")], summary: "short" });
      lose();
      await store.delete("s");
      expect(await store.list()).toEqual([]);
    });

    it("are claimed and given back once where the server's word of it was lost", async () => {
      const { store, lose } = await behindLine();
      lose();
      expect(await store.claims?.take("s", "a", { forMs: 60_000 })).toBe("a");
      expect(await store.claims?.take("s", "b", { forMs: 60_000 })).toBe("a");
      lose();
      await store.claims?.release("s", "a");
      expect(await store.claims?.take("s", "b", { forMs: 60_000 })).toBe("b");
    });

    it("are kept of runs whose connections are all cut in the middle, and of a server that starts anew", async () => {
      const schema = fresh();
      const store = open(schema);
      const disturb = [
        () =>
          admin.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'writ'",
          ),
        async () => {
          await admin.end();
          server.stop("immediate");
          setTimeout(server.start, 300);
        },
      ];
      for (const [nth, during] of disturb.entries()) {
        const talker = agent({ name: "talker", model: async () => `said ${await during().then(() => nth)}` });
        expect((await talker.run("Hi", { session: session(store, "s") })).text).toBe(`said ${nth}`);
      }
      admin = new pg.Client(server.url);
      await admin.connect();
      const { version, runs } = await store.read("s");
      expect([version, runs.length]).toEqual([2, 2]);
    });
  });

  describe("and their runs in two processes", () => {
    const ledger = (): string => join(folder, "ledger");
    const paid = (): string[] => readFileSync(ledger(), "utf8").trim().split("\n");

    async function twoPayers(): Promise<readonly [SessionProcess, SessionProcess]> {
      const schema = fresh();
      const pair = [process(payer, schema, ledger(), "a"), process(payer, schema, ledger(), "b")] as const;
      expect(await Promise.all(pair.map((one) => one.line()))).toEqual(["ready", "ready"]);
      return pair;
    }

    async function begins(name: string): Promise<void> {
      while (!existsSync(ledger()) || !paid().includes(`${name} begins`)) await sleep(5);
    }

    const claims = (): string => `"${`sessions "${schemas}"`.replaceAll('"', '""')}".session_claims`;

    it("go one after another: each is told what the other paid, and both are kept [C42]", async () => {
      const [a, b] = await twoPayers();
      const first = a.ask("2000");
      await begins("a");
      expect(await b.ask("0 refuse")).toBe("session-busy");
      expect(await b.ask("0")).toBe("done | paid by a");
      expect(await first).toBe("done");
      expect(paid()).toEqual(["a begins", "a ends", "b begins", "b ends"]);
      expect((await open(`sessions "${schemas}"`).read("s")).runs).toHaveLength(2);
    });

    it("wait for one that died or stands still until its claim has run out, by the clock of the server", async () => {
      const [a, b] = await twoPayers();
      void a.ask("60000").catch(() => undefined);
      await begins("a");
      await a.kill();
      const second = b.ask("0");
      await sleep(150);
      expect(paid()).toEqual(["a begins"]);
      const left = "SELECT until - extract(epoch FROM clock_timestamp()) * 1000 AS left FROM";
      const { rows } = await admin.query<{ left: string }>(`${left} ${claims()}`);
      expect(Number(rows[0]?.left)).toBeGreaterThan(0);
      expect(Number(rows[0]?.left)).toBeLessThanOrEqual(15_000);
      await admin.query(`UPDATE ${claims()} SET until = 0`); // as if the time had passed
      expect(await second).toBe("done");
      expect(paid()).toEqual(["a begins", "b begins", "b ends"]);
    });
  });

  describe("a claim", () => {
    it("is free after its time, whatever the clock of the machine says, and its owner can have it for longer", async () => {
      const schema = fresh();
      const [one, two] = [open(schema), open(schema)];
      const { now } = Date;
      onTestFinished(() => void (Date.now = now));
      Date.now = () => now() - 3_600_000; // of a machine whose clock is wrong
      expect(await one.claims?.take("s", "a", { forMs: 60_000 })).toBe("a");
      Date.now = () => now() + 3_600_000;
      expect(await two.claims?.take("s", "b", { forMs: 60_000 })).toBe("a");
      expect(await one.claims?.take("s", "a", { forMs: 50 })).toBe("a");
      await sleep(100);
      expect(await two.claims?.take("s", "b", { forMs: 60_000 })).toBe("b");
      expect(await two.claims?.take("s", "b", { forMs: 60_000 })).toBe("b");
      expect(await one.claims?.take("s", "a", { forMs: 1 })).toBe("b");
    });

    it("passes from the owner that is named, and from nobody else", async () => {
      const schema = fresh();
      const [one, two] = [open(schema), open(schema)];
      expect(await one.claims?.take("s", "a", { forMs: 60_000 })).toBe("a");
      expect(await two.claims?.pass?.("s", ["c", ""], "b")).toBe(false);
      expect(await two.claims?.take("s", "b", { forMs: 60_000 })).toBe("a");
      expect(await two.claims?.pass?.("s", ["c", "a"], "b")).toBe(true);
      await one.claims?.release("s", "a");
      expect(await one.claims?.take("s", "a", { forMs: 60_000 })).toBe("b");
    });

    it("is taken by one of many who want it at once, and those who wait write nothing", async () => {
      const schema = fresh();
      const [one, two] = [open(schema), open(schema)];
      await two.list();
      for (let round = 0; round < 10; round += 1) {
        const owners = Array.from({ length: 8 }, (_, nth) => `owner ${round}.${nth}`);
        const holders = await Promise.all(
          owners.map(async (owner, nth) =>
            (nth % 2 === 0 ? one : two).claims?.take("s", owner, { forMs: 60_000 }),
          ),
        );
        expect(new Set(holders).size).toBe(1);
        const written = `SELECT xmin, xmax FROM "${schema.replaceAll('"', '""')}".session_claims`;
        const { rows: before } = await admin.query(written);
        await two.claims?.take("s", "late", { forMs: 60_000 });
        expect((await admin.query(written)).rows).toEqual(before);
        await one.claims?.release("s", holders[0] ?? "");
      }
    });
  });
});

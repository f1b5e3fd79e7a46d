import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sqliteMemory } from "../../../src/adapters/sqlite/sqlite-memory.ts";
import { sqliteSessions } from "../../../src/adapters/sqlite/sqlite-sessions.ts";
import { agent, session, tool } from "../../../src/index.ts";
import { memoryBank } from "../../../src/session/memory-bank.ts";
import { scripted } from "../../../src/testing.ts";
import { endProcesses, payer, SessionProcess, writer } from "../../contract/session-process.ts";
import { storedRun } from "../../contract/session-store.ts";

let folder = "";
let file = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-sqlite-"));
  file = join(folder, "writ.db");
});

afterEach(async () => {
  await endProcesses();
  rmSync(folder, { recursive: true, force: true });
});

function integrity(): unknown {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database.prepare("PRAGMA integrity_check").get()?.["integrity_check"];
  } finally {
    database.close();
  }
}

describe("SQLite files", () => {
  it("keep memory and sessions beside each other for the next process [H15, C42, K8.7]", async () => {
    const memory = sqliteMemory(file);
    const sessions = sqliteSessions(file);
    await memoryBank({ store: memory, maxLines: 2 }).write("a", "1\n2\n3");
    await sessions.create("s", { summary: "before" });
    await sessions.append("s", storedRun("r"), 0);
    memory.close();
    sessions.close();
    const again = { memory: sqliteMemory(file), sessions: sqliteSessions(file) };
    expect(await again.memory.read("a")).toBe("2\n3");
    expect(await again.sessions.read("s")).toEqual({
      id: "s",
      version: 1,
      messages: [],
      runs: [storedRun("r")],
      summary: "before",
    });
    again.memory.close();
    again.sessions.close();
  });

  it("are written by two processes at once: of two changes from one version one is refused [C42]", async () => {
    const store = sqliteSessions(file);
    await store.create("s");
    const pair = [new SessionProcess(writer, file), new SessionProcess(writer, file)];
    expect(await Promise.all(pair.map((one) => one.line()))).toEqual(["ready", "ready"]);
    for (let version = 0; version < 20; version += 1) {
      const ends = await Promise.all(
        pair.map((one, index) => one.ask(`append p${index}_${version} ${version}`)),
      );
      expect(ends.toSorted()).toEqual(["session-conflict", `version ${version + 1}`]);
    }
    const { version, runs } = await store.read("s");
    expect([version, runs.length]).toEqual([20, 20]);
    store.close();
  });

  it("lose nothing when two processes write as fast as they can, and are read whole meanwhile [C42]", async () => {
    const store = sqliteSessions(file);
    await store.create("s");
    const pair = [new SessionProcess(writer, file), new SessionProcess(writer, file)];
    await Promise.all(pair.map((one) => one.line()));
    const ends = Promise.all(pair.map((one, index) => one.ask(`race p${index}_ 40`)));
    for (let read = 0; read < 80;) {
      const { version, runs } = await store.read("s");
      expect(runs).toHaveLength(version);
      read = version;
      await sleep(2);
    }
    expect((await ends).every((end) => /^conflicts \d+$/.test(end))).toBe(true);
    const { version, runs } = await store.read("s");
    const expected = ["p0_", "p1_"].flatMap((name) =>
      Array.from({ length: 40 }, (_each, index) => `${name}${index}`),
    );
    expect(version).toBe(80);
    expect(runs.map(({ runId }) => runId).toSorted()).toEqual(expected.toSorted());
    store.close();
    expect(integrity()).toBe("ok");
  });

  it("are whole after a process was killed while it wrote", async () => {
    const store = sqliteSessions(file);
    await store.create("s");
    const killed = new SessionProcess(writer, file);
    await killed.line();
    killed.process.stdin.write("race p 100000\n");
    while ((await store.read("s")).version < 5) await sleep(2);
    await killed.kill();
    const { version, runs } = await store.read("s");
    expect(runs.map(({ runId }) => runId)).toEqual(
      Array.from({ length: version }, (_each, index) => `p${index}`),
    );
    expect(await store.append("s", storedRun("after"), version)).toBe(version + 1);
    store.close();
    expect(integrity()).toBe("ok");
  });

  it("can be made by several processes at the same moment", async () => {
    const four = [
      new SessionProcess(writer, file),
      new SessionProcess(writer, file),
      new SessionProcess(writer, file),
      new SessionProcess(writer, file),
    ];
    expect(await Promise.all(four.map((one) => one.line()))).toEqual(["ready", "ready", "ready", "ready"]);
  });

  it("that cannot be used are told with their path and what to do", () => {
    writeFileSync(file, "this is no database, however long it is. ".repeat(100));
    const cases = [file, join(folder, "no", "folder.db"), folder, ""];
    for (const path of cases) {
      const failed = expect.objectContaining({
        code: "database-failed",
        data: expect.objectContaining({ path }),
      });
      expect(() => sqliteMemory(path)).toThrow(failed);
      expect(() => sqliteSessions(path)).toThrow(failed);
    }
    expect(() => sqliteMemory("")).toThrow("there is no path");
    const foreign = join(folder, "foreign.db");
    const database = new DatabaseSync(foreign);
    database.exec("CREATE TABLE writ_memory (other TEXT)");
    database.close();
    expect(() => sqliteMemory(foreign)).toThrow(expect.objectContaining({ code: "database-failed" }));
  });

  it("that were closed fail with a clear error; closing twice is no mistake", async () => {
    const memory = sqliteMemory(file);
    memory.close();
    memory.close();
    memory[Symbol.dispose]();
    const failed = { code: "database-failed", retryable: false, data: { path: file } };
    await expect(memory.read("a")).rejects.toMatchObject(failed);
    await expect(memory.write("a", "x")).rejects.toMatchObject(failed);
    await expect(memory.slots()).rejects.toMatchObject(failed);
  });

  it("that another process keeps locked are worth another try", { timeout: 30_000 }, async () => {
    const memory = sqliteMemory(file);
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    await expect(memory.write("a", "x")).rejects.toMatchObject({ code: "database-failed", retryable: true });
    expect(await memory.read("a")).toBe("");
    other.exec("COMMIT");
    other.close();
    await memory.write("a", "x");
    expect(await memory.read("a")).toBe("x");
    memory.close();
  });
});

describe("runs of one session in two processes", () => {
  const ledger = (): string => join(folder, "ledger");
  const paid = (): string[] => readFileSync(ledger(), "utf8").trim().split("\n");

  async function twoPayers(): Promise<readonly [SessionProcess, SessionProcess]> {
    const pair = [
      new SessionProcess(payer, file, ledger(), "a"),
      new SessionProcess(payer, file, ledger(), "b"),
    ] as const;
    expect(await Promise.all(pair.map((one) => one.line()))).toEqual(["ready", "ready"]);
    return pair;
  }

  async function begins(name: string): Promise<void> {
    while (!existsSync(ledger()) || !paid().includes(`${name} begins`)) await sleep(5);
  }

  it("go one after another: each is told what the other paid, and both are kept [C42]", async () => {
    const [a, b] = await twoPayers();
    const first = a.ask("300");
    await begins("a");
    expect(await b.ask("0 refuse")).toBe("session-busy");
    expect(await b.ask("0")).toBe("done | paid by a");
    expect(await first).toBe("done");
    expect(paid()).toEqual(["a begins", "a ends", "b begins", "b ends"]);
    const store = sqliteSessions(file);
    expect((await store.read("s")).runs).toHaveLength(2);
    store.close();
  });

  it("do not wait for a process that died", async () => {
    const [a, b] = await twoPayers();
    void a.ask("60000").catch(() => undefined);
    await begins("a");
    await a.kill();
    setClaim(Date.now() + 600_000); // not because it has run out
    expect(await b.ask("0")).toBe("done");
    expect(paid()).toEqual(["a begins", "b begins", "b ends"]);
  });

  it("wait for one that stands still, until its claim has run out", async () => {
    const [a, b] = await twoPayers();
    void a.ask("60000").catch(() => undefined);
    await begins("a");
    a.process.kill("SIGSTOP");
    const second = b.ask("0");
    await sleep(150);
    expect(paid()).toEqual(["a begins"]);
    expect(claimedUntil() - Date.now()).toBeLessThanOrEqual(15_000);
    setClaim(0); // as if the time had passed
    expect(await second).toBe("done");
    expect(paid()).toEqual(["a begins", "b begins", "b ends"]);
    a.process.kill("SIGKILL");
  });

  function setClaim(until: number): void {
    const database = new DatabaseSync(file, { timeout: 5_000 });
    database.prepare("UPDATE writ_session_claims SET until = ?").run(until);
    database.close();
  }

  function claimedUntil(): number {
    const database = new DatabaseSync(file, { timeout: 5_000 });
    const { until } = database.prepare("SELECT until FROM writ_session_claims").get() ?? {};
    database.close();
    return Number(until);
  }
});

describe("a claim of a SQLite store", () => {
  it("is free after its time, and its owner can have it for longer", async () => {
    const [one, two] = [sqliteSessions(file), sqliteSessions(file)];
    expect(await one.claims?.take("s", "a", { forMs: 1 })).toBe("a");
    await sleep(5);
    expect(await two.claims?.take("s", "b", { forMs: 1 })).toBe("b");
    expect(await two.claims?.take("s", "b", { forMs: 60_000 })).toBe("b");
    await sleep(5);
    expect(await one.claims?.take("s", "a", { forMs: 1 })).toBe("b");
    one.close();
    two.close();
  });

  it("of another machine, or of an earlier version, is free after its time alone", async () => {
    const stores = [sqliteSessions(file), sqliteSessions(file)] as const;
    for (const process of ['{"host":"elsewhere","pid":1,"started":""}', null]) {
      expect(await stores[0].claims?.take("s", "a", { forMs: 60_000 })).toBe("a");
      const database = new DatabaseSync(file);
      database.prepare("UPDATE writ_session_claims SET process = ?").run(process);
      database.close();
      expect(await stores[1].claims?.take("s", "b", { forMs: 1 })).toBe("a");
      await stores[0].claims?.release("s", "a");
    }
    for (const store of stores) store.close();
  });

  it("is kept in the table of an earlier version too", async () => {
    const earlier = new DatabaseSync(file);
    earlier.exec(
      "CREATE TABLE writ_session_claims (id TEXT PRIMARY KEY, owner TEXT NOT NULL, until INTEGER NOT NULL) STRICT",
    );
    earlier.close();
    const store = sqliteSessions(file);
    expect(await store.claims?.take("s", "a", { forMs: 60_000 })).toBe("a");
    expect(await store.claims?.take("s", "b", { forMs: 60_000 })).toBe("a");
    store.close();
  });

  it("lets runs of two stores with one file in one process meet, also one inside the other", async () => {
    const [one, two] = [sqliteSessions(file), sqliteSessions(file)];
    const inner = agent({ name: "inner", model: () => "yes" });
    let refused: unknown;
    const ask = tool({
      name: "ask",
      description: "",
      inputSchema: { type: "object", properties: {} },
      execute: () => inner.run("Hi", { session: session(two, "s") }).catch((error) => void (refused = error)),
    });
    const model = scripted([{ calls: [{ name: "ask", arguments: {} }] }, "done"]);
    const outer = agent({ name: "outer", model, tools: [ask] });
    expect((await outer.run("Ask", { session: session(one, "s") })).text).toBe("done");
    expect(refused).toMatchObject({ code: "session-inside" });
    expect((await inner.run("Hi", { session: session(two, "s") })).text).toBe("yes");
    one.close();
    two.close();
  });
});

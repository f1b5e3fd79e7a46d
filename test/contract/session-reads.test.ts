import { DatabaseSync } from "node:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { agent, inMemorySessions, session, tool } from "../../src/index.ts";
import { type SessionOptions, type SessionStore } from "../../src/session.ts";
import { sqliteSessions } from "../../src/sqlite.ts";
import { scripted } from "../../src/testing.ts";
import { storedRun } from "./session-store.ts";

/** The characters of the records that the store gives for one message. */
async function readFor(store: SessionStore, options: SessionOptions): Promise<number> {
  let read = 0;
  let paid = false;
  const counted: SessionStore = {
    ...store,
    async read(...given) {
      const record = await store.read(...given);
      read += JSON.stringify(record.runs).length;
      return record;
    },
  };
  const pay = tool({
    name: "pay",
    description: "Pays",
    effect: "write", // so that the run compares its session before it
    inputSchema: { type: "object", properties: {} },
    execute: () => ((paid = true), "paid"),
  });
  const model = scripted([{ calls: [{ name: "pay", arguments: {} }] }, "Paid."]);
  const payer = agent({ name: "payer", model, tools: [pay] });
  const { outcome } = await payer.run("Pay", {
    session: session(counted, "s", options),
    approve: () => true,
  });
  expect(outcome).toMatchObject({ type: "answered", content: "Paid." });
  expect(paid).toBe(true);
  return read;
}

/** A session with so many runs. */
async function filled(store: SessionStore, count: number): Promise<SessionStore> {
  const runs = Array.from({ length: count }, (_, nth) => storedRun(`run-${1_000 + nth}`));
  await store.create("s", { runs });
  return store;
}

function file(): string {
  const folder = mkdtempSync(join(tmpdir(), "writ-reads-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "sessions.db");
}

describe.each<[string, () => SessionStore]>([
  ["in memory", inMemorySessions],
  ["in SQLite", () => sqliteSessions(":memory:")],
])("a message of a session %s", (_where, open) => {
  it("reads as much of a long session as of a short one, where its last runs are sent", async () => {
    const [short, long] = [await filled(open(), 10), await filled(open(), 500)];
    const read = await readFor(short, { lastRuns: 10 });
    expect(read).toBeGreaterThan(0);
    expect(await readFor(long, { lastRuns: 10 })).toBe(read);
  });

  it("reads the session once, where all of it is sent: what compares its version reads no runs", async () => {
    const store = await filled(open(), 50);
    const { runs } = await store.read("s");
    expect(await readFor(store, {})).toBe(JSON.stringify(runs).length + "[]".length);
  });
});

describe("the statements of sessions in SQLite", () => {
  it("find runs by an index: none looks at the other runs of a session", async () => {
    const preparing = vi.spyOn(DatabaseSync.prototype, "prepare");
    onTestFinished(() => preparing.mockRestore());
    const path = file();
    const store = sqliteSessions(path);
    onTestFinished(() => store.close());
    const statements = preparing.mock.calls.map(([sql]) => sql).filter((sql) => /AND run = \?/.test(sql));
    expect(statements).toHaveLength(2);
    using database = new DatabaseSync(path);
    for (const sql of statements) {
      const plan = database
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map((row) => String(row["detail"]));
      expect(plan[0]).toMatch(/^SEARCH writ_session_runs USING .*INDEX .*\(session=\? AND run=\?\)/);
    }
  });

  it("find them so in a file of an earlier version too, which goes on with it afterwards", async () => {
    const path = file();
    const before = await filled(sqliteSessions(path), 20);
    (before as { close?: () => void }).close?.();
    using earlier = new DatabaseSync(path);
    earlier.exec("DROP INDEX writ_session_runs_run");
    using store = sqliteSessions(path);
    expect((await store.read("s", { runId: "run-1003" })).runs).toEqual([storedRun("run-1003")]);
    const indexes = earlier.prepare("SELECT name FROM sqlite_schema WHERE name = ?");
    expect(indexes.get("writ_session_runs_run")).toBeDefined();
    earlier.exec(`INSERT INTO writ_session_runs SELECT session, number + 20, 'b' || run, json FROM writ_session_runs;
      UPDATE writ_sessions SET version = version + 1`);
    const { version, runs } = await store.read("s", { lastRuns: 21 });
    expect([version, runs.length, runs[0]?.runId]).toEqual([1, 21, "run-1019"]);
  });
});

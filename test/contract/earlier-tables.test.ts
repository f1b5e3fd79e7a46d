import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import type { RunStore } from "../../src/durable.ts";
import { agent } from "../../src/index.ts";
import { postgresRuns, postgresSessions } from "../../src/postgres.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { fakeTool } from "../../src/testing.ts";
import { password, postgresMissing, startPostgres } from "../postgres-server.ts";
import { storedRun } from "./session-store.ts";

const payer = agent({
  name: "payer",
  model: ({ messages }) =>
    messages.some(({ role }) => role === "tool") ? "Paid." : { calls: [{ name: "pay", arguments: {} }] },
  tools: [fakeTool("pay", "paid")],
  policy: () => ({ verdict: "ask", rule: "money", reason: "money leaves" }),
});

/** Carries out a run until it waits, or ends. */
async function goOn(store: RunStore): Promise<string> {
  await using journal = await store.open("r");
  const { outcome } = await payer.run("Pay", { journal, runId: "r" });
  if (outcome.type === "suspended") await journal.wait();
  return outcome.type;
}

/** Answers the question that an earlier version kept, and goes on. */
async function answered(store: RunStore): Promise<string> {
  const [question] = await store.questions("r");
  if (question === undefined) throw new Error("the question is lost");
  await store.answer("r", question.key, { approved: true, hash: question.request.hash });
  return goOn(store);
}

const later = ["until", "last", "people"];

describe("tables of an earlier version", () => {
  it("in a SQLite file get the columns of this one, and lose nothing", async () => {
    const folder = mkdtempSync(join(tmpdir(), "writ-earlier-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, "runs.db");
    const before = sqliteRuns(path);
    expect(await goOn(before)).toBe("suspended");
    before.close();
    const database = new DatabaseSync(path);
    database.exec("DROP INDEX writ_questions_until");
    for (const column of later) database.exec(`ALTER TABLE writ_questions DROP COLUMN ${column}`);
    database.close();
    const stores = [sqliteRuns(path), sqliteRuns(path)];
    onTestFinished(() => stores.forEach((store) => store.close()));
    const [store] = stores;
    expect(store && (await answered(store))).toBe("answered");
  });

  it.skipIf(postgresMissing() !== undefined)(
    "in PostgreSQL get the columns of this one, and lose nothing",
    async () => {
      const server = await startPostgres();
      onTestFinished(() => server.close());
      const before = postgresRuns(server.url);
      expect(await goOn(before)).toBe("suspended");
      await before.close();
      const admin = new pg.Client(server.url);
      await admin.connect();
      for (const column of later) await admin.query(`ALTER TABLE writ.questions DROP COLUMN ${column}`);
      await admin.query("DROP INDEX writ.runs_of_agent");
      const stores = [postgresRuns(server.url), postgresRuns(server.url)];
      onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))));
      await Promise.all(stores.map((store) => store.list()));
      const [store] = stores;
      expect(store && (await answered(store))).toBe("answered");
      await admin.query("DROP INDEX writ.runs_of_agent"); // it is there
      await admin.end();
    },
  );

  it.skipIf(postgresMissing() !== undefined)(
    "of sessions in PostgreSQL get the index of this one, and do without it for a role that does not own them",
    async () => {
      const server = await startPostgres();
      onTestFinished(() => server.close());
      const before = postgresSessions(server.url);
      await before.create("s", { runs: [storedRun("r1"), storedRun("r2")] });
      await before.close();
      const admin = new pg.Client(server.url);
      await admin.connect();
      onTestFinished(() => admin.end());
      await admin.query(`DROP INDEX writ.session_runs_run; CREATE ROLE weak LOGIN PASSWORD '${password}';
        GRANT USAGE ON SCHEMA writ TO weak; GRANT ALL ON ALL TABLES IN SCHEMA writ TO weak`);
      await using weak = postgresSessions(server.url.replace("writ:", "weak:"));
      expect((await weak.read("s", { runId: "r1" })).runs).toEqual([storedRun("r1")]);
      expect(await weak.append("s", storedRun("r1", "again"), 0)).toBe(1);
      await using owner = postgresSessions(server.url);
      expect((await owner.read("s", { lastRuns: 1 })).runs).toEqual([storedRun("r1", "again")]);
      await admin.query("DROP INDEX writ.session_runs_run"); // it is there
    },
  );

  it.skipIf(postgresMissing() !== undefined)(
    "in PostgreSQL do without the index of this one for a role that does not own them",
    async () => {
      const server = await startPostgres();
      onTestFinished(() => server.close());
      const before = postgresRuns(server.url);
      expect(await goOn(before)).toBe("suspended");
      await before.close();
      const admin = new pg.Client(server.url);
      await admin.connect();
      await admin.query(`DROP INDEX writ.runs_of_agent; CREATE ROLE weak LOGIN PASSWORD '${password}';
        GRANT USAGE ON SCHEMA writ TO weak; GRANT ALL ON ALL TABLES IN SCHEMA writ TO weak`);
      await admin.end();
      const url = server.url.replace("writ:", "weak:");
      await using reader = postgresRuns(url, { client: { options: "-c default_transaction_read_only=on" } });
      expect(await reader.list()).toHaveLength(1);
      await using store = postgresRuns(url);
      expect(await answered(store)).toBe("answered");
    },
  );
});

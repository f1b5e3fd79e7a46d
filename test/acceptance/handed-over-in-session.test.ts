import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { durableRuns } from "../../src/durable.ts";
import { agent, memoryJournal, session } from "../../src/index.ts";
import { postgresRuns, postgresSessions } from "../../src/postgres.ts";
import { sqliteRuns, sqliteSessions } from "../../src/sqlite.ts";
import type { SessionClaims } from "../../src/session.ts";
import { fakeTool } from "../../src/testing.ts";
import { postgresMissing, type PostgresServer, startPostgres } from "../postgres-server.ts";

const folder = mkdtempSync(join(tmpdir(), "writ-handed-over-"));
let server: PostgresServer | undefined;
beforeAll(async () => {
  if (postgresMissing() === undefined) server = await startPostgres();
});
afterAll(() => {
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

const openings = {
  "a SQLite file": () => {
    const file = join(folder, "runs.db");
    return { store: sqliteRuns(file), kept: sqliteSessions(file) };
  },
  PostgreSQL: () => ({ store: postgresRuns(server?.url), kept: postgresSessions(server?.url) }),
};

describe.each(Object.entries(openings))("a run that is handed over in its session, in %s", (where, open) => {
  it("goes on in another process before a later run of the session that waits there", async ({ skip }) => {
    skip(where === "PostgreSQL" && server === undefined, "PostgreSQL is not here");
    const looking = Promise.withResolvers<void>();
    const mayLook = Promise.withResolvers<void>();
    const look = fakeTool(
      "look",
      async () => {
        looking.resolve();
        await mayLook.promise;
        return "open";
      },
      { effect: "read" },
    );
    const pay = fakeTool("pay", "paid", { effect: "irreversible" });
    const payer = agent({
      name: "payer",
      model: ({ messages }) => {
        const asked = messages.findLast(({ role }) => role === "user");
        if (JSON.stringify(asked).includes("Hi")) return "Hi.";
        const results = messages.filter(({ role }) => role === "tool").length;
        return results === 2 ? "It is paid." : { calls: [{ name: results === 0 ? "look" : "pay" }] };
      },
      tools: [look, pay],
      policy: () => ({ verdict: "allow", rule: "free", reason: "" }),
    });
    const begin = () => {
      const { store, kept } = open();
      onTestFinished(async () => {
        await Promise.all([store.close(), kept.close()]);
      });
      return { kept, runs: durableRuns({ store, agents: [payer], sessions: (id) => session(kept, id) }) };
    };
    const [one, two] = [begin(), begin()];
    const before = one.runs.work();
    await one.runs.start(payer, "Pay", { id: "first", session: "kim" });
    await looking.promise;
    const later = payer.run("Hi", { session: session(two.kept, "kim") });
    await sleep(200);
    const drained = before.drain();
    mayLook.resolve();
    await drained;
    await sleep(200); // nobody has the run for a moment
    await using _after = two.runs.work();
    expect((await two.runs.result("first")).outcome).toMatchObject({ content: "It is paid." });
    await later;
    expect((await two.kept.read("kim")).runs[0]?.runId).toBe("first");
  });
});

it("a run has its session at once though a process died in the moment in which it took it over", async () => {
  const kept = sqliteSessions(join(folder, "taken.db"));
  onTestFinished(() => kept.close());
  const looking = Promise.withResolvers<void>();
  const never = new Promise<string>(() => undefined);
  const [hanging, seeing] = [() => (looking.resolve(), never), () => "open"].map((look) =>
    agent({
      name: "looker",
      model: ({ messages }) => (messages.at(-1)?.role === "tool" ? "Open." : { calls: [{ name: "look" }] }),
      tools: [fakeTool("look", look, { effect: "read" })],
    }),
  );
  const first = memoryJournal();
  hanging?.run("Look", { journal: first, runId: "r", session: session(kept, "kim") }).catch(() => undefined); // its tool is over when the file is closed
  await looking.promise; // this process dies

  const passed = Promise.withResolvers<void>();
  const { claims } = kept;
  const pass: SessionClaims["pass"] = async (...given) => {
    await claims?.pass?.(...given);
    passed.resolve();
    return new Promise(() => undefined); // this one too
  };
  const second = memoryJournal(first.records);
  const dying = session({ ...kept, ...(claims && { claims: { ...claims, pass } }) }, "kim");
  void seeing?.run("Look", { journal: second, runId: "r", session: dying });
  await passed.promise;

  const third = memoryJournal(second.records);
  const result = seeing?.run("Look", { journal: third, runId: "r", session: session(kept, "kim") });
  expect(await Promise.race([result, sleep(5000)])).toMatchObject({ text: "Open." });
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { durableRuns } from "../../src/durable.ts";
import { agent, session } from "../../src/index.ts";
import { postgresRuns, postgresSessions } from "../../src/postgres.ts";
import { sqliteRuns, sqliteSessions } from "../../src/sqlite.ts";
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

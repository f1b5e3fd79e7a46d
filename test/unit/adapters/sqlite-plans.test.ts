import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { protocol } from "../../../src/durable/protocol.ts";
import type { RunFilter } from "../../../src/durable.ts";
import { sqliteRuns, type SqliteRuns } from "../../../src/sqlite.ts";

const folder = mkdtempSync(join(tmpdir(), "writ-plans-"));
const path = join(folder, "runs.db");
let store: SqliteRuns;
beforeAll(async () => {
  store = sqliteRuns(path);
  await store.begin({ id: "r", agent: "a", input: "", options: {}, protocol });
});
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The plans of the statements that read rows of a table, as they are asked while something is done. */
async function plansOf(
  table: string,
  work: () => Promise<unknown>,
  how: "all" | "get" = "all",
): Promise<readonly string[]> {
  const probe = new DatabaseSync(path);
  const { [how]: own } = Object.getPrototypeOf(probe.prepare("SELECT 1")) as {
    all: () => unknown;
    get: () => unknown;
  };
  const asked = new Set<string>();
  const spy = vi
    .spyOn(
      Object.getPrototypeOf(probe.prepare("SELECT 1")) as { all: () => unknown; get: () => unknown },
      how,
    )
    .mockImplementation(function (this: { sourceSQL: string }, ...given: unknown[]) {
      asked.add(this.sourceSQL);
      return Reflect.apply(own, this, given);
    });
  await work();
  spy.mockRestore();
  const plans = [...asked].flatMap((sql) => probe.prepare(`EXPLAIN QUERY PLAN ${sql}`).all());
  probe.close();
  return plans.map(({ detail }) => String(detail)).filter((detail) => detail.includes(table));
}

describe("a SQLite file finds by an index", () => {
  it.each<[filter: RunFilter, plan: string]>([
    [{ session: "s" }, "writ_runs_session (session=?)"],
    [{ session: "s", status: "failed", agent: "a", prefix: "s/" }, "writ_runs_session (session=?)"],
    [{ session: "s", status: "waiting", agent: "a", prefix: "s/" }, "writ_runs_open (session=?)"],
    [{ session: "s", status: "ready", before: "r" }, "writ_runs_open (session=? AND place<?)"],
    [{ session: "s", before: "r" }, "writ_runs_session (session=? AND place<?)"],
    [{ status: "ready", agent: "a" }, "writ_runs_status (status=?)"],
    [{ status: "ready", before: "r" }, "writ_runs_status (status=? AND place<?)"],
    [{ before: "r", prefix: "r" }, "INTEGER PRIMARY KEY (rowid<?)"],
  ])("the runs of %o", async (filter, plan) => {
    const plans = await plansOf("writ_runs", () => store.list(filter));
    const listed = plans.find((each) => !each.includes("writ_runs_owner")); // which looks for runs whose process died
    expect(listed).toMatch(/^SEARCH writ_runs USING /);
    expect(listed).toContain(plan);
  });

  it("the next ready run of a worker's agents, without those of others", async () => {
    const plans = await plansOf("writ_runs", () => store.claim(["b", "c"]), "get");
    expect(plans).toContain("SEARCH writ_runs USING INDEX writ_runs_ready (agent=?)");
    expect(plans.join("\n")).not.toContain("writ_runs_status");
  });

  it("the agent of a question's run, and whether that was moved away", async () => {
    const plans = await plansOf("writ_runs", () => store.questions("r"));
    const byId = expect.stringMatching(/^SEARCH writ_runs USING INDEX .*\(id=\?\)$/);
    expect(plans).toEqual([byId, byId]);
  });

  it("the questions of a run", async () => {
    const id = "r";
    for (const ask of [
      () => store.questions(id),
      () => store.signal(id, { name: "paid", value: 1, id: "1" }),
    ]) {
      const [asked] = await plansOf("asked", ask);
      expect(asked).toMatch(/^SEARCH asked USING INDEX .*\(run=\?\)/);
    }
  });
});

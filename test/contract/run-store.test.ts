import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sqliteRuns } from "../../src/sqlite.ts";
import { killInMemory, killRun } from "../../tools/kill/kill-runs.ts";
import { runMovesContract } from "./run-moves.ts";
import { runStoreContract } from "./run-store.ts";
import { memoryUnderTest } from "./run-store-memory.ts";
import { sqliteUnderTest } from "./run-store-sqlite.ts";

runStoreContract("SQLite", sqliteUnderTest);
runStoreContract("memory", memoryUnderTest);
runMovesContract("SQLite", sqliteUnderTest);
runMovesContract("memory", memoryUnderTest);

describe("runs in a SQLite file", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "writ-runs-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("name the process that has one", async () => {
    using runs = sqliteRuns(":memory:");
    await runs.open("r");
    await expect(runs.open("r")).rejects.toMatchObject({
      code: "run-claimed",
      data: { id: "r", owner: `process ${process.pid}` },
    });
  });

  it("are left to a process of another machine, of which nothing is known", async () => {
    const path = join(folder, "runs.db");
    using runs = sqliteRuns(path);
    await runs.begin({ id: "r", agent: "a", input: "", options: {}, protocol: 1 });
    await runs.open("r");
    using file = new DatabaseSync(path);
    const owner = JSON.stringify({ host: "far.example", pid: 7, started: "" });
    file.prepare("UPDATE writ_runs SET owner = ?").run(owner);
    await expect(runs.open("r")).rejects.toThrow(/process 7 on the machine "far.example"/);
    expect(await runs.claim(["a"])).toBeUndefined();
    await runs.moveIn(await runs.moveOut("r")); // who knows that it is gone frees its run so
    expect((await runs.claim(["a"]))?.run.id).toBe("r");
  });

  it("are watched no more once their file is closed", async () => {
    const runs = sqliteRuns(join(folder, "runs.db"));
    runs.watch(() => undefined);
    runs.close();
    await new Promise((resolve) => void setTimeout(resolve, 120)); // a look at a closed file would throw where nobody can catch it
    expect(() => runs.watch(() => undefined)()).not.toThrow();
  });

  it("are erased with their session by statements whose number does not grow", async () => {
    using runs = sqliteRuns(":memory:");
    for (const id of ["a", "b", "c", "d", "e"])
      await runs.begin({ id, agent: "a", session: "s", input: "", options: {}, protocol: 1 });
    const run = vi.spyOn(StatementSync.prototype, "run");
    expect(await runs.erase({ session: "s" })).toBe(5);
    expect(run.mock.calls.length).toBe(3);
    run.mockRestore();
    expect(await runs.list()).toEqual([]);
    expect(await runs.erase({ id: "a" })).toBe(0);
  });

  it("say what is wrong with a file", () => {
    expect(() => sqliteRuns(join(folder, "no", "folder.db"))).toThrow(
      expect.objectContaining({ code: "database-failed" }),
    );
  });
});

describe("a run that is killed again and again", () => {
  it("in memory, at each point of its journal: loses nothing, and does nothing again that is recorded", async () => {
    const points = ["in", "out", "kept"].flatMap((place) =>
      Array.from({ length: 11 }, (_, nth) => [`${place}:${1 + 5 * nth}`, `${place}:${2 + nth}`]),
    );
    const runs = await Promise.all(points.map(killInMemory));
    expect(runs.flatMap(({ complaints }) => complaints)).toEqual([]);
    expect(runs.reduce((sum, { kills }) => sum + kills, 0)).toBeGreaterThan(50);
  });

  it.each([
    { name: "when a payment is about to begin, and when it has ended", points: ["in:6", "out:3"] },
    { name: "in an agent inside", points: ["out:9", "in:4", "kept:2"] },
    { name: "at the very beginning and late", points: ["in:1", "kept:1", "out:14"] },
    { name: "while payments wait for answers", points: ["kept:3", "in:4", "out:2"], waits: true },
    { name: "in a process after some that waited", points: ["in:20", "kept:20"], waits: true },
  ])("$name: loses nothing, and pays nothing twice", async ({ points, waits }) => {
    const { complaints, kills } = await killRun(points, { waits });
    expect(complaints).toEqual([]);
    expect(kills).toBeGreaterThanOrEqual(2);
  }); // many processes, one after the other
});

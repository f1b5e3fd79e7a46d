import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { sqliteRuns } from "../../src/sqlite.ts";

it("the run of a process that died does not wait behind all those of a SQLite file that are ready", async () => {
  const folder = mkdtempSync(join(tmpdir(), "writ-backlog-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "runs.db");
  using store = sqliteRuns(path);
  const begin = (id: string) => store.begin({ id, agent: "a", input: null, options: {}, protocol: 1 });
  await begin("first");
  const [program, module] = ["run-store-process.ts", "run-store-sqlite.ts"].map((name) =>
    join(import.meta.dirname, "../contract", name),
  );
  const child = fork(program ?? "", [module ?? "", path, "first", "hold"], { stdio: "pipe" });
  await new Promise((resolve) => void child.stdout?.once("data", resolve));
  for (let id = 1; id <= 100; id += 1) await begin(String(id));
  expect((await store.claim(["a"]))?.run.id).toBe("1");
  const dead = new Promise((resolve) => void child.once("exit", resolve));
  child.kill("SIGKILL");
  await dead;
  const taken: unknown[] = [];
  for (let left = 50; left > 0 && taken.at(-1) !== "first"; left -= 1) {
    await sleep(20);
    taken.push((await store.claim(["a"]))?.run.id);
  }
  expect(taken.at(-1)).toBe("first");
});

import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { type Dispatcher, durableRuns, memoryRuns, type Workplace } from "../../src/durable.ts";
import { agent } from "../../src/index.ts";
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

it("a dispatcher is told of all runs that are ready, however many there are, also of those that it knows nothing of", async () => {
  let here: Workplace | undefined;
  const dispatcher: Dispatcher = {
    wake: () => Promise.resolve(), // who started them died before it could tell
    serve(place) {
      here = place;
      return { look: () => undefined, leave: () => Promise.resolve() };
    },
  };
  const clerk = agent({ name: "clerk", model: () => "done" });
  const runs = durableRuns({ store: memoryRuns(), dispatcher, agents: [clerk] });
  for (let id = 0; id < 250; id += 1) await runs.start(clerk, "Go", { id: String(id) });
  await using _worker = runs.work();
  const told = new Set<string>();
  for (let sweep = 0; sweep < 3; sweep += 1) for (const { id } of (await here?.ready()) ?? []) told.add(id);
  expect(told.size).toBe(250);
  expect((await here?.ready())?.[0]?.id).toBe("249"); // and again
});

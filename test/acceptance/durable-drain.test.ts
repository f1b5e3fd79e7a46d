import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { type Dispatcher, durableRuns, memoryRuns } from "../../src/durable.ts";
import { agent, tool } from "../../src/index.ts";
import { serve } from "../../src/server.ts";
import { sqliteRuns } from "../../src/sqlite.ts";

/** A run with one payment, which may not happen twice, and the times that it was paid. */
function payment(paying: (file: string) => Promise<void>) {
  const folder = mkdtempSync(join(tmpdir(), "writ-drain-"));
  const file = join(folder, "runs.db");
  const store = sqliteRuns(file);
  onTestFinished(() => {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  let paid = 0;
  const pay = tool({
    name: "pay",
    description: "",
    effect: "irreversible",
    inputSchema: { type: "object" },
    async execute() {
      paid += 1;
      await paying(file);
      return "paid";
    },
  });
  const payer = agent({
    name: "payer",
    model: ({ messages }) => {
      const result = messages.find(({ role }) => role === "tool");
      return result === undefined ? { calls: [{ name: "pay" }] } : JSON.stringify(result);
    },
    tools: [pay],
    policy: () => ({ verdict: "allow", rule: "free", reason: "" }),
  });
  return { runs: durableRuns({ store, agents: [payer] }), payer, paid: () => paid };
}

/** The process does nothing for a while, as on a machine that sleeps. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

it("The time of a drain in which the process stood still does not count: a payment at work then has its result", async () => {
  const begun = Promise.withResolvers<void>();
  const { runs, payer, paid } = payment(async () => {
    begun.resolve();
    await sleep(50);
  });
  await runs.start(payer, "Pay", { id: "r" });
  const worker = runs.work();
  await begun.promise;
  const drained = worker.drain({ graceMs: 500 });
  standStill(1000);
  await drained;
  expect(worker.runs).toEqual([]);

  const next = runs.work();
  expect((await runs.result("r")).output).toContain('"status":"ok"');
  expect(paid()).toBe(1);
  await next.drain();
});

const locking = `
  const { DatabaseSync } = require("node:sqlite");
  const database = new DatabaseSync(process.argv[1], { timeout: 5000 });
  database.exec("BEGIN IMMEDIATE");
  process.stdout.write("locked");
  setTimeout(() => database.exec("COMMIT"), 7000);`;

it("A payment has its result when another program had the file locked for longer than SQLite waits", async () => {
  let other: ChildProcess | undefined;
  const { runs, payer, paid } = payment(async (file) => {
    other = spawn(process.execPath, ["--no-warnings", "-e", locking, file], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(other.stdout ?? other, "data");
  });
  onTestFinished(() => void other?.kill());
  await runs.start(payer, "Pay", { id: "r" });
  const worker = runs.work();
  onTestFinished(() => worker.drain());
  expect((await runs.result("r")).output).toContain('"status":"ok"');
  expect(paid()).toBe(1);
});

it("A drain whose dispatcher fails says so when the calls at work have ended, and leaves nothing that keeps the program going", async () => {
  const clerk = agent({ name: "clerk", model: () => sleep(100).then(() => "done") });
  let looks = 0;
  const dispatcher: Dispatcher = {
    wake: () => Promise.resolve(),
    serve(place) {
      void place.begin("r");
      return {
        look: () => void (looks += 1),
        leave: () => Promise.reject(new Error("no line to the server")),
      };
    },
  };
  const store = memoryRuns();
  const runs = durableRuns({ store, dispatcher, agents: [clerk] });
  await runs.start(clerk, "Go", { id: "r" });
  const worker = runs.work();
  await expect.poll(() => worker.runs).toEqual(["r"]);
  await expect(worker.drain()).rejects.toThrow("no line to the server");
  expect(worker.runs).toEqual([]);
  const before = looks;
  await sleep(500);
  expect(looks).toBe(before);
});

it.each(["worker", "server"])(
  "A %s that has drained waits no second time when it is disposed of",
  async (which) => {
    const begun = Promise.withResolvers<void>();
    const clerk = agent({
      name: "clerk",
      model() {
        begun.resolve();
        return new Promise<never>(() => undefined);
      },
    });
    const store = memoryRuns();
    const runs = durableRuns({ store, agents: [clerk] });
    const working = which === "worker" ? runs.work() : serve({ store, agents: [clerk] });
    await runs.start(clerk, "Go", { id: "r" });
    await begun.promise;
    await working.drain({ graceMs: 100 });
    const before = performance.now();
    await working[Symbol.asyncDispose]();
    expect(performance.now() - before).toBeLessThan(1000);
  },
);

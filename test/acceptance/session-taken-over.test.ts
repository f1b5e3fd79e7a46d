import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { session } from "../../src/index.ts";
import { postgresMissing, type PostgresServer, startPostgres } from "../postgres-server.ts";
import { looker, runsAt } from "./session-taken-over-process.ts";

const program = fileURLToPath(new URL("session-taken-over-process.ts", import.meta.url));
let server: PostgresServer | undefined;
beforeAll(async () => {
  if (postgresMissing() === undefined) server = await startPostgres();
});
afterAll(() => server?.close());

/** A process that carries out the run until its tool is at work. */
async function hangingWorker(url: string) {
  const worker = spawn(process.execPath, ["--no-warnings", program, url], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void worker.kill("SIGKILL"));
  await once(worker.stdout, "data");
  return worker;
}

/** A run in a session whose worker is killed twice, while another process wants the session for a later run. */
async function takenOver(url: string): Promise<void> {
  const one = looker(() => undefined);
  const { runs, kept, close } = runsAt(url, one);
  onTestFinished(async () => void (await close()));
  await runs.start(one, "Look", { id: "taken", session: "kim" });
  for (let killed = 0; killed < 2; killed += 1) {
    const before = performance.now();
    const worker = await hangingWorker(url);
    expect(performance.now() - before).toBeLessThan(10_000);
    worker.kill("SIGKILL");
    await once(worker, "exit");
  }
  const before = performance.now();
  const later = one.run("Look", { session: session(kept, "kim") }); // stands in line here before the run that goes on
  await sleep(200);
  await using _working = runs.work();
  expect((await runs.result("taken")).output).toBe("told 4");
  expect((await later).outcome.type).toBe("answered");
  expect(performance.now() - before).toBeLessThan(10_000);
  expect((await kept.read("kim")).runs.map(({ runId }) => runId === "taken")).toEqual([true, false]);
}

it("A worker has room for a run whose process was killed, though all its runs stand in line for the session of that one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "writ-in-line-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "runs.db");
  const one = looker(() => undefined);
  const { runs, kept, close } = runsAt(path, one);
  onTestFinished(async () => void (await close()));
  await runs.start(one, "Look", { id: "taken", session: "kim" });
  const killed = await hangingWorker(path);
  await using worker = runs.work({ concurrency: 1 });
  for (const id of ["second", "third"]) await runs.start(one, "Look", { id, session: "kim" });
  await expect.poll(() => worker.runs).toEqual(["second", "third"]);
  await runs.start(one, "Look", { id: "other", session: "alex" });
  expect((await runs.result("other")).outcome.type).toBe("answered"); // nor do they keep others waiting
  killed.kill("SIGKILL");
  expect((await runs.result("taken")).outcome.type).toBe("answered");
  await runs.result("third");
  expect((await kept.read("kim")).runs.map(({ runId }) => runId)).toEqual(["taken", "second", "third"]);
}, 60_000);

describe("A run whose process was killed has its session at once in the next process, and again in the one after that", () => {
  it("in PostgreSQL", { timeout: 60_000 }, async ({ skip }) => {
    skip(server === undefined, "PostgreSQL is not here");
    await takenOver(server?.url ?? "");
  });

  it(
    "in a SQLite file, in front of a later run that knows the process to be dead",
    { timeout: 60_000 },
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "writ-taken-over-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      await takenOver(join(folder, "runs.db"));
    },
  );
});

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sqliteRuns } from "../../src/sqlite.ts";

const holder = fileURLToPath(new URL("run-store-process.ts", import.meta.url));
const store = new URL("run-store-sqlite.ts", import.meta.url).href;

/** Gives a process the host name of another container, and has it forget all that it does not refer to. */
const otherContainer = `data:text/javascript,${encodeURIComponent(`
  import os from "node:os";
  import { syncBuiltinESMExports } from "node:module";
  os.hostname = () => "5f1d2c3b4a59";
  syncBuiltinESMExports();
  setInterval(gc, 20);
`)}`;

/** Processes and threads that have runs of one file. */
describe("the owner of a run in a SQLite file", () => {
  let folder = "";
  let path = "";
  const children: ChildProcess[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "writ-owners-"));
    path = join(folder, "runs.db");
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });

  const lockFiles = (): string[] => readdirSync(folder).filter((name) => name.includes("-owner-"));

  async function started(command: string, given: readonly string[]): Promise<ChildProcess> {
    const child = spawn(command, [...given, "--no-warnings", holder, store, path, "r", "hold"], {
      stdio: ["ignore", "pipe", "inherit"],
      detached: true, // a container ends with all that is in it
    });
    children.push(child);
    await once(child.stdout, "data");
    return child;
  }

  async function endedAll(child: ChildProcess): Promise<void> {
    const gone = once(child, "exit");
    process.kill(-Number(child.pid), "SIGKILL");
    await gone;
  }

  it("keeps it in a container of another host name, and loses it with that container", async () => {
    using runs = sqliteRuns(path);
    const child = await started(process.execPath, ["--expose-gc", "--import", otherContainer]);
    await expect(runs.open("r")).rejects.toThrow(`process ${child.pid} of "5f1d2c3b4a59"`);
    await new Promise((resolve) => void setTimeout(resolve, 200));
    expect(await runs.claim([""])).toBeUndefined();
    await endedAll(child);
    expect((await runs.open("r")).run.id).toBe("r");
  });

  it("keeps it where another process of its number lives in another container", async ({ skip }) => {
    const space = ["--uts", "--pid", "--fork", "--kill-child", "--mount-proc"];
    const test = spawn("unshare", [...space, "true"], { stdio: "ignore" });
    const [code] = (await once(test, "exit").catch(() => [1])) as [number];
    skip(code !== 0, "no containers can be made here");
    using runs = sqliteRuns(path);
    const child = await started("unshare", [...space, process.execPath]);
    await expect(runs.open("r")).rejects.toThrow("process 1");
    expect(await runs.claim([""])).toBeUndefined();
    await endedAll(child);
    await expect.poll(async () => (await runs.claim([""]))?.run.id).toBe("r"); // it ends after the one that began it
  });

  it("loses it with its thread", async () => {
    using runs = sqliteRuns(path);
    const thread = new Worker(holder, { argv: [store, path, "r", "hold"], stdout: true });
    await once(thread.stdout, "data");
    await expect(runs.open("r")).rejects.toMatchObject({ code: "run-claimed" });
    await thread.terminate();
    expect((await runs.open("r")).run.id).toBe("r");
  });

  it("keeps it where its store was closed in the middle of it", async () => {
    using runs = sqliteRuns(path);
    const other = sqliteRuns(path);
    await other.open("r");
    other.close();
    other.close();
    await expect(runs.open("r")).rejects.toThrow(`process ${process.pid}.`);
  });

  it("leaves no file behind, and removes those of the dead", async () => {
    const child = await started(process.execPath, []);
    await endedAll(child);
    expect(lockFiles()).toHaveLength(1);
    const runs = sqliteRuns(path);
    const journal = await runs.open("r");
    expect(lockFiles()).toHaveLength(1);
    await journal.close();
    runs.close();
    expect(lockFiles()).toEqual([]);
  });

  it("takes no lock to read", async () => {
    using runs = sqliteRuns(path);
    await runs.list();
    await runs.begin({ id: "r", agent: "a", input: "", options: {}, protocol: 1 });
    expect(lockFiles()).toEqual([]);
  });
});

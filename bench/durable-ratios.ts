/** Ratios of durable runs in a SQLite file: a write that lasts over a sync, two workers over one, and the bytes of a turn in the file. */
import { fork, type ForkOptions } from "node:child_process";
import { once } from "node:events";
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { durableRuns } from "writ/durable";
import { sqliteRuns } from "writ/sqlite";
import { looker } from "./durable-agent.ts";
import { median } from "./measure.ts";

/** Microseconds of a step that must be on the disk when it returns, and of writing and syncing 4 KiB, in turns. */
export async function lastingWrite(
  folder: string,
): Promise<{ readonly step: number; readonly sync: number }> {
  using store = sqliteRuns(join(folder, "lasting.db"));
  await using journal = await store.open("run");
  const file = openSync(join(folder, "plain"), "w");
  const page = Buffer.alloc(4096, "x");
  const steps: number[] = [];
  const syncs: number[] = [];
  for (let round = 0; round < 200; round += 1) {
    let begun = performance.now();
    await journal.step({
      key: `${round}`,
      mustLast: true,
      run: () => Promise.resolve("a result of some length"),
    });
    steps.push((performance.now() - begun) * 1000);
    begun = performance.now();
    writeSync(file, page, 0, page.length, round * page.length);
    fdatasyncSync(file);
    syncs.push((performance.now() - begun) * 1000);
  }
  closeSync(file);
  return { step: median(steps), sync: median(syncs) };
}

/** The number of runs that two workers end in the time in which one worker ends one, where tools wait. */
export async function twoWorkers(folder: string): Promise<number> {
  const times: number[] = [];
  for (const workers of [1, 2]) {
    const address = join(folder, `workers-${workers}.db`);
    using store = sqliteRuns(address);
    const runs = durableRuns({ store });
    const wanted = 60;
    for (let id = 0; id < wanted; id += 1) await runs.start(looker, "Look", { id: `run-${id}` });
    const program = join(import.meta.dirname, "durable-agent.ts");
    const options: ForkOptions = { execArgv: ["--no-warnings"], stdio: "ignore" };
    const children = Array.from({ length: workers }, () => fork(program, [address, "ten"], options));
    while ((await store.list({ status: "running", limit: wanted })).length < 10 * workers)
      await new Promise((resolve) => void setTimeout(resolve, 10));
    const begun = performance.now();
    while ((await store.list({ status: "answered", limit: wanted })).length < wanted)
      await new Promise((resolve) => void setTimeout(resolve, 50));
    times.push(performance.now() - begun);
    for (const child of children) child.kill("SIGTERM");
    await Promise.all(children.map((child) => once(child, "exit")));
  }
  const [one = 0, two = 1] = times;
  return one / two;
}

/** Bytes of the records of a turn, less those that the model and its tool wrote, in a run of `twoWorkers`. */
export async function bytesOfTurn(folder: string): Promise<number> {
  using store = sqliteRuns(join(folder, "workers-1.db"));
  const records = await store.records("run-0");
  const turns = records.filter(({ key }) => key.endsWith("/model")).length;
  const kept = records.reduce(
    (sum, { key, fingerprint, json = "" }) => sum + key.length + fingerprint.length + json.length,
    0,
  );
  const said = turns * (JSON.stringify({ name: "look", arguments: { turn: 10 } }).length + "seen".length);
  return (kept - said) / turns;
}

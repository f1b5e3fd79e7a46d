import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { durableRuns, type DurableRuns } from "../../src/durable.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { boss } from "./worker-process.ts";

const program = fileURLToPath(new URL("worker-process.ts", import.meta.url));

/** How the workers of some runs are ended. */
export interface Disturbance {
  readonly runs: number;
  readonly workers: number;
  /** The signal for the next worker: `SIGTERM` lets it hand over, `SIGKILL` does not. */
  readonly signal: () => "SIGTERM" | "SIGKILL";
  /** A number from 0 to 1. */
  readonly next: () => number;
  /** No worker is ended any more after this number. */
  readonly most: number;
}

/** The counts and complaints. */
export interface Disturbed {
  readonly ended: number;
  readonly unknown: number;
  readonly complaints: readonly string[];
}

/** Starts runs, ends and replaces their workers again and again while a person approves each payment, and checks the results. */
export async function killWorkers({
  runs: count,
  workers,
  signal,
  next,
  most,
}: Disturbance): Promise<Disturbed> {
  const folder = mkdtempSync(join(tmpdir(), "writ-workers-"));
  const [file, ledger] = [join(folder, "runs.db"), join(folder, "ledger")];
  const begin = (): ChildProcess =>
    spawn(process.execPath, ["--no-warnings", program, file, ledger], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  const children = Array.from({ length: workers }, begin);
  const store = sqliteRuns(file);
  const runs = durableRuns({ store });
  const over = new AbortController();
  try {
    for (let id = 0; id < count; id += 1) await runs.start(boss, "Go", { id: `run-${id}` });
    const approving = approveAll(runs, over.signal);
    let ended = 0;
    while ((await runs.list({ status: "answered", limit: count })).length < count) {
      if ((await runs.list({ status: "failed" })).length > 0) break;
      await sleep(100 + next() * 400);
      if (ended >= most) continue;
      const place = Math.floor(next() * workers);
      const child = children[place];
      if (child === undefined) continue;
      child.kill(signal());
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      children[place] = begin();
      ended += 1;
    }
    over.abort();
    await approving;
    const outputs = (await runs.list({ limit: count })).map(({ end }) =>
      JSON.stringify(end?.output ?? end?.outcome),
    );
    const unknown = outputs.filter((output) => output.includes("unknown")).length;
    return { ended, unknown, complaints: [...wrongOutputs(outputs), ...wrongPayments(ledger, count)] };
  } finally {
    over.abort();
    for (const child of children) child.kill("SIGKILL");
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Approves each question, as a person in another process would. */
async function approveAll(runs: DurableRuns, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    for (const { runId, key, request } of await runs.waiting())
      await runs.answer(runId, key, { approved: true, hash: request.hash });
    await sleep(20);
  }
}

const undisturbed = /^"look ok, pay (?:ok|unknown), helper ok, look ok, look ok"$/;

function wrongOutputs(outputs: readonly string[]): readonly string[] {
  return outputs.filter((output) => !undisturbed.test(output)).map((output) => `a run gave ${output}`);
}

/** Payments that began twice, or that nobody began. */
function wrongPayments(ledger: string, count: number): readonly string[] {
  const lines = existsSync(ledger) ? readFileSync(ledger, "utf8").trim().split("\n") : [];
  const begun = lines.filter((line) => line.startsWith("begin pay "));
  const twice = begun.filter((line, place) => begun.indexOf(line) !== place);
  const missing = 2 * count - new Set(begun).size;
  // A call that was noted as begun, and whose process died before it did anything, is unknown too.
  return [
    ...twice.map((line) => `${line} twice`),
    ...(missing > count / 2 ? [`${missing} payments never began`] : []),
  ];
}

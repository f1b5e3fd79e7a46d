import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { sqliteUnderTest } from "../../test/contract/run-store-sqlite.ts";
import type { SharedStoreUnderTest } from "../../test/contract/run-store.ts";

const program = fileURLToPath(new URL("process.ts", import.meta.url));
const execute = promisify(execFile);

/** The end of a run that was killed again and again. */
export interface KilledRun {
  readonly points: readonly string[];
  /** The number of kills that hit: a point past the end of the run kills nothing. */
  readonly kills: number;
  readonly complaints: readonly string[];
  /** Calls of the outer run whose result is `unknown`. */
  readonly unknown: number;
}

interface Ended {
  readonly outcome: string;
  readonly results: readonly { readonly name: string; readonly status: string; readonly text: string }[];
}

/** Where a run is kept, and whether its payments wait for answers. */
export interface KillOptions {
  readonly waits?: boolean;
  /** Default: a SQLite file. */
  readonly store?: SharedStoreUnderTest;
}

/**
 * Carries out one run, killed at each point in turn, until it ends; then looks for what must not be. Where it `waits`, its payments are approved
 * one by one while no process carries it out.
 */
export async function killRun(
  points: readonly string[],
  { waits = false, store = sqliteUnderTest }: KillOptions = {},
): Promise<KilledRun> {
  const folder = mkdtempSync(join(tmpdir(), "writ-kill-"));
  const ledger = join(folder, "ledger");
  const { address, remove } = await store.place();
  try {
    const left = [...points];
    let kills = 0;
    let ended: Ended | undefined;
    while (ended === undefined) {
      const how = [left.shift() ?? "none", waits ? "waits" : ""];
      const end = await carryOn([store.module, address, ledger, "run", ...how]);
      if (end === undefined) kills += 1;
      else if (end.outcome === "suspended") await approveOne(store, address);
      else ended = end;
    }
    const lines = linesOf(ledger);
    const complaints = [...paidTwice(lines), ...wrongEnds(lines, ended)];
    return { points, kills, unknown: unknownIn(ended), complaints };
  } finally {
    await remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A process stops at a point of its run, like a machine that is put to sleep, and `loses` the run to another one, which ends it. Then the first is
 * woken: it makes at most the call that it had begun, whose result is unknown to the other, finds out and ends.
 */
export async function wakeOwner(
  point: string,
  { store, loses }: { readonly store: SharedStoreUnderTest; readonly loses: () => Promise<void> },
): Promise<KilledRun> {
  const folder = mkdtempSync(join(tmpdir(), "writ-kill-"));
  const ledger = join(folder, "ledger");
  const { address, remove } = await store.place();
  const given = [store.module, address, ledger, "run"];
  const owner = spawn(process.execPath, ["--no-warnings", program, ...given, `${point}:SIGSTOP`]);
  try {
    let said = "";
    for (const stream of [owner.stdout, owner.stderr]) stream.on("data", (data) => (said += String(data)));
    const gone = once(owner, "exit");
    await stopped(owner);
    await loses();
    const ended = await carryOn([...given, "none"]);
    owner.kill("SIGCONT");
    await gone;
    const lines = linesOf(ledger);
    if (ended === undefined) throw new Error("the second process was killed");
    const complaints = [
      ...paidTwice(lines),
      ...wrongEnds(lines, ended),
      ...(said.includes("run-taken") ? [] : [`the first process was not told: ${said}`]),
    ];
    return { points: [point], kills: 0, unknown: unknownIn(ended), complaints };
  } finally {
    owner.kill("SIGKILL");
    await remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Waits until a process has stopped itself. */
async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) throw new Error("the process ended before it stopped");
  if (/^\d+ \(.*\) T /.test(readFileSync(`/proc/${String(child.pid)}/stat`, "utf8"))) return;
  await sleep(10);
  return stopped(child);
}

const linesOf = (ledger: string): readonly string[] => readFileSync(ledger, "utf8").trim().split("\n");

const unknownIn = ({ results }: Ended): number => results.filter(({ status }) => status === "unknown").length;

/** How the run ended; undefined when the process was killed. */
async function carryOn(given: readonly string[]): Promise<Ended | undefined> {
  try {
    const { stdout } = await execute(process.execPath, ["--no-warnings", program, ...given]);
    return JSON.parse(stdout) as Ended;
  } catch (error) {
    if ((error as { signal?: unknown }).signal === "SIGKILL") return undefined;
    throw error;
  }
}

/** Approves the oldest question, as a process of its own would. */
async function approveOne({ openRuns }: SharedStoreUnderTest, address: string): Promise<void> {
  const runs = await openRuns(address);
  const [question] = await runs.questions("run");
  if (question === undefined) throw new Error("the run waits for nothing");
  await runs.answer("run", question.key, { approved: true, hash: question.request.hash });
  await runs.close();
}

const undisturbed = 8; // the calls of the outer run

/** Payments whose beginning stands in the ledger more than once. */
function paidTwice(lines: readonly string[]): readonly string[] {
  const begun = lines.filter((line) => line.startsWith("begin pay "));
  return begun.filter((line, place) => begun.indexOf(line) !== place).map((line) => `${line} twice`);
}

function wrongEnds(lines: readonly string[], { outcome, results }: Ended): readonly string[] {
  const isPaid = (text: string): boolean => lines.some((line) => line.startsWith(`end ${text} `));
  return [
    ...(outcome === "answered" ? [] : [`the run was ${outcome}`]),
    ...(results.length === undisturbed ? [] : [`the run has ${results.length} results`]),
    ...results
      .filter(({ name, status }) => status !== "ok" && (status !== "unknown" || name !== "pay"))
      .map(({ name, status, text }) => `${name} is ${status}: ${text}`),
    ...results
      .filter(({ name, status, text }) => name === "pay" && status === "ok" && !isPaid(text))
      .map(({ text }) => `${text} is ok, and did not happen`),
  ];
}

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

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

/** Carries out one run, killed at each point in turn, until it ends; then looks for what must not be. */
export async function killRun(points: readonly string[]): Promise<KilledRun> {
  const folder = mkdtempSync(join(tmpdir(), "writ-kill-"));
  const [file, ledger] = [join(folder, "runs.db"), join(folder, "ledger")];
  try {
    let kills = 0;
    let ended: Ended | undefined;
    for (const point of [...points, "none"]) {
      ended = await carryOn(file, ledger, point);
      if (ended !== undefined) break;
      kills += 1;
    }
    const lines = readFileSync(ledger, "utf8").trim().split("\n");
    const unknown = ended?.results.filter(({ status }) => status === "unknown").length ?? 0;
    return { points, kills, unknown, complaints: complaintsOf(lines, ended) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How the run ended; undefined when the process was killed. */
async function carryOn(file: string, ledger: string, point: string): Promise<Ended | undefined> {
  try {
    const { stdout } = await execute(process.execPath, [
      "--no-warnings",
      program,
      file,
      ledger,
      "run",
      point,
    ]);
    return JSON.parse(stdout) as Ended;
  } catch (error) {
    if ((error as { signal?: unknown }).signal === "SIGKILL") return undefined;
    throw error;
  }
}

const undisturbed = 8; // the calls of the outer run

function complaintsOf(lines: readonly string[], ended: Ended | undefined): readonly string[] {
  return [...paidTwice(lines), ...(ended === undefined ? ["the run did not end"] : wrongEnds(lines, ended))];
}

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

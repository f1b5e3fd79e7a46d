/** Starts fresh processes and reads their output. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { WorkerResult } from "./worker.ts";
import { resultMark } from "./worker.ts";

const benchFolder = fileURLToPath(new URL("./", import.meta.url));

/** How a process ended. `code` is null when it was killed at its time limit. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Milliseconds from its start to its end. */
  readonly ms: number;
}

export function runNode(
  args: readonly string[],
  { cwd = benchFolder, timeoutMs = 120_000 } = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const begun = performance.now();
    const child = spawn(process.execPath, args, {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    const out = { stdout: "", stderr: "" };
    child.stdout.on("data", (data: Buffer) => void (out.stdout += data.toString()));
    child.stderr.on("data", (data: Buffer) => void (out.stderr += data.toString()));
    child.on("error", reject);
    child.on("close", (code) => resolve({ ...out, code, ms: performance.now() - begun }));
  });
}

/** Runs one case of one peer in a fresh process. */
export async function runWorker(peer: string, name: string, size: number): Promise<WorkerResult> {
  const ended = await runNode(["worker.ts", peer, name, String(size)]);
  const at = ended.stdout.lastIndexOf(resultMark);
  if (at >= 0) return JSON.parse(ended.stdout.slice(at + resultMark.length)) as WorkerResult;
  return {
    error:
      ended.code === null
        ? `killed after ${Math.round(ended.ms / 1000)} s`
        : `no result: ${ended.stderr.trim().slice(-300)}`,
  };
}

import { type ChildProcess, spawn } from "node:child_process";
import type { ExecResult } from "../../tool/handles.ts";
import { atProgramEnd } from "../at-program-end.ts";
import { handleFailed } from "./lifetime.ts";

/** A program, ready to be started. */
export interface Start {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  readonly maxBytes: number;
  readonly timeoutMs?: number;
  readonly resource: string;
}

/** Wait for outputs that another process still holds. */
const graceMs = 1000;
const longestTimerMs = 2_147_483_647;

/** Runs a program in a process group of its own, and leaves nothing of the group running. @throws WritError `handle-failed` */
export function runProgram(start: Start, signal: AbortSignal): Promise<ExecResult> {
  const { file, args, cwd, env, input, maxBytes, timeoutMs, resource } = start;
  return new Promise((resolve, reject) => {
    const child = spawn(file, [...args], { cwd, env, shell: false, detached: true, stdio: "pipe" });
    const killGroup = (): void => killAll(child.pid);
    const stop = (reason: string): void => {
      killGroup();
      reject(handleFailed(resource, reason));
    };
    const tooLong =
      timeoutMs === undefined
        ? undefined
        : setTimeout(
            () => stop(`it did not end within ${timeoutMs} ms and was stopped.`),
            Math.min(timeoutMs, longestTimerMs),
          );
    let grace: NodeJS.Timeout | undefined;
    signal.addEventListener("abort", killGroup, { once: true });
    const forget = atProgramEnd(killGroup);
    const stdout = collect(child.stdout, maxBytes, () => stop(`it printed more than ${maxBytes} bytes.`));
    const stderr = collect(child.stderr, maxBytes, () =>
      stop(`it printed more than ${maxBytes} bytes of errors.`),
    );
    // A program that does not read its input closes it.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
    const settle = (): void => {
      clearTimeout(tooLong);
      clearTimeout(grace);
      signal.removeEventListener("abort", killGroup);
    };
    child.once("error", (error) => {
      forget();
      settle();
      reject(error);
    });
    child.once("exit", () => {
      killGroup();
      forget();
      grace = setTimeout(() => closeOutputs(child), graceMs);
    });
    child.once("close", (exitCode, endedBy) => {
      settle();
      resolve({ exitCode, signal: endedBy, stdout: stdout(), stderr: stderr() });
    });
  });
}

function collect(stream: NodeJS.ReadableStream, maxBytes: number, tooMuch: () => void): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else tooMuch();
  });
  return () => Buffer.concat(chunks).toString("utf8");
}

function closeOutputs({ stdout, stderr }: ChildProcess): void {
  stdout?.destroy();
  stderr?.destroy();
}

function killAll(group: number | undefined): void {
  if (group === undefined) return;
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // Nobody is left in it.
  }
}

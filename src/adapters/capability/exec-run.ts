import type { ChildProcess } from "node:child_process";
import type { ExecResult } from "../../tool/handles.ts";
import { atProgramEnd } from "../at-program-end.ts";
import { outputOf, startProgram } from "../start-program.ts";
import { waitMs } from "../wait-ms.ts";
import { keepEnds } from "./keep-ends.ts";
import { handleFailed } from "./lifetime.ts";

/** A program with everything that is needed to start it. */
export interface Start {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  readonly maxBytes: number;
  readonly timeoutMs?: number;
  readonly onLimit: "fail" | "cut";
  readonly resource: string;
}

/** The wait for outputs that another process still holds open. */
const graceMs = 1000;

/**
 * Runs a program in a process group of its own, and leaves no process of the group running.
 *
 * @throws WritError `handle-failed`; the reason of a signal that is aborted before the start
 */
export function runProgram(start: Start, signal: AbortSignal): Promise<ExecResult> {
  const { file, args, cwd, env, input, maxBytes, timeoutMs, resource, onLimit } = start;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted(); // later nobody would stop it
    const child = startProgram(file, args, { cwd, env, detached: true, files: ["pipe", "pipe", "pipe"] });
    const killGroup = (): void => killAll(child.pid);
    let stoppedBy: ExecResult["stoppedBy"];
    const stop = (limit: "time" | "output", reason: string): void => {
      stoppedBy ??= limit;
      killGroup();
      if (onLimit === "fail") reject(handleFailed(resource, reason));
    };
    const tooLong =
      timeoutMs === undefined
        ? undefined
        : setTimeout(
            () => stop("time", `it did not end within ${timeoutMs} ms and was stopped.`),
            waitMs(timeoutMs),
          );
    let grace: NodeJS.Timeout | undefined;
    signal.addEventListener("abort", killGroup, { once: true });
    const forget = atProgramEnd(killGroup);
    const tooMuch = (what: string) => (): void =>
      stop("output", `it printed more than ${maxBytes} bytes${what}.`);
    const stdout = collect(outputOf(child, 1), start, tooMuch(""));
    const stderr = collect(outputOf(child, 2), start, tooMuch(" of errors"));
    // A program that does not read its input closes it.
    child.stdin?.on("error", () => undefined).end(input ?? "");
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
      const [out, errors] = [stdout(), stderr()];
      const leftOutBytes = out.leftOut + errors.leftOut;
      resolve({
        exitCode,
        signal: endedBy,
        stdout: out.text,
        stderr: errors.text,
        ...(onLimit === "cut" && stoppedBy !== undefined && { stoppedBy }),
        ...(leftOutBytes > 0 && { leftOutBytes }),
      });
    });
  });
}

/** An output, as it is returned. */
interface Collected {
  readonly text: string;
  readonly leftOut: number;
}

/** A program is stopped when it prints this many times the bytes that are kept. */
const floodFactor = 64;

function collect(
  stream: NodeJS.ReadableStream,
  { maxBytes, onLimit }: Pick<Start, "maxBytes" | "onLimit">,
  tooMuch: () => void,
): () => Collected {
  const kept = keepEnds(maxBytes);
  const most = onLimit === "cut" ? floodFactor * maxBytes : maxBytes;
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > most) tooMuch();
    else kept.add(chunk);
  });
  return kept.collected;
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
    // the group has no process left
  }
}

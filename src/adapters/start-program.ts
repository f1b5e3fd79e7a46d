import { type ChildProcess, spawn, type SpawnOptions, type StdioOptions } from "node:child_process";
import { openSync, readdirSync, readFileSync } from "node:fs";
import { Socket } from "node:net";
import { Readable } from "node:stream";
import { otherRuntime } from "./node-version.ts";

/** The flag of a file (O_CLOEXEC of Linux) that a started program does not get. */
const closedAtStart = 0o2000000;

// Depends on: the files that this process was started with.
let left: readonly number[] | undefined;
let nothing: number | undefined;

/** Options of a program to start. */
export interface StartOptions extends Pick<SpawnOptions, "cwd" | "env" | "detached"> {
  readonly files: readonly ("ignore" | "pipe")[];
}

/**
 * Starts a program with these open files and no others.
 *
 * @throws Error `EMFILE` if this process can open no more files; other faults come as `error` of the process
 */
export function startProgram(
  file: string,
  args: readonly string[],
  { files, ...options }: StartOptions,
): ChildProcess {
  const child = spawn(file, [...args], { ...options, shell: false, stdio: onlyFiles(files) });
  const { stdio }: { readonly stdio?: unknown } = child;
  if (stdio !== undefined) return child;
  child.on("error", () => undefined); // Node reports this one later too, and would end the process
  throw Object.assign(new Error("this process has too many files open"), { code: "EMFILE" });
}

/**
 * The files of a program, by their numbers, and no others. The starter of this process may have left files open in it: Node closes the first of
 * them, and a program would get the others too. Each of these becomes `/dev/null`. Only Linux lists them, and only Node gives files by their numbers.
 */
function onlyFiles(own: readonly ("ignore" | "pipe")[]): StdioOptions {
  left ??= leftOpen();
  const files: ("ignore" | "pipe" | number)[] = [...own];
  for (const fd of left) {
    if (fd < own.length) continue;
    while (files.length < fd) files.push("ignore"); // beyond the first three this opens nothing
    files[fd] = nothing ??= openSync("/dev/null", "r+");
  }
  return files;
}

/** The open files that programs would get, in the order of their numbers. */
function leftOpen(): readonly number[] {
  if (process.platform !== "linux" || otherRuntime() !== undefined) return [];
  const open = readdirSync("/proc/self/fd").map(Number);
  return open.filter(isGiven).toSorted((one, other) => one - other);
}

function isGiven(fd: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1] ?? "0";
    return (Number.parseInt(flags, 8) & closedAtStart) === 0;
  } catch {
    return false; // it was open only while the list was read
  }
}

/** An output of a process: standard output or standard error. Of Bun it is a stream that only reads. */
export function outputOf({ stdio }: ChildProcess, fd: 1 | 2): Readable {
  const output = stdio[fd];
  if (output instanceof Readable) return output;
  throw new TypeError(`the process has no output ${fd}`);
}

/** A pipe of a process, by its number there. */
export function pipeOf({ stdio }: ChildProcess, fd: number): Socket {
  const pipe = stdio.at(fd);
  if (pipe instanceof Socket) return pipe;
  throw new TypeError(`the process has no pipe ${fd}`);
}

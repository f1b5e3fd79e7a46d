import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** A process, described so that other processes can find out whether it is alive. */
export interface ProcessOwner {
  readonly host: string;
  readonly pid: number;
  /** The time of its start and the boot of its machine, if the system tells them: a later process can have the same number. */
  readonly started: string;
}

/** This process. */
export function thisProcess(): ProcessOwner {
  return { host: hostname(), pid: process.pid, started: startOf(process.pid) };
}

/** The state of a process; `elsewhere` for one on another machine, whose state is unknown here. */
export type Life = "alive" | "dead" | "elsewhere";

/** Finds out whether a process is alive. */
export function lifeOf({ host, pid, started }: ProcessOwner): Life {
  if (host !== hostname()) return "elsewhere";
  return exists(pid) && startOf(pid) === started ? "alive" : "dead";
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"; // the process belongs to another user
  }
}

/** The place of the start time among the fields of `/proc/<pid>/stat`, after the name in brackets. */
const startField = 19;

function startOf(pid: number): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return `${boot} ${fields[startField] ?? ""}`;
  } catch {
    return ""; // not Linux: only the number identifies the process
  }
}

import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** A process, so that other processes can tell whether it still lives. */
export interface ProcessOwner {
  readonly host: string;
  readonly pid: number;
  /** The time of its start and the boot of its machine, where the system tells them: a later process can have the same number. */
  readonly started: string;
}

/** This process. */
export function thisProcess(): ProcessOwner {
  return { host: hostname(), pid: process.pid, started: startOf(process.pid) };
}

/** The state of a process; `elsewhere` of one of another machine, of which nobody here can tell. */
export type Life = "alive" | "dead" | "elsewhere";

/** Tells whether a process still lives. */
export function lifeOf({ host, pid, started }: ProcessOwner): Life {
  if (host !== hostname()) return "elsewhere";
  return exists(pid) && startOf(pid) === started ? "alive" : "dead";
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"; // it belongs to another user
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
    return ""; // not Linux: the number alone must do
  }
}

/**
 * The forbidden acts of isolated code, tried inside the same box that it will run in. Each returns true if it
 * was prevented: if the attempt failed, or reached nothing.
 */
import { spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { connect, type NetConnectOpts } from "node:net";

/** The targets that the parent prepared. */
export interface Targets {
  /** A file outside of the box, with its content. */
  readonly secretFile: string;
  readonly secret: string;
  /** A link to that file, inside of a folder that the box has. */
  readonly link: string;
  /** Paths outside that do not exist yet. */
  readonly newFile: string;
  readonly newDatabase: string;
  readonly tcpPort: number;
  readonly udpPort: number;
  /** Sockets outside, and among the files of the box: a file can be a socket. */
  readonly unixSockets: readonly string[];
  readonly parentPid: number;
}

type Attempt = (targets: Targets) => boolean | Promise<boolean>;

const attempts: Readonly<Record<string, Attempt>> = {
  "read outside": ({ secretFile, secret }) => !readsAs(secretFile, secret),
  "read through a link": ({ link, secret }) => !readsAs(link, secret),
  "environment of processes": ({ parentPid }) =>
    ["self", "1", String(parentPid)].every((pid) => variablesOf(`/proc/${pid}/environ`).every(isOwn)),
  "environment variables": () => Object.keys(process.env).every(isOwn),
  "connect to the host": ({ tcpPort }) => cannotConnect({ port: tcpPort, host: "127.0.0.1" }),
  "connect to a socket file": async ({ unixSockets }) => {
    const held = await Promise.all(unixSockets.map((path) => cannotConnect({ path })));
    return held.every(Boolean);
  },
  "send a datagram": ({ udpPort }) => cannotSend(udpPort),
  "start a program": () => ["/bin/sh", process.execPath].every((program) => cannotStart(program)),
  "write through SQLite": ({ newDatabase }) => cannotWriteDatabase(newDatabase),
  "write outside": ({ newFile, secretFile }) => [newFile, secretFile, kernelSetting].every(cannotWrite),
  "signal the parent": ({ parentPid }) =>
    parentPid === process.pid || fails(() => process.kill(parentPid, 0)),
};

/** A setting that is opened, but never written: whoever may write it may start programs as root of the machine. */
const kernelSetting = "/proc/sys/kernel/core_pattern";

/** Tries all. Returns the names of those that were prevented, and of those that were not. */
export async function execute(
  targets: Targets,
): Promise<{ readonly name: string; readonly held: boolean }[]> {
  const found: { name: string; held: boolean }[] = [];
  for (const [name, attempt] of Object.entries(attempts)) found.push({ name, held: await attempt(targets) });
  return found;
}

function fails(attempt: () => unknown): boolean {
  try {
    attempt();
    return false;
  } catch {
    return true;
  }
}

function readsAs(path: string, content: string): boolean {
  try {
    return readFileSync(path, "utf8") === content;
  } catch {
    return false;
  }
}

function variablesOf(path: string): string[] {
  try {
    return readFileSync(path, "utf8")
      .split("\0")
      .flatMap((line) => (line === "" ? [] : [line.split("=")[0] ?? ""]));
  } catch {
    return [];
  }
}

/** True for the variable of the working folder, which the box itself sets. */
function isOwn(variable: string): boolean {
  return variable === "PWD";
}

/** True if a file cannot be opened for writing. The file is not changed. */
function cannotWrite(path: string): boolean {
  return fails(() => writeFileSync(path, "", { flag: existsSync(path) ? "a" : "wx" }));
}

/** True if a database cannot be opened, which would make its file. */
async function cannotWriteDatabase(path: string): Promise<boolean> {
  try {
    const { DatabaseSync } = await import("node:sqlite");
    new DatabaseSync(path).close();
    return false;
  } catch {
    return true;
  }
}

function cannotStart(program: string): boolean {
  try {
    return spawnSync(program, ["-c", ""], { timeout: 5_000 }).pid === 0;
  } catch {
    return true;
  }
}

function cannotConnect(to: NetConnectOpts): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  try {
    const socket = connect({ ...to, timeout: 2_000 });
    socket.once("connect", () => resolve(false));
    for (const event of ["error", "timeout"]) socket.once(event, () => resolve(true));
    return promise.finally(() => socket.destroy());
  } catch {
    return Promise.resolve(true);
  }
}

/** Sends a datagram, which may reach nobody: the parent reports whether it arrived. */
function cannotSend(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  try {
    const socket = createSocket("udp4");
    socket.on("error", () => resolve(true));
    socket.send("reached", port, "127.0.0.1", (error) => resolve(error !== null));
    return promise.finally(() => socket.close());
  } catch {
    return Promise.resolve(true);
  }
}

import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { otherRuntime } from "../node-version.ts";
import { pipeOf, startProgram } from "../start-program.ts";
import type { Layout } from "./layout.ts";
import { type Bind, nodeFiles, nodeInBox } from "./node-files.ts";
import { systemCallFilter } from "./seccomp.ts";

/** The options of a cell's process. */
export interface LaunchOptions {
  readonly layout: Layout;
  /** The bytes of the JavaScript heap. */
  readonly memoryBytes: number;
  /** The bytes of all memory of the process, including the heap; undefined sets no limit. */
  readonly dataBytes: number | undefined;
  /** The program `bwrap`; undefined starts a plain process, without restrictions. */
  readonly bwrap: string | undefined;
}

/** A started process, with the address of its module. */
export interface Launched {
  readonly process: ChildProcess;
  readonly module: string;
}

/**
 * The path of bubblewrap; undefined if it is missing. Known places come first, because anybody can change a search path.
 */
export function findBwrap(): string | undefined {
  if (process.platform !== "linux") return undefined;
  const folders = ["/usr/bin", "/usr/local/bin", "/bin", ...(process.env["PATH"] ?? "").split(delimiter)];
  return folders
    .filter((folder) => folder.startsWith("/"))
    .map((folder) => join(folder, "bwrap"))
    .find((path) => existsSync(path));
}

/** @throws Error in Bun and Deno: they have neither Node's options nor all of its pipes */
export function requireNode(): void {
  const runtime = otherRuntime();
  if (runtime !== undefined) throw new Error(`its process needs Node, and this is ${runtime}`);
}

/** Starts the process of a cell. It reads only its pipes, and of its output only its errors are read. */
export function launch({ layout, memoryBytes, dataBytes, bwrap }: LaunchOptions): Launched {
  requireNode();
  const program = cellProgram();
  const heap = `--max-old-space-size=${Math.max(8, Math.floor(memoryBytes / 1_000_000))}`;
  if (bwrap === undefined) {
    const args = [heap, "--no-warnings", program];
    return { process: start(process.execPath, args), module: layout.onHost };
  }
  const folder: Bind = { from: dirname(program), to: "/box/writ" };
  const filter = systemCallFilter();
  const args = [
    ...boxArguments([...nodeFiles(), folder, ...layout.binds]),
    ...(filter === undefined ? [] : ["--seccomp", String(filterFd)]),
    "--",
    nodeInBox,
    heap,
    "--no-warnings",
    ...permissionFlags(),
    `/box/writ/${program.slice(folder.from.length + 1)}`,
  ];
  const kilobytes = dataBytes === undefined ? "unlimited" : String(Math.ceil(dataBytes / 1024));
  const limits = `ulimit -c 0; ulimit -n 256; ulimit -d ${kilobytes}; exec "$0" "$@"`;
  const started = start("/bin/sh", ["-c", limits, bwrap, ...args], filter !== undefined);
  // a bwrap that does not start shows that by its end
  if (filter !== undefined)
    pipeOf(started, filterFd)
      .on("error", () => undefined)
      .end(filter);
  return { process: started, module: layout.inBox };
}

const filterFd = 5;

/** The arguments that make a box. Only files that they name exist in it. */
export function boxArguments(binds: readonly Bind[]): string[] {
  const devices = ["null", "zero", "random", "urandom"].map((name) => `/dev/${name}`);
  return [
    "--unshare-all --unshare-user --disable-userns --die-with-parent --new-session --as-pid-1",
    "--clearenv --cap-drop ALL --uid 65534 --gid 65534 --hostname box",
    "--proc /proc --tmpfs /dev",
    ...devices.map((path) => `--dev-bind ${path} ${path}`),
    "--size 16777216 --tmpfs /tmp",
  ]
    .flatMap((options) => options.split(" "))
    .concat(binds.flatMap(({ from, to }) => ["--ro-bind", from, to]))
    .concat(["--remount-ro", "/dev", "--remount-ro", "/"]);
}

/** Node's own permissions, if this Node has them: no programs, threads, add-ons, WASI or inspector. The box restricts files and hosts. */
function permissionFlags(): string[] {
  return process.allowedNodeEnvironmentFlags.has("--permission")
    ? ["--permission", "--allow-fs-read=*", "--allow-fs-write=/tmp"]
    : [];
}

function start(command: string, args: readonly string[], hasFilter = false): ChildProcess {
  const files = ["ignore", "ignore", "pipe", "pipe", "pipe"] as const;
  return startProgram(command, args, { cwd: "/", env: {}, files: hasFilter ? [...files, "pipe"] : files });
}

/** The program of a cell: beside this file in the source; in the package wherever the bundler put it. */
export function cellProgram(): string {
  const found = ["./child/main.ts", "./child/main.js", "../adapters/isolate/child/main.js"]
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error("the program of isolated tools is missing from the package");
  return found;
}

import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";

/** A file of the host, and where a box has it. */
export interface Bind {
  readonly from: string;
  readonly to: string;
}

/** Path of Node in a box. */
export const nodeInBox = "/box/node";

// Depends on: the program that runs, and its libraries.
let known: readonly Bind[] | undefined;

/**
 * Files that a box needs to start this very Node: its program, and the libraries that the loader finds for
 * it. Asked once a process.
 */
export function nodeFiles(): readonly Bind[] {
  known ??= [{ from: realpathSync(process.execPath), to: nodeInBox }, ...libraries()];
  return known;
}

/** The loader's own list: by the C library of most systems itself, else (musl) by the program that comes with it. */
function libraries(): Bind[] {
  const traced = spawnSync(process.execPath, ["--version"], {
    env: { LD_TRACE_LOADED_OBJECTS: "1" },
    encoding: "utf8",
    timeout: 10_000,
  });
  const listed = librariesOf(traced.stdout ?? "");
  if (listed.length > 0) return listed;
  const ldd = ["/usr/bin/ldd", "/bin/ldd"].find((path) => existsSync(path));
  if (ldd === undefined) return [];
  return librariesOf(
    spawnSync(ldd, [process.execPath], { env: {}, encoding: "utf8", timeout: 10_000 }).stdout ?? "",
  );
}

/** Lines like `libm.so.6 => /lib/libm.so.6 (0x7f…)` and `/lib64/ld-linux-x86-64.so.2 (0x7f…)`. */
export function librariesOf(list: string): Bind[] {
  return [...list.matchAll(/^\s*(?:\S+ => )?(\/\S+) \(0x[0-9a-f]+\)$/gm)].flatMap(([, path]) =>
    path === undefined ? [] : [{ from: path, to: path }],
  );
}

import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";

/** A file of the host, with its path in a box. */
export interface Bind {
  readonly from: string;
  readonly to: string;
}

/** The path of Node in a box. */
export const nodeInBox = "/box/node";

// Depends on: the program that runs, and its libraries.
let known: readonly Bind[] | undefined;

/**
 * The files that a box needs to start this same Node: its program, and the libraries that the loader finds for
 * it. Determined once per process.
 */
export function nodeFiles(): readonly Bind[] {
  known ??= [{ from: realpathSync(process.execPath), to: nodeInBox }, ...libraries()];
  return known;
}

/** The loader's own list: most C libraries print it themselves, with musl the program that comes with it does. */
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

import { realpath } from "node:fs/promises";
import { posix } from "node:path";
import { permits } from "../../policy/powers.ts";
import { type Resource, resourceText } from "../../tool/capability.ts";
import { handleFailed, type Lifetime } from "./lifetime.ts";

/** A path with its links resolved, as far as there is something. */
export interface RealPath {
  readonly path: string;
  /** Why the rest could not be resolved; undefined when the path is real to its end. */
  readonly problem?: unknown;
}

/** The judge of the files of one call. */
export interface FileJudge {
  /** The real path of what may be used. @throws WritError `capability-denied`, before anything is told of what is there */
  readonly find: (kind: "fs.read" | "fs.write", path: string) => Promise<RealPath>;
  /** The same for a name in a folder: of the name itself no link is followed. */
  readonly findName: (
    kind: "fs.write",
    path: string,
  ) => Promise<RealPath & { readonly folder: string; readonly name: string }>;
}

/** Judges paths by where they really lead. Where scopes lead is looked up once, at the first path that needs it. */
export function fileJudge({ powers, use }: Pick<Lifetime, "powers" | "use">): FileJudge {
  let roots: Promise<ReadonlyMap<string, string>> | undefined;
  async function judge(kind: "fs.read" | "fs.write", path: string): Promise<void> {
    const resource: Resource = { kind, path };
    if (permits(powers, resource)) return use(resource);
    roots ??= realRoots(powers);
    use({ ...resource, roots: await roots });
  }
  return {
    async find(kind, path) {
      checkPath(kind, path);
      const real = await resolvePath(path);
      await judge(kind, real.path);
      return real;
    },
    async findName(kind, path) {
      checkPath(kind, path);
      const name = path.slice(path.lastIndexOf("/") + 1);
      if (name === "" || name === "." || name === "..")
        throw handleFailed(resourceText({ kind, path }), "the path must end in a name.");
      const { path: folder, problem } = await resolvePath(path.slice(0, -name.length));
      const target = posix.join(folder, name);
      await judge(kind, target);
      return { path: target, folder, name, problem };
    },
  };
}

function checkPath(kind: "fs.read" | "fs.write", path: unknown): void {
  const resource = `${kind}(${String(path)})`;
  if (process.platform === "win32") throw handleFailed(resource, "there are no file handles on Windows.");
  if (typeof path !== "string" || !path.startsWith("/"))
    throw handleFailed(resource, "the path must be absolute.");
  if (path.includes("\0")) throw handleFailed(resource.replaceAll("\0", "␀"), "a path has no NUL in it.");
}

/** Never fails: of what cannot be resolved the nearest folder that can is resolved, and the rest is taken by its letters. */
async function resolvePath(path: string): Promise<RealPath> {
  try {
    return { path: await realpath(path) };
  } catch (problem) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const folder = await realpath(path.slice(0, end)).catch(() => undefined);
      if (folder !== undefined) return { path: withoutEnd(posix.join(folder, path.slice(end))), problem };
    }
    return { path: withoutEnd(posix.normalize(path)), problem };
  }
}

function withoutEnd(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

async function realRoots(powers: Lifetime["powers"]): Promise<ReadonlyMap<string, string>> {
  const scopes = new Set(
    powers.flat().flatMap(({ kind, scope }) => (kind === "fs.read" || kind === "fs.write" ? [scope] : [])),
  );
  const found = await Promise.all(
    [...scopes].map(async (scope) => [scope, (await resolvePath(scope)).path] as const),
  );
  return new Map(found.filter(([scope, path]) => scope !== path));
}

import { readlink, realpath } from "node:fs/promises";
import { posix } from "node:path";
import { permits } from "../../policy/powers.ts";
import { type Resource, resourceText } from "../../tool/capability.ts";
import { handleFailed, type Lifetime } from "./lifetime.ts";

/**
 * The longest path that systems accept, in bytes. A longer one leads nowhere, but would be searched folder by
 * folder.
 */
const maxPathBytes = 4096;
const maxNameBytes = 255;

/** The most links that are followed, as many as on Linux. */
const maxLinks = 40;

/** A path with its links resolved, as far as it exists. */
export interface RealPath {
  readonly path: string;
  /** The error that stopped resolving; undefined if the whole path exists. */
  readonly problem?: unknown;
}

/** The judge of the files of one call. */
export interface FileJudge {
  /** The real path of a file that may be used. @throws WritError `capability-denied`, before it tells whether the file exists */
  readonly find: (kind: "fs.read" | "fs.write", path: string) => Promise<RealPath>;
  /** The same for a name in a folder: a link of that name is not followed. */
  readonly findName: (
    kind: "fs.write",
    path: string,
  ) => Promise<RealPath & { readonly folder: string; readonly name: string }>;
}

/** Makes the judge of paths, which judges them by where they really lead. The real paths of scopes are looked up once, at the first path that needs them. */
export function fileJudge({ powers, use, signal }: Pick<Lifetime, "powers" | "use" | "signal">): FileJudge {
  let roots: Promise<ReadonlyMap<string, string>> | undefined;
  async function judge(kind: "fs.read" | "fs.write", path: string): Promise<void> {
    const resource: Resource = { kind, path };
    if (permits(powers, resource)) return use(resource);
    roots ??= realRoots(powers, signal);
    use({ ...resource, roots: await roots });
  }
  return {
    async find(kind, path) {
      checkPath(kind, path);
      const real = await resolvePath(path, signal);
      await judge(kind, real.path);
      return real;
    },
    async findName(kind, path) {
      checkPath(kind, path);
      const name = path.slice(path.lastIndexOf("/") + 1);
      if (name === "" || name === "." || name === "..")
        throw handleFailed(resourceText({ kind, path }), "the path must end in a name.");
      const { path: folder, problem } = await resolvePath(path.slice(0, -name.length), signal);
      const target = posix.join(folder, name);
      await judge(kind, target);
      return { path: target, folder, name, problem };
    },
  };
}

function checkPath(kind: "fs.read" | "fs.write", path: unknown): void {
  const written = String(path);
  const resource = `${kind}(${written.length > maxPathBytes ? `${written.slice(0, 80)}…` : written})`;
  if (process.platform === "win32") throw handleFailed(resource, "there are no file handles on Windows.");
  if (typeof path !== "string" || !path.startsWith("/"))
    throw handleFailed(resource, "the path must be absolute.");
  if (Buffer.byteLength(path) > maxPathBytes)
    throw handleFailed(resource, `the path has more than ${maxPathBytes} bytes.`);
  if (path.split("/").some((name) => Buffer.byteLength(name) > maxNameBytes))
    throw handleFailed(resource, `a name in the path has more than ${maxNameBytes} bytes.`);
  if (path.includes("\0")) throw handleFailed(resource.replaceAll("\0", "␀"), "a path has no NUL in it.");
}

/**
 * Resolves a path. If it does not exist, the nearest existing folder is resolved, and the rest is taken literally. A link to a missing target is followed,
 * so that it is judged like any other link. Fails only if it is stopped.
 */
async function resolvePath(path: string, signal: AbortSignal, links = 0): Promise<RealPath> {
  try {
    return { path: await realpath(path) };
  } catch (problem) {
    for (let end = path.lastIndexOf("/"); end >= 0; end = end === 0 ? -1 : path.lastIndexOf("/", end - 1)) {
      signal.throwIfAborted();
      const folder = await realpath(path.slice(0, end) || "/").catch(() => undefined);
      if (folder === undefined) continue;
      const rest = path.slice(end);
      const target = links < maxLinks ? await throughLink(folder, rest) : undefined;
      if (target === undefined) return { path: withoutEnd(posix.join(folder, rest)), problem };
      return { path: (await resolvePath(target, signal, links + 1)).path, problem };
    }
    return { path: withoutEnd(posix.normalize(path)), problem };
  }
}

/** Follows the link at the next name of a path; undefined if the name is not a link. */
async function throughLink(folder: string, rest: string): Promise<string | undefined> {
  const [, name = "", after = ""] = /^\/+([^/]*)(.*)$/s.exec(rest) ?? [];
  const link = await readlink(posix.join(folder, name)).catch(() => undefined);
  return link === undefined ? undefined : `${link.startsWith("/") ? "" : `${folder}/`}${link}${after}`;
}

function withoutEnd(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

async function realRoots(
  powers: Lifetime["powers"],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const scopes = new Set(
    powers.flat().flatMap(({ kind, scope }) => (kind === "fs.read" || kind === "fs.write" ? [scope] : [])),
  );
  const found = await Promise.all(
    [...scopes].map(async (scope) => [scope, (await resolvePath(scope, signal)).path] as const),
  );
  return new Map(found.filter(([scope, path]) => scope !== path));
}

import { constants, type Dirent, type Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { resourceText } from "../../tool/capability.ts";
import type { DirectoryEntry, ByteRange, ReadFiles } from "../../tool/handles.ts";
import { codeOf } from "../../util/thrown.ts";
import { asHandleFailed, handleFailed, type Lifetime } from "./lifetime.ts";
import { anchorOf, pathOnly, refuseOthers, withReal } from "./open-file.ts";
import type { FileJudge } from "./real-path.ts";

/** The size above which a file is not read whole. */
const maxFileBytes = 100_000_000;

/** The reading half of the file handle of one call. */
export function readFiles(lifetime: Lifetime, judge: FileJudge): ReadFiles {
  /** Judges a path and does the work there; an error of the system becomes `handle-failed` with the requested path. */
  function at<Value>(
    name: string,
    path: string,
    work: (real: string, resource: string) => Promise<Value>,
  ): Promise<Value> {
    return lifetime.run(`fs.${name}`, async () => {
      const resource = resourceText({ kind: "fs.read", path });
      const { path: real, problem } = await judge.find("fs.read", path);
      if (problem !== undefined) throw asHandleFailed(resource, problem);
      try {
        return await work(real, resource);
      } catch (error) {
        throw asHandleFailed(resource, error);
      }
    });
  }
  return {
    readText: async (path) => (await at("readText", path, readWhole)).toString("utf8"),
    readBytes: async (path, part) => {
      const read = part === undefined ? readWhole : readPart(part);
      const bytes = await at("readBytes", path, read);
      return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
    list: (path) => at("list", path, listFolder),
    async stat(path) {
      return lifetime.run("fs.stat", async () => {
        const resource = resourceText({ kind: "fs.read", path });
        const { path: real, problem } = await judge.find("fs.read", path);
        if (isMissing(problem)) return undefined;
        if (problem !== undefined) throw asHandleFailed(resource, problem);
        try {
          const stats = await look(real, resource);
          return { type: typeOf(stats), bytes: stats.size, modifiedMs: stats.mtimeMs };
        } catch (error) {
          if (isMissing(error)) return undefined;
          throw asHandleFailed(resource, error);
        }
      });
    },
  };
}

function readWhole(path: string, resource: string): Promise<Buffer> {
  return withReal({ path, flags: constants.O_RDONLY, resource }, async (file) => {
    const stats = await file.stat();
    refuseOthers(stats, resource);
    if (stats.size > maxFileBytes) throw handleFailed(resource, `it has more than ${maxFileBytes} bytes.`);
    return file.readFile();
  });
}

/** Reads a part of a file of any size. */
function readPart({ from, bytes }: ByteRange): typeof readWhole {
  return (path, resource) => {
    if (!Number.isSafeInteger(from) || from < 0 || !Number.isSafeInteger(bytes) || bytes < 0)
      throw handleFailed(resource, "a part has whole numbers `from` and `bytes`, from 0 on.");
    if (bytes > maxFileBytes) throw handleFailed(resource, `a part has at most ${maxFileBytes} bytes.`);
    return withReal({ path, flags: constants.O_RDONLY, resource }, async (file) => {
      const stats = await file.stat();
      refuseOthers(stats, resource);
      const part = Buffer.alloc(Math.max(0, Math.min(bytes, stats.size - from)));
      let filled = 0;
      while (filled < part.length) {
        const { bytesRead } = await file.read(part, filled, part.length - filled, from + filled);
        if (bytesRead === 0) break; // another program shortened the file meanwhile
        filled += bytesRead;
      }
      return part.subarray(0, filled);
    });
  };
}

function listFolder(path: string, resource: string): Promise<readonly DirectoryEntry[]> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY;
  return withReal({ path, flags, resource }, async (folder) => {
    const entries = await readdir(anchorOf(folder, path), { withFileTypes: true });
    return entries
      .map((entry) => ({ name: entry.name, type: typeOf(entry) }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  });
}

function look(path: string, resource: string): Promise<Stats> {
  if (pathOnly === undefined) return lstat(path);
  return withReal({ path, flags: pathOnly, resource }, (place) => place.stat());
}

function typeOf(entry: Pick<Dirent, "isFile" | "isDirectory">): DirectoryEntry["type"] {
  return entry.isFile() ? "file" : entry.isDirectory() ? "folder" : "other";
}

function isMissing(problem: unknown): boolean {
  const code = codeOf(problem);
  return code === "ENOENT" || code === "ENOTDIR";
}

import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, rename, rmdir, unlink } from "node:fs/promises";
import { resourceText } from "../../tool/capability.ts";
import type { WriteFiles } from "../../tool/handles.ts";
import { codeOf } from "../../util/thrown.ts";
import { asHandleFailed, handleFailed, type Lifetime } from "./lifetime.ts";
import { anchorOf, openReal, pathOnly, refuseLinked, refuseOthers } from "./open-file.ts";
import type { FileJudge } from "./real-path.ts";

/** A name in a folder that is held open, so that the folder cannot be swapped for another one meanwhile. */
interface Place {
  /** The path of the name through the open folder. */
  readonly path: string;
  /** A path of another name in the same folder. */
  readonly beside: (name: string) => string;
  readonly resource: string;
  readonly signal: AbortSignal;
}

/** The writing half of the file handle of one call. */
export function writeFiles(lifetime: Lifetime, judge: FileJudge): WriteFiles {
  function at(name: string, path: string, work: (place: Place) => Promise<void>): Promise<void> {
    return lifetime.run(`fs.${name}`, async (signal) => {
      const resource = resourceText({ kind: "fs.write", path });
      const found = await judge.findName("fs.write", path);
      let folder: FileHandle | undefined;
      try {
        if (found.problem !== undefined) throw asHandleFailed(resource, found.problem);
        folder = await openReal(
          found.folder,
          (pathOnly ?? constants.O_RDONLY) | constants.O_DIRECTORY,
          resource,
        );
        const anchor = anchorOf(folder, found.folder);
        const beside = (other: string): string => `${anchor}/${other}`;
        signal.throwIfAborted();
        await work({ path: beside(found.name), beside, resource, signal });
      } catch (error) {
        throw asHandleFailed(resource, error);
      } finally {
        await folder?.close();
      }
    });
  }
  return {
    writeText: (path, text) => at("writeText", path, (place) => replace(place, Buffer.from(text))),
    writeBytes: (path, bytes) => at("writeBytes", path, (place) => replace(place, bytes)),
    appendText: (path, text) => at("appendText", path, (place) => append(place, text)),
    makeFolder: (path) => at("makeFolder", path, makeFolder),
    remove: (path) => at("remove", path, remove),
  };
}

/** Writes a file beside the target and renames it: readers see the old bytes or the new ones, and a link at the name is replaced, not followed. */
async function replace({ path, beside, resource, signal }: Place, bytes: Uint8Array): Promise<void> {
  const before = await lstat(path).catch(undefinedIfMissing);
  if (before?.isSymbolicLink() === true)
    throw handleFailed(resource, "it is a link, and writing follows none.");
  if (before !== undefined) {
    refuseOthers(before, resource);
    refuseLinked(before, resource);
  }
  const draft = beside(`.writ-${process.getBuiltinModule("node:crypto").randomUUID()}`);
  const file = await open(
    draft,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    try {
      await file.writeFile(bytes);
      if (before !== undefined) await file.chmod(before.mode & 0o777);
    } finally {
      await file.close();
    }
    signal.throwIfAborted();
    await rename(draft, path);
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw error;
  }
}

async function append({ path, resource }: Place, text: string): Promise<void> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    const stats = await file.stat();
    refuseOthers(stats, resource);
    refuseLinked(stats, resource);
    await file.appendFile(text);
  } finally {
    await file.close();
  }
}

async function makeFolder({ path, resource }: Place): Promise<void> {
  try {
    await mkdir(path, 0o700);
  } catch (error) {
    if ((await lstat(path)).isDirectory()) return;
    throw asHandleFailed(resource, error);
  }
}

async function remove({ path }: Place): Promise<void> {
  const stats = await lstat(path);
  await (stats.isDirectory() ? rmdir(path) : unlink(path));
}

function undefinedIfMissing(error: unknown): undefined {
  if (codeOf(error) === "ENOENT") return undefined;
  throw error;
}

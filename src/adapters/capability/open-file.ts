import { constants, type Stats } from "node:fs";
import { type FileHandle, open, readlink, realpath, stat } from "node:fs/promises";
import { handleFailed } from "./lifetime.ts";

const isLinux = process.platform === "linux";

/** The flag that opens a file only to inspect it, without reading it or waking a device. Only Linux has it. */
export const pathOnly: number | undefined = isLinux ? 0o10000000 : undefined;

/**
 * Opens a real path and checks that exactly this file was opened: it follows no link at its end, a pipe does not make it wait, and on Linux the open file
 * itself names its path, so a folder that was meanwhile swapped for a link is detected. Elsewhere the path is resolved once more, which leaves a
 * short moment between.
 *
 * @throws WritError `handle-failed`, and the errors of the system
 */
export async function openReal(path: string, flags: number, resource: string): Promise<FileHandle> {
  const handle = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600);
  try {
    if ((await placeOf(handle, path)) === path) return handle;
    throw handleFailed(resource, "it was changed while it was opened.");
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Does work with a real path that is held open; {@link openReal} says how. */
export async function withReal<Value>(
  { path, flags, resource }: { readonly path: string; readonly flags: number; readonly resource: string },
  work: (handle: FileHandle) => Value | Promise<Value>,
): Promise<Value> {
  const handle = await openReal(path, flags, resource);
  try {
    return await work(handle);
  } finally {
    await handle.close();
  }
}

/** Refuses everything but a regular file: pipes, devices and sockets are not stored data. */
export function refuseOthers(stats: Stats, resource: string): void {
  if (stats.isDirectory()) throw handleFailed(resource, "it is a folder.");
  if (!stats.isFile()) throw handleFailed(resource, "it is no regular file.");
}

/** Refuses a file with several names, because another name may be outside of the grant. */
export function refuseLinked(stats: Stats, resource: string): void {
  if (stats.nlink > 1)
    throw handleFailed(resource, "the file has another name (a hard link), which may stand elsewhere.");
}

/** A name for an open folder that leads to this same folder, wherever its path leads meanwhile. */
export function anchorOf(folder: FileHandle, path: string): string {
  return isLinux ? `/proc/self/fd/${folder.fd}` : path;
}

async function placeOf(handle: FileHandle, path: string): Promise<string> {
  if (isLinux) return readlink(`/proc/self/fd/${handle.fd}`);
  const [real, opened] = await Promise.all([realpath(path), handle.stat()]);
  const found = await stat(real);
  return found.dev === opened.dev && found.ino === opened.ino ? real : "";
}

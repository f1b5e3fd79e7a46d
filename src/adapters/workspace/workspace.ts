import { posix } from "node:path";
import { isWritError, WritError } from "../../error/writ-error.ts";
import type { ReadFiles } from "../../tool/handles.ts";
import { nearest } from "../../util/nearest.ts";
import { type OneAfterAnother, oneAfterAnother } from "../one-after-another.ts";

/** The folder that tools work in, and the bounds that all of them share. */
export interface Workspace {
  /** The absolute path, without a slash at its end; empty for the whole machine. */
  readonly root: string;
  /** True if the contents of the files are the author's own data. */
  readonly trusted: boolean;
  /** The names of folders that are skipped. */
  readonly skip: ReadonlySet<string>;
  /** The most characters of one result. */
  readonly outputChars: number;
  readonly timeMs: number;
}

/**
 * The machine's path for one that a model wrote. It may lead anywhere: the handle judges it. `..` removes the name before it, even if that is a link, so
 * that the file is the one that policies and people read in the path.
 */
export function pathIn({ root }: Pick<Workspace, "root">, path: string): string {
  return posix.normalize(path.startsWith("/") ? path : `${root}/${path}`);
}

/** A path for a model: relative to the folder of the tools. */
export function shownPath({ root }: Pick<Workspace, "root">, path: string): string {
  return posix.relative(root || "/", pathIn({ root }, path)) || ".";
}

/**
 * Does work with one path. An error of a handle is told with the path as the model wrote it:
 * the model need not know the folder on the machine, and the targets of links.
 */
export async function told<Value>(path: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (isWritError(error, "capability-denied")) {
      const reason = `${String(error.data.reason)} Paths count from the folder of this tool, and lead out of it nowhere.`;
      throw new WritError("capability-denied", { resource: JSON.stringify(path), reason });
    }
    if (isWritError(error, "handle-failed"))
      throw new Error(`${JSON.stringify(path)}: ${String(error.data.reason)}`, { cause: error });
    throw error;
  }
}

/** Register: the changes of each file, by its path. Each call reads the file before it writes: of two at once, one change would be lost. */
export const inTurn: OneAfterAnother = oneAfterAnother();

/** A regular file that exists, or an error that helps to find it. */
export async function fileAt(
  workspace: Workspace,
  path: string,
  fs: Pick<ReadFiles, "stat" | "list">,
): Promise<{ readonly path: string; readonly bytes: number; readonly modifiedMs: number }> {
  const place = pathIn(workspace, path);
  const stats = await told(path, () => fs.stat(place));
  if (stats === undefined) throw new Error(await missing(workspace, path, fs));
  if (stats.type === "folder")
    throw new Error(`${JSON.stringify(path)} is a folder; list_files shows what is in it.`);
  if (stats.type === "other")
    throw new Error(`${JSON.stringify(path)} is a device, a pipe or a socket, and no file that can be read.`);
  return { path: place, ...stats };
}

/** A sentence about a path that leads to nothing, with a similar existing name. */
export async function missing(
  workspace: Workspace,
  path: string,
  fs: Pick<ReadFiles, "list">,
): Promise<string> {
  const folder = posix.dirname(pathIn(workspace, path));
  const entries = await fs.list(folder).catch(() => undefined);
  const there = `There is no ${JSON.stringify(path)}`;
  if (entries === undefined)
    return `${there}, and no folder ${JSON.stringify(shownPath(workspace, folder))}.`;
  const own = entries.find(({ name }) => name === posix.basename(path));
  if (own?.type === "other") return `${there}: it is a link that leads nowhere.`;
  const meant = nearest(
    posix.basename(path),
    entries.map(({ name }) => name),
  );
  return meant === undefined
    ? `${there}; find_files looks for names.`
    : `${there}; did you mean ${JSON.stringify(posix.join(posix.dirname(path), meant))}?`;
}

/** A number with its thousands separated. */
export function count(number: number, thing: string): string {
  const digits = String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
  return `${digits} ${thing}${number === 1 ? "" : "s"}`;
}

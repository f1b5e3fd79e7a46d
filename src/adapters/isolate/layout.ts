import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { WritError } from "../../error/writ-error.ts";
import type { Bind } from "./node-files.ts";

/** The files that a cell can see, including the module. */
export interface Layout {
  readonly binds: readonly Bind[];
  /** The module's address in the box. */
  readonly inBox: string;
  /** The module's address for a process outside of any box. */
  readonly onHost: string;
}

/** The module of a tool, with the other files it may see. */
export interface ModuleFiles {
  readonly name: string;
  readonly module: URL | string;
  readonly files: readonly (URL | string)[] | undefined;
}

/**
 * Places the module and its files in a box with the same relative paths as on the host, below one folder whose path
 * reveals nothing of the host.
 *
 *
 * @throws WritError `definition-invalid` if one is missing, or if the folder around the module holds more than a module's files.
 */
export function layoutOf({ name, module, files }: ModuleFiles): Layout {
  const modulePath = pathOf(name, module);
  const wanted =
    files === undefined ? [ownFolder(name, modulePath)] : files.map((file) => pathOf(name, file));
  const all = [...wanted, modulePath];
  const bound = all.filter(
    (path, index) =>
      !all.some((other, at) => at !== index && isInside(path, other) && (path !== other || at < index)),
  );
  const root = bound.map((path) => dirname(path)).reduce(commonFolder);
  const inBox = (path: string): string => `/tool/${relative(root, path).split(sep).join("/")}`;
  return {
    binds: bound.map((path) => ({ from: path, to: inBox(path) })),
    inBox: pathToFileURL(inBox(modulePath)).href,
    onHost: pathToFileURL(modulePath).href,
  };
}

function pathOf(name: string, file: URL | string): string {
  const isUrl = file instanceof URL || file.startsWith("file:");
  try {
    return realpathSync(isUrl ? fileURLToPath(file) : resolve(file));
  } catch (cause) {
    const reason = `there is no file ${String(file)}`;
    throw new WritError("definition-invalid", { where: `Isolated tool "${name}"`, reason }, { cause });
  }
}

/** The folder of the module. A folder that holds a program's other files is refused as a default. */
function ownFolder(name: string, modulePath: string): string {
  const folder = dirname(modulePath);
  if (
    statSync(modulePath).isFile() &&
    ![process.cwd(), homedir()].some((kept) => isInside(realpathSync(kept), folder))
  )
    return folder;
  const reason = `the folder ${folder} holds more than the tool: put the module into a folder of its own, or list what it needs in \`files\``;
  throw new WritError("definition-invalid", { where: `Isolated tool "${name}"`, reason });
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function commonFolder(one: string, other: string): string {
  let folder = one;
  while (!isInside(other, folder) && folder !== dirname(folder)) folder = dirname(folder); // another drive of Windows is inside of none
  return folder;
}

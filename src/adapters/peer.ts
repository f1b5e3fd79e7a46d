import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { WritError } from "../error/writ-error.ts";
import { codeOf } from "../util/thrown.ts";

/** An optional package, as the error about its absence names it. */
export interface Peer {
  readonly package: string;
  readonly purpose: string;
  /** The command that installs it. Default: `npm i` and its name. */
  readonly command?: string;
}

/** Imports an optional package. @throws WritError `peer-missing` if it is not installed */
export async function importPeer<Library>(load: () => Promise<Library>, peer: Peer): Promise<Library> {
  try {
    return await load();
  } catch (cause) {
    if (codeOf(cause) !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new WritError("peer-missing", { command: `npm i ${peer.package}`, ...peer }, { cause });
  }
}

/**
 * Imports a module of an optional package. Bundlers do not see its name, because it is not a literal, and leave it alone: the program looks for the package
 * when it runs. Rejects with the code `ERR_MODULE_NOT_FOUND` if it is absent.
 */
export async function importInstalled<Library>(specifier: string): Promise<Library> {
  const address = whereInstalled(specifier) ?? specifier;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names the types of the package that it asks for
  return (await import(
    /* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ address
  )) as Library;
}

/**
 * Finds a module of an optional package: beside writ, then beside the program that runs, then in the working folder. The last two matter for a
 * writ that is installed globally, or is part of a bundle.
 */
export function whereInstalled(specifier: string): string | undefined {
  try {
    return import.meta.resolve(specifier);
  } catch {
    const path = fromProject((require) => require.resolve(specifier));
    return path === undefined ? undefined : pathToFileURL(path).href;
  }
}

/** The version of an optional package; undefined if it is absent. Its folder is found as Node does it, because not every package exports its package.json. */
export function installedVersion(name: string): string | undefined {
  const path = fromProject((require) => {
    const found = require.resolve.paths(name)?.map((folder) => join(folder, name, "package.json")) ?? [];
    const here = found.find((each) => existsSync(each));
    if (here === undefined) throw Object.assign(new Error(name), { code: "MODULE_NOT_FOUND" });
    return here;
  });
  if (path === undefined) return undefined;
  const { version } = Object(JSON.parse(readFileSync(path, "utf8")));
  return typeof version === "string" ? version : undefined;
}

/** Imports an optional package synchronously, for code that cannot wait. Undefined if it is absent. */
export function requireInstalled(name: string): unknown {
  return fromProject((require): unknown => require(name));
}

/** Asks from beside writ, then from beside the program that runs, then from the working folder. In a bundle, writ has no place of its own. */
function fromProject<Value>(ask: (require: NodeJS.Require) => Value): Value | undefined {
  const own: string | undefined = import.meta.url;
  const places = [own, pathToFileURL(process.argv[1] ?? "program").href, pathToFileURL("program").href];
  for (const place of places.filter((each) => each !== undefined)) {
    try {
      return ask(createRequire(place));
    } catch (error) {
      if (codeOf(error) !== "MODULE_NOT_FOUND" && codeOf(error) !== "ERR_PACKAGE_PATH_NOT_EXPORTED")
        throw error;
    }
  }
  return undefined;
}

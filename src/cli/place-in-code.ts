import { isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of this package, from the source and from the build. */
const packageFolder = join(import.meta.dirname, "../..");
const framePattern = /(?:^|[\s(])(file:\/\/\S+?|(?:\/|[A-Za-z]:\\)[^\n]+?):(\d+)(?::(\d+))?(?=\)|$)/;

/**
 * The place in the user's code where an error arose, like `tools/add.ts:3:9`: the first place of its stack that
 * is neither in Node nor in a package. Undefined if the stack has none.
 */
export function placeInCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  for (const line of (error.stack ?? "").split("\n")) {
    const [, location, row, column] = framePattern.exec(line) ?? [];
    const path = location === undefined ? undefined : pathOf(location);
    if (path !== undefined && isUsers(path))
      return [shortPath(path), row, column].filter((part) => part !== undefined).join(":");
  }
  return undefined;
}

function pathOf(location: string): string | undefined {
  try {
    return location.startsWith("file:") ? fileURLToPath(location) : location;
  } catch {
    return undefined;
  }
}

function isUsers(path: string): boolean {
  if (path.includes(`${sep}node_modules${sep}`)) return false;
  return !["dist", "src"].some((folder) => path.startsWith(join(packageFolder, folder) + sep));
}

function shortPath(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith("..") || isAbsolute(fromHere) ? path : fromHere;
}

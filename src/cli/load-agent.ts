import { statSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Agent } from "../agent/agent.ts";
import { isWritError, messageOf, WritError } from "../error/writ-error.ts";

/** Any agent, whatever it takes and gives. */
export type AnyAgent = Agent;

/** @throws WritError `file-missing` when there is no file at the path. */
export function checkFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
    throw new WritError("file-missing", { path });
}

/**
 * Loads the agent that a file of the user exports: the default export, or the only export that is one. Node strips the types of TypeScript
 * itself; what the file imports is resolved in the user's project.
 *
 * @throws WritError `file-missing`, `agent-file-broken` (with the place in the user's code, and the user's error as cause), `agent-missing`,
 * `agent-ambiguous`
 */
export async function loadAgent(path: string): Promise<AnyAgent> {
  checkFile(path);
  return agentAmong(path, await importFile(path));
}

/** Tells agents from everything else a file may export, also those of another copy of the package. */
export function isAgent(value: unknown): value is AnyAgent {
  if (typeof value !== "function") return false;
  const { agentName, run, stream } = value as Partial<AnyAgent>;
  return typeof agentName === "string" && typeof run === "function" && typeof stream === "function";
}

async function importFile(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(resolve(path)).href)) as Record<string, unknown>;
  } catch (cause) {
    const place = placeOf(cause);
    const code = isWritError(cause) ? `[${cause.code}] ` : "";
    const reason = `${code}${firstLine(messageOf(cause))}${place === undefined ? "" : ` (${place})`}`;
    throw new WritError("agent-file-broken", { path, reason }, { cause });
  }
}

function agentAmong(path: string, exported: Readonly<Record<string, unknown>>): AnyAgent {
  if (isAgent(exported["default"])) return exported["default"];
  const names = Object.keys(exported);
  const agents = names.filter((name) => isAgent(exported[name]));
  if (new Set(agents.map((name) => exported[name])).size > 1) {
    throw new WritError("agent-ambiguous", { path, found: agents.join(", ") });
  }
  const only = exported[agents[0] ?? ""];
  if (isAgent(only)) return only;
  throw new WritError("agent-missing", { path, found: names.length === 0 ? "nothing" : names.join(", ") });
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

/** This package, from the source and from the build. */
const packageFolder = join(import.meta.dirname, "../..");
const framePattern = /(?:^|[\s(])(file:\/\/[^\s()]+?|(?:\/|[A-Za-z]:\\)[^()\n]+?):(\d+)(?::(\d+))?(?=\)|$)/;

/**
 * Where in the user's code an error arose, like `tools/add.ts:3:9`: the first place of its stack that is neither in Node nor in a package.
 * Undefined when the stack has none.
 */
export function placeOf(error: unknown): string | undefined {
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

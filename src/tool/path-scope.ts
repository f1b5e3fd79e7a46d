import { noScope, readScope, type ScopeReading } from "./scope-reading.ts";

/** Folders that belong to the machine: a grant of `/` does not cover them, only a grant that names them. */
const machineFolders: readonly string[] = ["/proc", "/sys", "/dev"];

const ofWindows = /^(?:[A-Za-z]:(?:[\\/]|$)|\\\\)/;

/** The reason to refuse a path of Windows, where no handle reaches files and programs; undefined for any other text. */
export function refusedWindows(path: string): ScopeReading | undefined {
  if (!ofWindows.test(path)) return undefined;
  return noScope("files and programs of Windows cannot be granted: start your program in WSL.");
}

const resolved = /^(?:\/(?!\.{1,2}(?:\/|$))[^/\0]+)+$/;

/** Reads an absolute path or a `file:` URL. Before a final `/**`, which changes nothing, all characters except `*` and `?` are literal. */
export function readPathScope(text: string): ScopeReading {
  if (text === "") return noScope("the path is missing.");
  const path = text.startsWith("file:") ? pathOfAddress(text) : text;
  if (path === undefined) return noScope("it is not a file: URL of this machine.");
  if (path.includes("\0")) return noScope("a path has no NUL in it.");
  const refused = refusedWindows(path === text ? path : path.slice(1));
  if (refused !== undefined) return refused;
  if (!path.startsWith("/")) return noScope("a path must be absolute, as in /data.");
  const parts = path.replace(/\/\*\*$/, "/").split("/");
  if (parts.includes("..")) return noScope("`..` cannot be granted: name the folder itself.");
  const kept = parts.filter((part) => part !== "" && part !== ".");
  if (kept.some((part) => /[*?]/.test(part)))
    return noScope("a folder is granted with all beneath it; `*` and `?` stand for nothing else.");
  return readScope(`/${kept.join("/")}`);
}

/** True if a path is the root or beneath it. A path that is not resolved is beneath nothing. */
export function pathCovers(root: string, path: string): boolean {
  if (!root.startsWith("/") || !isBeneath(path, root)) return false;
  if (path !== "/" && !resolved.test(path)) return false;
  const machine = machineFolders.find((folder) => isBeneath(path, folder));
  return machine === undefined || isBeneath(root, machine);
}

function isBeneath(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith("/") ? root : `${root}/`);
}

function pathOfAddress(text: string): string | undefined {
  const url = text.startsWith("file:///") ? URL.parse(text) : null;
  if (url === null || url.host !== "" || url.search !== "" || url.hash !== "") return undefined;
  // Parsing the URL drops `..` and encoded separators, so the written text must not have them.
  if (/(?:^|[/\\:])(?:\.|%2e){2}(?:[/\\]|$)|%2f|%5c|%00|\\/i.test(text)) return undefined;
  try {
    return decodeURIComponent(url.pathname);
  } catch {
    return undefined;
  }
}

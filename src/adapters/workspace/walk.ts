import { posix } from "node:path";
import type { ReadFiles } from "../../tool/handles.ts";
import { count, pathIn, shownPath, told, type Workspace } from "./workspace.ts";
import { unbroken } from "../../util/visible.ts";

/** A file that was found on a walk. */
export interface Found {
  /** The path, relative to the folder of the tools. */
  readonly path: string;
  readonly type: "file" | "folder" | "other";
}

/** A walk, with notes for the model about what it left out. */
export interface Walk {
  readonly entries: AsyncGenerator<Found, void, undefined>;
  /** Sentences about what was left out. */
  readonly notes: () => readonly string[];
}

const maxEntries = 50_000;
const maxDepth = 64;

/**
 * Walks through a folder and everything below it, in the order of names. It yields links but does not follow them, so that
 * a walk ends, and stays inside the folder. Folders below it that cannot be read are skipped.
 */
export function walk(workspace: Workspace, start: string, fs: Pick<ReadFiles, "list">): Walk {
  let looked = 0;
  let unread = 0;
  const skipped = new Set<string>();

  async function* entriesOf(folder: string, depth: number): AsyncGenerator<Found, void, undefined> {
    const entries =
      depth === 0
        ? await told(start, () => fs.list(pathIn(workspace, folder)))
        : await fs.list(pathIn(workspace, folder)).catch(() => undefined);
    if (entries === undefined) unread += 1;
    for (const { name, type } of entries ?? []) {
      if (looked >= maxEntries) return;
      looked += 1;
      const path = posix.join(folder, name);
      yield { path, type };
      if (type !== "folder") continue;
      if (workspace.skip.has(name)) skipped.add(unbroken(path));
      else if (depth < maxDepth) yield* entriesOf(path, depth + 1);
      else unread += 1;
    }
  }
  return {
    entries: entriesOf(shownPath(workspace, start), 0),
    notes: () => [
      ...(skipped.size === 0 ? [] : [`not looked into: ${shortList([...skipped])}`]),
      ...(unread === 0 ? [] : [`${count(unread, "folder")} could not be read`]),
      ...(looked < maxEntries ? [] : [`stopped after ${maxEntries} names: give a path to look in less`]),
    ],
  };
}

function shortList(paths: readonly string[]): string {
  return paths.length <= 5
    ? paths.join(", ")
    : `${paths.slice(0, 5).join(", ")} and ${paths.length - 5} more`;
}

import type { Dirent } from "node:fs";
import { readdir, realpath } from "node:fs/promises";
import { basename, isAbsolute, join, resolve, sep, win32 } from "node:path";
import type { LibrarySkill } from "../../agent/skill-library.ts";
import { WritError } from "../../error/writ-error.ts";
import { defaultMaxBytes, withNote } from "./knowledge-file.ts";
import type { Problem } from "./located.ts";
import { readText, reasonOf } from "./read-text.ts";
import { readSkillText } from "./skill-file.ts";

/** A folder that was read; without `skill` if something is wrong with it. */
export interface ReadFolder {
  readonly skill?: LibrarySkill;
  readonly problems: readonly Problem[];
  readonly notes: readonly Problem[];
}

const fileName = "SKILL.md";
const maxSkillBytes = 262_144;
// More than any usable skill has: a larger folder is probably something else.
const maxFiles = 200;
const maxDepth = 5;

/** Reads the folder of one skill. Its faults are returned as data. */
export async function readSkillFolder(folder: string): Promise<ReadFolder> {
  const file = join(folder, fileName);
  try {
    const root = await realpath(folder);
    const { text, leftOutBytes } = await readText(join(root, fileName), {
      maxBytes: maxSkillBytes,
      shown: file,
    });
    if (leftOutBytes > 0)
      return { problems: [{ file, reason: `is larger than ${maxSkillBytes} bytes` }], notes: [] };
    const { skill, problems, notes } = await readSkillText(text, {
      file,
      folderName: basename(resolve(folder)),
    });
    if (skill === undefined) return { problems, notes };
    const { files, cut } = await filesIn(root);
    const more = cut
      ? [{ file, reason: `only the first ${files.length} files of its folder are listed` }]
      : [];
    const readFile: LibrarySkill["readFile"] = (path, { signal }) => readInside(root, path, signal);
    return { skill: { ...skill, files, readFile }, problems, notes: [...notes, ...more] };
  } catch (error) {
    return { problems: [{ file, reason: reasonOf(error) }], notes: [] };
  }
}

/** The folders of skills in a folder: the folder itself if it has a SKILL.md, otherwise those directly in it that have one, by name. */
export async function skillFoldersIn(folder: string): Promise<readonly string[]> {
  if (await hasSkill(folder)) return [folder];
  const names = (await readdir(folder)).filter((name) => !isSkipped(name)).toSorted();
  const folders = names.map((name) => join(folder, name));
  const found = await Promise.all(folders.map(hasSkill));
  return folders.filter((_, index) => found[index]);
}

async function hasSkill(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).includes(fileName);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOTDIR" || code === "ENOENT") return false; // a file, or a link that leads nowhere
    throw error;
  }
}

function isSkipped(name: string): boolean {
  return name.startsWith(".") || name === "node_modules";
}

/** The regular files beside SKILL.md, as paths with `/`. Links are not followed. */
async function filesIn(root: string): Promise<{ readonly files: readonly string[]; readonly cut: boolean }> {
  const files: string[] = [];
  let cut = false;
  async function walk(folder: readonly string[]): Promise<void> {
    const entries: Dirent[] = await readdir(join(root, ...folder), { withFileTypes: true });
    for (const entry of entries.toSorted((a, b) => a.name.localeCompare(b.name, "en"))) {
      const path = [...folder, entry.name];
      if (isSkipped(entry.name) || path.join("/") === fileName) continue;
      if (files.length >= maxFiles || (entry.isDirectory() && path.length > maxDepth)) cut = true;
      else if (entry.isDirectory()) await walk(path);
      else if (entry.isFile()) files.push(path.join("/"));
    }
  }
  await walk([]);
  return { files, cut };
}

/** @throws WritError `file-unreadable`, also for a file outside of the folder, by its name or through a link */
async function readInside(root: string, path: string, signal: AbortSignal): Promise<string> {
  const refuse = (reason: string, cause?: unknown): WritError =>
    new WritError("file-unreadable", { path, reason }, { cause });
  if (isAbsolute(path) || win32.isAbsolute(path) || path.split(/[\\/]/).includes(".."))
    throw refuse("only files in the folder of the skill may be read");
  let place: string;
  try {
    place = await realpath(join(root, path));
  } catch (cause) {
    throw refuse(reasonOf(cause), cause);
  }
  if (!place.startsWith(root + sep)) throw refuse("it leads out of the folder of the skill");
  return withNote(await readText(place, { maxBytes: defaultMaxBytes, shown: path, signal }));
}

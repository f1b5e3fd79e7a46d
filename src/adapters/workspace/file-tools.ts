import { statSync } from "node:fs";
import "../check-node.ts";
import { checkShape, closed } from "../../error/check-shape.ts";
import { WritError } from "../../error/writ-error.ts";
import { anything, boolean, list, optional, type Shape, string } from "../../util/shape.ts";
import { fs } from "../../tool/capability.ts";
import type { Tool } from "../../tool/tool.ts";
import { editFileTool } from "./edit-file.ts";
import { findFilesTool } from "./find-files.ts";
import { listFilesTool } from "./list-files.ts";
import { readFileTool } from "./read-file.ts";
import { searchFilesTool } from "./search-files.ts";
import type { Workspace } from "./workspace.ts";
import { writeFileTool } from "./write-file.ts";

/** The settings of file tools. */
export interface FileToolsOptions {
  /** The folder, which must exist: an absolute path, or a `file:` address. The tools read and write nothing outside of it. */
  readonly root: string | URL;
  /** Adds tools that write. Default false. */
  readonly write?: boolean;
  /**
   * Declares the contents of the files as the author's own data. Default false: results are marked as untrusted, which restricts later
   * effects.
   */
  readonly trusted?: boolean;
  /**
   * The names of folders that finding and searching skip. They can still be listed and
   * read. Default `.git` and `node_modules`.
   */
  readonly skip?: readonly string[];
  /**
   * The most characters of one result. A longer one is cut, and the model is told how to continue. Default
   * 32,000.
   */
  readonly outputChars?: number;
  /** The milliseconds after which a call ends. Default 30,000. */
  readonly timeMs?: number;
}

/**
 * Makes the tools with which a model works on the files of one folder: `read_file`, `list_files`,
 * `find_files`, `search_files`, and with `write` also `write_file` and `edit_file`. They need `fs.read` of
 * the folder, and `fs.write` if they write: the agent grants both. Paths are relative to the folder; no link,
 * `..` or race leads out of it. Their errors tell the model what to do better.
 *
 * @throws WritError `capability-invalid` for a folder that is not absolute, `definition-invalid` also for a missing one
 * @example
 * ```ts
 * import { agent, fs } from "writ";
 * import { fileTools } from "writ/workspace";
 *
 * const root = "/srv/project";
 *
 * export const editor = agent({
 *   name: "editor",
 *   model: "ollama/qwen2.5:7b",
 *   tools: [fileTools({ root, write: true })],
 *   grants: [fs.read(root), fs.write(root)],
 * });
 * ```
 */
export function fileTools(options: FileToolsOptions): readonly Tool[] {
  checkShape("fileTools()", options, optionsShape);
  const { trusted = false, skip = [".git", "node_modules"], outputChars = 32_000, timeMs = 30_000 } = options;
  for (const [field, value] of Object.entries({ outputChars, timeMs }))
    checkBound("fileTools()", field, value);
  const { scope } = fs.read(options.root);
  checkRoot(scope);
  const workspace: Workspace = {
    root: scope === "/" ? "" : scope,
    trusted,
    skip: new Set(skip),
    outputChars,
    timeMs,
  };
  return [
    readFileTool(workspace),
    listFilesTool(workspace),
    findFilesTool(workspace),
    searchFilesTool(workspace),
    ...(options.write === true ? [writeFileTool(workspace), editFileTool(workspace)] : []),
  ];
}

const fields: { readonly [Field in keyof Required<FileToolsOptions>]: Shape<unknown> } = {
  root: anything,
  write: optional(boolean),
  trusted: optional(boolean),
  skip: optional(list(string, "a list of names")),
  outputChars: anything,
  timeMs: anything,
};
const optionsShape = closed(fields);

/** Checks that the folder exists: no tool makes it, so a missing one is a mistake. @throws WritError `definition-invalid` */
function checkRoot(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  const there = found === undefined ? "nothing is there" : "no folder is there";
  const reason = `\`root\` must be a folder, and ${there}: ${JSON.stringify(path)}.`;
  throw new WritError("definition-invalid", { where: "fileTools()", reason });
}

/** @throws WritError `definition-invalid` */
export function checkBound(where: string, field: string, value: number): void {
  if (Number.isFinite(value) && value >= 1) return;
  throw new WritError("definition-invalid", { where, reason: `\`${field}\` must be a number from 1 on.` });
}

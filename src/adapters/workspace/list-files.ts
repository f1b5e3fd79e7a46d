import { posix } from "node:path";
import { fs as files } from "../../tool/capability.ts";
import type { DirectoryEntry, ReadFiles } from "../../tool/handles.ts";
import { tool, type Tool } from "../../tool/tool.ts";
import { count, missing, pathIn, told, type Workspace } from "./workspace.ts";
import { unbroken } from "../../util/visible.ts";

const page = 200;

interface ListArguments {
  readonly path?: string;
  readonly offset?: number;
}

/** The tool that shows what is in one folder. */
export function listFilesTool(workspace: Workspace): Tool {
  return tool({
    name: "list_files",
    description: "List what is in a folder: folders end with /, files have their size in bytes.",
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", description: "The folder. Default: the one that all paths count from" },
        offset: { type: "integer", minimum: 0, description: "How many entries to leave out. Default 0" },
      },
      additionalProperties: false,
    },
    effect: "read",
    trusted: workspace.trusted,
    timeoutMs: workspace.timeMs,
    needs: [files.read(workspace.root || "/")],
    execute: (args, { fs }) => listed(workspace, args as ListArguments, fs),
  });
}

async function listed(
  workspace: Workspace,
  { path = ".", offset = 0 }: ListArguments,
  fs: ReadFiles,
): Promise<string> {
  const folder = pathIn(workspace, path);
  const stats = await told(path, () => fs.stat(folder));
  if (stats === undefined) throw new Error(await missing(workspace, path, fs));
  if (stats.type !== "folder")
    throw new Error(`${JSON.stringify(path)} is no folder; read_file reads files.`);
  const entries = await told(path, () => fs.list(folder));
  const asked = entries.slice(offset, offset + page);
  const sizes = await Promise.all(asked.map((entry) => sizeOf(entry, posix.join(folder, entry.name), fs)));
  const lines = asked.map((entry, index) => `${unbroken(entry.name)}${sizes[index] ?? ""}`);
  const shown = firstOf(lines, workspace.outputChars);
  const left = entries.length - offset - shown.length;
  return [
    ...shown,
    entries.length === 0
      ? "[the folder is empty]"
      : left > 0
        ? `[${left} more; go on with offset ${offset + shown.length}]`
        : `[${count(entries.length, "name")} in all]`,
  ].join("\n");
}

/** The first lines that fit into this many characters, at least one. */
function firstOf(lines: readonly string[], outputChars: number): readonly string[] {
  let chars = 0;
  const end = lines.findIndex((line, index) => (chars += line.length + 1) > outputChars + 1 && index > 0);
  return end === -1 ? lines : lines.slice(0, end);
}

async function sizeOf({ type }: DirectoryEntry, path: string, fs: ReadFiles): Promise<string> {
  if (type === "folder") return "/";
  if (type === "other") return " (a link, or no regular file)";
  const stats = await fs.stat(path).catch(() => undefined);
  return stats === undefined ? "" : ` (${stats.bytes})`;
}

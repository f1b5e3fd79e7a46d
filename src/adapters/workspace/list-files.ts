import { posix } from "node:path";
import { fs as files } from "../../tool/capability.ts";
import type { DirectoryEntry, ReadFiles } from "../../tool/handles.ts";
import { tool, type Tool } from "../../tool/tool.ts";
import { count, missing, pathIn, told, type Workspace } from "./workspace.ts";

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
  const shown = entries.slice(offset, offset + page);
  const sizes = await Promise.all(shown.map((entry) => sizeOf(entry, posix.join(folder, entry.name), fs)));
  const left = entries.length - offset - shown.length;
  return [
    ...shown.map((entry, index) => `${entry.name}${sizes[index] ?? ""}`),
    entries.length === 0
      ? "[the folder is empty]"
      : left > 0
        ? `[${left} more; go on with offset ${offset + shown.length}]`
        : `[${count(entries.length, "name")} in all]`,
  ].join("\n");
}

async function sizeOf({ type }: DirectoryEntry, path: string, fs: ReadFiles): Promise<string> {
  if (type === "folder") return "/";
  if (type === "other") return " (a link, or no regular file)";
  const stats = await fs.stat(path).catch(() => undefined);
  return stats === undefined ? "" : ` (${stats.bytes})`;
}

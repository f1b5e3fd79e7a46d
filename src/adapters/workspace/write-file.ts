import { posix } from "node:path";
import { fs as files } from "../../tool/capability.ts";
import type { Handles } from "../../tool/handles.ts";
import { tool, type Tool } from "../../tool/tool.ts";
import { count, inTurn, pathIn, shownPath, told, type Workspace } from "./workspace.ts";

interface WriteArguments {
  readonly path: string;
  readonly content: string;
  readonly replace?: boolean;
}

/** The tool that writes a whole file. Its result is its own count, and has no text of a stranger. */
export function writeFileTool(workspace: Workspace): Tool {
  const root = workspace.root || "/";
  return tool({
    name: "write_file",
    description:
      "Write a whole text file, with the folders above it. A file that is there already is only replaced when replace is true; to change a part of one, use edit_file.",
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", minLength: 1, description: "The path of the file, like src/main.ts" },
        content: { type: "string", description: "All that is to stand in the file" },
        replace: { type: "boolean", description: "True: replace a file that is there. Default false" },
      },
      required: ["path", "content"],
      additionalProperties: false,
    },
    effect: "write",
    trusted: true,
    timeoutMs: workspace.timeMs,
    needs: [files.read(root), files.write(root)],
    parameters: { path: { role: "target", type: "path" }, content: "content", replace: "content" },
    execute(args, { fs }) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema above parsed them
      const write = args as unknown as WriteArguments;
      return inTurn(pathIn(workspace, write.path), () => written(workspace, write, fs));
    },
  });
}

async function written(
  workspace: Workspace,
  { path, content, replace = false }: WriteArguments,
  fs: Handles["fs"],
): Promise<string> {
  const name = shownPath(workspace, path);
  const place = pathIn(workspace, name);
  const before = await told(path, () => fs.stat(place));
  if (before !== undefined && before.type !== "file") throw new Error(`${JSON.stringify(path)} is no file.`);
  const bytes = Buffer.from(content);
  if (before !== undefined && before.bytes === bytes.length) {
    const old = await told(path, () => fs.readBytes(place));
    if (bytes.equals(old)) return `${name} has this content already: nothing was changed.`;
  }
  if (before !== undefined && !replace)
    throw new Error(
      `${JSON.stringify(path)} is there already, with ${count(before.bytes, "byte")}. It was not changed: change parts of it with edit_file, or write it whole with "replace": true.`,
    );
  if (before === undefined) await makeFolders(workspace, name, fs);
  await told(path, () => fs.writeText(place, content));
  const lines = content === "" ? 0 : content.replace(/\n$/, "").split("\n").length;
  const how = before === undefined ? "a new file" : `in the place of ${count(before.bytes, "byte")}`;
  return `Wrote ${name}: ${count(lines, "line")}, ${count(bytes.length, "byte")}, ${how}.`;
}

/** Makes the folders above a file; the handle refuses those outside of the workspace. */
async function makeFolders(workspace: Workspace, name: string, fs: Handles["fs"]): Promise<void> {
  if (name === ".." || name.startsWith("../")) return;
  const folders = posix.dirname(name).split("/");
  for (const [index, folder] of folders.entries()) {
    if (folder === ".") continue;
    const path = folders.slice(0, index + 1).join("/");
    await told(path, () => fs.makeFolder(pathIn(workspace, path)));
  }
}

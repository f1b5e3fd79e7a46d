import { fs as files } from "../../tool/capability.ts";
import type { ReadFiles } from "../../tool/handles.ts";
import { tool, type Tool } from "../../tool/tool.ts";
import { globMatcher } from "./patterns.ts";
import { pageOf } from "./page.ts";
import { walk } from "./walk.ts";
import type { Workspace } from "./workspace.ts";
import { unbroken } from "../../util/visible.ts";

interface FindArguments {
  readonly glob: string;
  readonly path?: string;
  readonly offset?: number;
}

/** The tool that finds files by their names. */
export function findFilesTool(workspace: Workspace): Tool {
  return tool({
    name: "find_files",
    description:
      "Find files and folders by a glob: * and ? within a name, ** for any folders, {a,b} for either. Without a slash it is held to the name, in any folder; with one to the path from the top, or from `path`. Links are not followed.",
    inputSchema: {
      type: "object",
      properties: {
        glob: {
          type: "string",
          minLength: 1,
          description: "Like *.ts, src/**/*.test.ts or {README,LICENSE}*",
        },
        path: { type: "string", description: "The folder to look in. Default: all" },
        offset: { type: "integer", minimum: 0, description: "How many finds to leave out. Default 0" },
      },
      required: ["glob"],
      additionalProperties: false,
    },
    effect: "read",
    trusted: workspace.trusted,
    timeoutMs: workspace.timeMs,
    needs: [files.read(workspace.root || "/")],
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema above parsed them
    execute: (args, { fs }) => found(workspace, args as unknown as FindArguments, fs),
  });
}

async function found(
  workspace: Workspace,
  { glob, path = ".", offset = 0 }: FindArguments,
  fs: ReadFiles,
): Promise<string> {
  const fits = await globMatcher(glob, workspace, path);
  const walking = walk(workspace, path, fs);
  const page = pageOf(offset, workspace.outputChars);
  for await (const entry of walking.entries) {
    const shown = entry.type === "folder" ? `${entry.path}/` : entry.path;
    if (!fits(entry.path) && !(glob.endsWith("/") && fits(shown))) continue;
    if (!page.add(unbroken(shown))) break;
  }
  return page.text(walking.notes());
}

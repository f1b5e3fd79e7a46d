import { isWritError } from "../../error/writ-error.ts";
import { fs as files } from "../../tool/capability.ts";
import type { ReadFiles } from "../../tool/handles.ts";
import { tool, type Tool } from "../../tool/tool.ts";
import { cutText, eachLine, keptBytes, type Line } from "./lines.ts";
import { pageOf, type Page } from "./page.ts";
import { finderOf, type Finder, globMatcher } from "./patterns.ts";
import { walk } from "./walk.ts";
import { count, missing, pathIn, shownPath, told, type Workspace } from "./workspace.ts";
import { unbroken } from "../../util/visible.ts";

/** The most bytes that a search reads. */
const mostBytes = 500_000_000;
/** The characters of a long line that are shown on each side of a match. */
const aroundChars = 200;

interface SearchArguments {
  readonly text: string;
  readonly pattern?: boolean;
  readonly ignoreCase?: boolean;
  readonly path?: string;
  readonly glob?: string;
  readonly offset?: number;
}

/** The tool that finds lines by their content. */
export function searchFilesTool(workspace: Workspace): Tool {
  return tool({
    name: "search_files",
    description:
      "Search for a text in the lines of files. Each find is path:line: text. Binary files are passed over, links are not followed.",
    inputSchema: {
      type: "object",
      properties: {
        text: { type: "string", minLength: 1, description: "What to look for, letter by letter" },
        pattern: { type: "boolean", description: "True: the text is a regular expression. Default false" },
        ignoreCase: { type: "boolean", description: "Default false" },
        path: { type: "string", description: "The folder or file to look in. Default: all" },
        glob: { type: "string", minLength: 1, description: "Only in files that fit, like *.ts or src/**" },
        offset: { type: "integer", minimum: 0, description: "How many finds to leave out. Default 0" },
      },
      required: ["text"],
      additionalProperties: false,
    },
    effect: "read",
    trusted: workspace.trusted,
    timeoutMs: workspace.timeMs,
    needs: [files.read(workspace.root || "/")],
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema above parsed them
    execute: (args, { fs }) => searched(workspace, args as unknown as SearchArguments, fs),
  });
}

/** A search under way. */
interface Search {
  readonly workspace: Workspace;
  readonly fs: ReadFiles;
  readonly find: Finder;
  readonly page: Page;
  /** The bytes that may still be read. */
  leftBytes: number;
  binary: number;
  unread: number;
  /** The number of lines without a find of which only the beginning was searched. */
  long: number;
}

async function searched(workspace: Workspace, args: SearchArguments, fs: ReadFiles): Promise<string> {
  const { text, pattern = false, ignoreCase = false, path = ".", glob, offset = 0 } = args;
  if (!pattern && /[\r\n]/.test(text))
    throw new Error("The text is looked for in single lines: leave line breaks out.");
  const find = await finderOf({ text, isPattern: pattern, ignoresCase: ignoreCase });
  const fits = glob === undefined ? () => true : await globMatcher(glob, workspace, path);
  const page = pageOf(offset, workspace.outputChars);
  const search: Search = { workspace, fs, find, page, leftBytes: mostBytes, binary: 0, unread: 0, long: 0 };
  const start = await told(path, () => fs.stat(pathIn(workspace, path)));
  if (start === undefined) throw new Error(await missing(workspace, path, fs));
  if (start.type !== "folder") {
    await told(path, () => searchFile(search, shownPath(workspace, path)));
    return page.text(notesOf(search));
  }
  const walking = walk(workspace, path, fs);
  for await (const entry of walking.entries) {
    if (entry.type !== "file" || !fits(entry.path)) continue;
    const goesOn = await searchFile(search, entry.path).catch((error: unknown) => passOver(search, error));
    if (!goesOn) break;
  }
  return page.text([...notesOf(search), ...walking.notes()]);
}

/** Continues the search after a file that disappeared, or that may not be read. */
function passOver(search: Search, error: unknown): true {
  if (!isWritError(error, "handle-failed") && !isWritError(error, "capability-denied")) throw error;
  search.unread += 1;
  return true;
}

/** Searches one file; false if the search can stop, or has no room left. */
async function searchFile(search: Search, path: string): Promise<boolean> {
  const { fs, find, page, workspace } = search;
  const place = pathIn(workspace, path);
  const stats = await fs.stat(place);
  if (stats === undefined) return true;
  const bytes = Math.min(stats.bytes, search.leftBytes);
  search.leftBytes -= bytes;
  let hasRoom = true;
  const visited = await eachLine({ path: place, bytes, fs }, (line) => {
    const at = find(line.text);
    if (at >= 0) hasRoom = page.add(`${unbroken(path)}:${line.number}: ${partOf(line, at)}`);
    else if (line.leftOut > 0) search.long += 1;
    return hasRoom;
  });
  if (visited.type === "binary") search.binary += 1;
  return hasRoom && search.leftBytes > 0;
}

function partOf({ text }: Line, at: number): string {
  if (text.length <= 2 * aroundChars) return text.trim();
  const from = Math.max(0, at - aroundChars);
  const to = at + aroundChars;
  const part = cutText(text, from, to).trim();
  return `${from > 0 ? "…" : ""}${part}${to < text.length ? "…" : ""}`;
}

function notesOf({ leftBytes, binary, unread, long }: Search): readonly string[] {
  return [
    ...(binary === 0 ? [] : [`${count(binary, "binary file")} passed over`]),
    ...(unread === 0 ? [] : [`${count(unread, "file")} could not be read`]),
    ...(long === 0
      ? []
      : [`of ${count(long, "very long line")} only the first ${keptBytes} bytes were looked at`]),
    ...(leftBytes > 0 ? [] : [`stopped after ${mostBytes} bytes: give a path or a glob to look in less`]),
  ];
}

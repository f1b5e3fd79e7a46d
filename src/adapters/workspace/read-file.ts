import { fs as files } from "../../tool/capability.ts";
import type { ReadFiles } from "../../tool/handles.ts";
import { tool, type Tool } from "../../tool/tool.ts";
import { cutText, eachLine, type Line } from "./lines.ts";
import { count, fileAt, told, type Workspace } from "./workspace.ts";

const usualLines = 300;
const mostLines = 5_000;
/** The most characters of a line that are shown. */
const lineChars = 2_000;
/** The size up to which a file is read to its end, to count its lines. */
const countedBytes = 10_000_000;

interface ReadArguments {
  readonly path: string;
  readonly offset?: number;
  readonly limit?: number;
}

/** The tool that shows lines of a text file with their numbers. */
export function readFileTool(workspace: Workspace): Tool {
  return tool({
    name: "read_file",
    description:
      "Read lines of a text file. Each line begins with its number and a tab, which are no part of the file. The last line says how to read on.",
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", description: "The path of the file, like src/main.ts" },
        offset: { type: "integer", minimum: 1, description: "The first line, counted from 1. Default 1" },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: mostLines,
          description: `The most lines. Default ${usualLines}`,
        },
      },
      required: ["path"],
      additionalProperties: false,
    },
    effect: "read",
    trusted: workspace.trusted,
    timeoutMs: workspace.timeMs,
    needs: [files.read(workspace.root || "/")],
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema above parsed them
    execute: (args, { fs }) => readLines(workspace, args as unknown as ReadArguments, fs),
  });
}

async function readLines(
  workspace: Workspace,
  { path, offset = 1, limit = usualLines }: ReadArguments,
  fs: ReadFiles,
): Promise<string> {
  const file = await fileAt(workspace, path, fs);
  const shown: string[] = [];
  let chars = 0;
  let isFull = false;
  let isUtf8 = true;
  const take = (line: Line): void => {
    const text = numbered(line);
    isFull = shown.length > 0 && chars + text.length > workspace.outputChars;
    if (isFull) return;
    isUtf8 &&= line.isUtf8;
    chars += text.length + 1;
    shown.push(text);
    isFull = shown.length >= limit;
  };
  const visited = await told(path, () =>
    eachLine({ ...file, fs }, (line) => {
      if (line.number >= offset && !isFull) take(line);
      return !isFull || file.bytes <= countedBytes;
    }),
  );
  if (visited.type === "binary")
    return `[${path} is a binary file of ${count(file.bytes, "byte")}: it has no lines to read]`;
  const { lines, leftBytes } = visited;
  if (file.bytes === 0) return `[${path} is empty]`;
  if (shown.length === 0)
    throw new Error(`${JSON.stringify(path)} has ${count(lines, "line")}: there is no line ${offset}.`);
  const last = offset + shown.length - 1;
  const after = await told(path, () => fs.stat(file.path));
  return [
    ...shown,
    leftBytes > 0
      ? `[lines ${offset} to ${last}; about ${count(leftBytes, "byte")} more; read on with offset ${last + 1}]`
      : last < lines
        ? `[lines ${offset} to ${last} of ${lines}; read on with offset ${last + 1}]`
        : `[lines ${offset} to ${last} of ${lines}: the end of the file]`,
    ...(isUtf8 ? [] : ["[the file is not UTF-8: � stands for what cannot be shown]"]),
    ...(after?.modifiedMs === file.modifiedMs && after.bytes === file.bytes
      ? []
      : ["[the file was changed while it was read: its parts may not fit together]"]),
  ].join("\n");
}

function numbered({ number, text, leftOut }: Line): string {
  if (text.length <= lineChars && leftOut === 0) return `${number}\t${text}`;
  const part = cutText(text, 0, lineChars);
  const left = Buffer.byteLength(text) - Buffer.byteLength(part) + leftOut;
  return `${number}\t${part}… [${count(left, "more byte")} in this line]`;
}

import { isUtf8 } from "node:buffer";
import { fs as files } from "../../tool/capability.ts";
import type { Handles } from "../../tool/handles.ts";
import { tool, type Tool } from "../../tool/tool.ts";
import { count, fileAt, inTurn, pathIn, shownPath, told, type Workspace } from "./workspace.ts";

const mostBytes = 10_000_000;

interface EditArguments {
  readonly path: string;
  readonly old: string;
  readonly new: string;
  readonly all?: boolean;
}

/**
 * The tool that replaces one text of a file by another. Its result is its own count, and has no text of a
 * stranger.
 */
export function editFileTool(workspace: Workspace): Tool {
  const root = workspace.root || "/";
  return tool({
    name: "edit_file",
    description:
      "Replace a text in a file. The old text must stand in the file exactly so, and only once: give so many lines around it. It has no line numbers of read_file.",
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", minLength: 1, description: "The path of the file, like src/main.ts" },
        old: {
          type: "string",
          minLength: 1,
          description: "The text to replace, with its spaces and line breaks",
        },
        new: { type: "string", description: "The text in its place" },
        all: { type: "boolean", description: "True: replace it wherever it stands. Default false" },
      },
      required: ["path", "old", "new"],
      additionalProperties: false,
    },
    effect: "write",
    trusted: true,
    timeoutMs: workspace.timeMs,
    needs: [files.read(root), files.write(root)],
    parameters: {
      path: { role: "target", type: "path" },
      old: "content",
      new: "content",
      all: "content",
    },
    execute(args, { fs }) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema above parsed them
      const edit = args as unknown as EditArguments;
      return inTurn(pathIn(workspace, edit.path), () => edited(workspace, edit, fs));
    },
  });
}

async function edited(workspace: Workspace, args: EditArguments, fs: Handles["fs"]): Promise<string> {
  const { path } = args;
  if (args.old === args.new) throw new Error("The old and the new text are the same: nothing would change.");
  const file = await fileAt(workspace, path, fs);
  const shown = JSON.stringify(path);
  if (file.bytes > mostBytes)
    throw new Error(`${shown} has more than ${count(mostBytes, "byte")}: it is too large to edit.`);
  const bytes = await told(path, () => fs.readBytes(file.path));
  if (bytes.includes(0) || !isUtf8(bytes))
    throw new Error(`${shown} is no text in UTF-8: an edit would break what stands in it.`);
  const text = Buffer.from(bytes).toString("utf8");
  const { old, new: replacement } = inBreaksOf(text, args);
  const apart = placesOf(text, old);
  const places = args.all === true ? apart : withOverlap(apart, text, old);
  if (places.length === 0) throw new Error(notThere(text, args));
  const lines = places.slice(0, 10).map((place) => lineAt(text, place));
  if (places.length > 1 && args.all !== true)
    throw new Error(
      `The text stands ${places.length} times in ${shown}: in the lines ${lines.join(", ")}${places.length > 10 ? " and more" : ""}. Give more of what is around it, so that it stands there once, or set "all": true.`,
    );
  // Another program may have written meanwhile, and its work would be lost.
  const now = await told(path, () => fs.stat(file.path));
  if (now?.modifiedMs !== file.modifiedMs || now.bytes !== file.bytes)
    throw new Error(`${shown} was changed by somebody else just now. Read it again.`);
  await told(path, () => fs.writeText(file.path, text.split(old).join(replacement)));
  const where = places.length === 1 ? `in line ${lines.join(", ")}` : `in ${count(places.length, "place")}`;
  return `Replaced it ${where} of ${shownPath(workspace, path)}.`;
}

/**
 * The two texts with the line breaks of the file: models write \n, and each line of a file may end with \r\n.
 */
function inBreaksOf(text: string, args: EditArguments): Pick<EditArguments, "old" | "new"> {
  const isWindows = text.includes("\r\n") && !/(?<!\r)\n/.test(text);
  if (!isWindows) return args;
  return { old: windowsBreaks(args.old), new: windowsBreaks(args.new) };
}

function windowsBreaks(text: string): string {
  return text.replaceAll(/\r?\n/g, "\r\n");
}

/** The places of a text, none overlapping another. */
function placesOf(text: string, old: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(old); at !== -1; at = text.indexOf(old, at + old.length)) places.push(at);
  return places;
}

/** The places, with an overlapping one added to a single place, because the text then occurs twice. */
function withOverlap(places: readonly number[], text: string, old: string): readonly number[] {
  const [first] = places;
  const other = first === undefined || places.length > 1 ? -1 : text.indexOf(old, first + 1);
  return other === -1 ? places : [...places, other];
}

function lineAt(text: string, place: number): number {
  return text.slice(0, place).split("\n").length;
}

/**
 * The reason why a text was not found. A line with other spaces is the most common
 * mistake of models.
 */
function notThere(text: string, { path, old }: EditArguments): string {
  const wanted = old.split("\n").map(withoutSpaces);
  while (wanted.length > 0 && wanted[0] === "") wanted.shift();
  while (wanted.at(-1) === "") wanted.pop();
  const lines = text.split("\n").map(withoutSpaces);
  const at =
    wanted.length === 0
      ? -1
      : lines.findIndex((_, index) => wanted.every((line, after) => lines[index + after] === line));
  const there = `The text does not stand in ${JSON.stringify(path)}`;
  if (withoutReturns(text).includes(withoutReturns(old)))
    return `${there} exactly so: its line breaks are others there. Replace one line of it after the other.`;
  return at === -1
    ? `${there}: read the file, and copy the text from it without line numbers.`
    : `${there} exactly so: in line ${at + 1} it stands with other spaces. Copy it from there.`;
}

function withoutReturns(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

function withoutSpaces(line: string): string {
  return line.trim().replaceAll(/\s+/g, " ");
}

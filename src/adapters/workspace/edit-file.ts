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
  const old = patternOf(args.old);
  const apart = Array.from(text.matchAll(old), ({ index }) => index);
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
  await told(path, () => fs.writeText(file.path, replaced(text, old, args.new)));
  const where = places.length === 1 ? `in line ${lines.join(", ")}` : `in ${count(places.length, "place")}`;
  return `Replaced it ${where} of ${shownPath(workspace, path)}.`;
}

/** The old text, each line break of it either one: models write \n, and a line of a file may end with \r\n. */
function patternOf(old: string): RegExp {
  const lines = old.split(/\r?\n/).map((line) => line.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
  return new RegExp(lines.join(String.raw`\r?\n`), "g");
}

/** The text after the edit. New lines end as the text that they replace does, or the line that it stands in. */
function replaced(text: string, old: RegExp, by: string): string {
  const last = text.lastIndexOf("\n");
  let next = text.indexOf("\n");
  return text.replaceAll(old, (_found, index: number) => {
    if (next !== -1 && next < index) next = text.indexOf("\n", index);
    const at = next === -1 ? last : next;
    return text[at - 1] === "\r" ? by.replaceAll(/\r?\n/g, "\r\n") : by;
  });
}

/** The places, with an overlapping one added to a single place, because the text then occurs twice. */
function withOverlap(places: readonly number[], text: string, old: RegExp): readonly number[] {
  const [first] = places;
  if (first === undefined || places.length > 1) return places;
  old.lastIndex = first + 1;
  const other = old.exec(text);
  return other === null ? places : [...places, other.index];
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
  return at === -1
    ? `${there}: read the file, and copy the text from it without line numbers.`
    : `${there} exactly so: in line ${at + 1} it stands with other spaces. Copy it from there.`;
}

function withoutSpaces(line: string): string {
  return line.trim().replaceAll(/\s+/g, " ");
}

import type { ToolCall } from "../message/message.ts";
import type { AllowList } from "../policy/allow-list.ts";
import { mapAt } from "../schema/keywords.ts";
import type { Tool } from "../tool/tool.ts";
import { asObject, type Json, type JsonObject, parseJson } from "../util/json.ts";
import { propertySchema } from "./bundle-schemas.ts";
import { terminal } from "./grammar/grammar.ts";
import { matchTool } from "./match-tool.ts";
import { endOfObject, oneObject } from "./one-object.ts";

/**
 * A call on one line. A tool with a notation, `{a} + {b}`, is written that way; any other as its name and its arguments as JSON.
 */
export function callLine(name: string, args: Json, allowed: AllowList): string {
  const notation = allowed.tools.get(name)?.notation;
  if (notation === undefined) return `${name} ${JSON.stringify(args)}`;
  const given = asObject(args);
  return piecesOf(notation)
    .map(({ field, text }) => (field === undefined ? text : JSON.stringify(given[field] ?? null)))
    .join("");
}

/** A call on one line up to the value of a field, with the values that are already known. */
export function callBeginning({ name, notation = "" }: Tool, known: JsonObject, field: string): string {
  const pieces = piecesOf(notation);
  const at = pieces.findIndex((piece) => piece.field === field);
  const before = pieces.slice(0, Math.max(0, at));
  if (at >= 0 && before.every((piece) => piece.field === undefined || known[piece.field] !== undefined))
    return before
      .map(({ field: own, text }) => (own === undefined ? text : JSON.stringify(known[own])))
      .join("");
  const given = Object.entries(known).map(
    ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)},`,
  );
  return `${name} {${given.join("")}${JSON.stringify(field)}:`;
}

/** A tool in the head of a prompt: `a + b  (add: Add two numbers)`. */
export function headLine(tool: Tool): string {
  const shape =
    tool.notation?.replaceAll(/\{(\w+)\}/g, "$1") ??
    `${tool.name} {${Object.keys(propertiesOf(tool)).join(", ")}}`;
  return `${shape}  (${tool.name}: ${tool.description})`;
}

/** The schemas of the open parts of a tool's line: each argument in its notation, or its arguments as a whole. */
export function argumentSchemas(tool: Tool): readonly JsonObject[] {
  if (tool.notation === undefined) return [tool.input.jsonSchema];
  const { jsonSchema } = tool.input;
  return piecesOf(tool.notation).flatMap(({ field }) =>
    field === undefined ? [] : [propertySchema(jsonSchema, [field])],
  );
}

/** The grammar of a line of the tool, from the expressions of {@link argumentSchemas}. */
export function lineExpression(tool: Tool, expressions: readonly string[]): string {
  if (tool.notation === undefined) return `${terminal(`${tool.name} `)} ${expressions[0] ?? "object"}`;
  let next = 0;
  return piecesOf(tool.notation)
    .map((piece) => (piece.field === undefined ? terminal(piece.text) : (expressions[next++] ?? "value")))
    .join(" ");
}

/**
 * The call in a line, or undefined if it has none. A model without a grammar may go on after a `=` with a result of its own, which is
 * ignored: the runtime gives the result. Never throws.
 */
export function readCallLine(
  line: string,
  allowed: AllowList,
): Pick<ToolCall, "name" | "arguments"> | undefined {
  const text = line.trim();
  for (const tool of allowed.tools.values()) {
    const args = tool.notation === undefined ? undefined : readNotation(tool.notation, text);
    if (args !== undefined) return { name: tool.name, arguments: args };
  }
  const [head, name = ""] = /^([\w./:-]+)\s+(?=\{)/.exec(text) ?? [];
  const end = head === undefined ? undefined : endOfObject(text, head.length);
  if (head === undefined || end === undefined || !/^\s*(?:=|$)/.test(text.slice(end))) return undefined;
  const read = oneObject(text.slice(head.length, end));
  return read.ok ? { name: matchTool(name, allowed), arguments: read.value } : undefined;
}

interface Piece {
  readonly text: string;
  readonly field?: string;
}

function piecesOf(notation: string): readonly Piece[] {
  return notation
    .split(/(\{\w+\})/)
    .filter((text) => text !== "")
    .map((text) => (/^\{\w+\}$/.test(text) ? { text, field: text.slice(1, -1) } : { text }));
}

/** The most characters of a call in a notation. */
const longestCall = 2000;

function readNotation(notation: string, line: string): JsonObject | undefined {
  const pieces = piecesOf(notation);
  const pattern = pieces
    .map((piece, index) =>
      piece.field === undefined ? escaped(piece.text) : valuePattern(pieces[index + 1]),
    )
    .join("");
  const before = line.slice(0, longestCall);
  const match =
    new RegExp(`^${pattern}\\s*=`).exec(before) ??
    (before === line ? new RegExp(`^${pattern}$`).exec(line) : null);
  if (match === null) return undefined;
  const fields = pieces.flatMap(({ field }) => (field === undefined ? [] : [field]));
  return Object.fromEntries(fields.map((field, index) => [field, valueOf(match[index + 1] ?? "")]));
}

/**
 * The pattern of an argument: a text in quotes, or a word that ends where the notation goes on. The word
 * cannot contain the sign that ends it, so a line can be read in only one way, and reading is linear.
 */
function valuePattern(next: Piece | undefined): string {
  const [sign = " "] = next?.text.trimStart() ?? "";
  const end = next === undefined || /^\s/.test(next.text) ? "" : sign.replace(/[\]\\^-]/, String.raw`\$&`);
  return String.raw`("(?:[^"\\]|\\.)*"|-?[^\s"${end}]+)`;
}

/** The value of a word. A word that is not JSON is text: the schema decides whether it fits. */
function valueOf(text: string): Json {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : text;
}

/** The text as a pattern in which blanks may be repeated. */
function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(/\s+/g, String.raw`\s+`);
}

function propertiesOf(tool: Tool): JsonObject {
  return mapAt(tool.input.jsonSchema, "properties");
}

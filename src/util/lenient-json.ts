import { endOfString } from "./end-of-string.ts";
import { isCitation } from "./citation.ts";
import { isJsonObject, type Json, type ParsedJson, parseJson } from "./json.ts";
import { misfitText, string } from "./shape.ts";

/**
 * Reads JSON as models write it. What {@link parseJson} reads is read as that; else a fence of Markdown is taken off, the first whole object
 * or list is taken out of prose, and commas before a closing bracket are left out. A number in brackets, `[1]`, is taken for a citation where
 * another object or list stands in the text. Nothing is made up: what was cut off stays unread.
 *
 * Nesting, large integers and keys are as strict as there. Never throws; the time grows with the length of the text.
 *
 * @example
 * ```ts
 * import { lenientJson } from "writ/drivers";
 *
 * const read = lenientJson('Here it is: {"city": "Lima", "days": 3,} Enjoy!');
 * export const trip: unknown = read.ok ? read.value : read.reason; // { city: "Lima", days: 3 }
 * ```
 */
export function lenientJson(text: string): ParsedJson {
  const reason = misfitText(string, text);
  if (reason !== undefined) return { ok: false, reason };
  return firstOf(text, () => true);
}

/** Reads the first object of a text, as {@link lenientJson} reads what stands in it; where it holds no object, what that reads. */
export function lenientObject(text: string): ParsedJson {
  const found = firstOf(text, isJsonObject);
  return found.ok ? found : lenientJson(text);
}

function firstOf(text: string, isMeant: (value: Json) => boolean): ParsedJson {
  let refused: ParsedJson | undefined;
  for (const read of lenientValues(text)) {
    if (read.ok && isMeant(read.value)) return read;
    if (!read.ok) refused ??= read;
  }
  return refused ?? parseJson(text.trim());
}

/**
 * Reads one value after another of those that a text may mean, the likeliest first, and tells of each that cannot be read. All of them together take time that grows
 * with the length of the text.
 */
export function* lenientValues(text: string): Generator<ParsedJson> {
  const strict = parseJson(text.trim());
  if (strict.ok) {
    yield strict;
    return;
  }
  const fenced = parseJson(fencedText(text));
  if (fenced.ok) yield fenced;
  yield* citationsLast(text);
}

function* citationsLast(text: string): Generator<ParsedJson> {
  const citations: ParsedJson[] = [];
  for (const candidate of wholeContainers(text)) {
    const read = parseJson(withoutTrailingCommas(candidate));
    if (read.ok && isCitation(read.value)) citations.push(read);
    else yield read;
  }
  yield* citations;
}

/** The text between the first two fences, without the word after the first; empty when there are not two. */
function fencedText(text: string): string {
  const open = text.indexOf("```");
  const start = open === -1 ? -1 : text.indexOf("\n", open);
  const end = start === -1 ? -1 : text.indexOf("```", start);
  return end === -1 ? "" : text.slice(start, end).trim();
}

const closers: ReadonlyMap<string, string> = new Map([
  ["{", "}"],
  ["[", "]"],
]);

/**
 * The outermost objects and lists of a text, in order. A bracket of the prose begins none: after it comes nothing that JSON has there. In one
 * that is never closed nothing is looked for, since a part of a cut answer is not the answer.
 */
function* wholeContainers(text: string): Generator<string> {
  const mayBegin = /\{(?=\s*["}])|\[(?=\s*[[{"\-\dtfn\]])/g;
  for (let match = mayBegin.exec(text); match !== null; match = mayBegin.exec(text)) {
    const end = endOfContainer(text, match.index);
    if (end.closed) yield text.slice(match.index, end.index);
    mayBegin.lastIndex = end.index;
  }
}

/**
 * Finds the end of the container that begins at `start`: after its closing bracket, or where a bracket comes
 * that cannot close it.
 */
function endOfContainer(text: string, start: number): { readonly index: number; readonly closed: boolean } {
  const awaited: string[] = [];
  const marks = /["{}[\]]/g;
  marks.lastIndex = start;
  for (let match = marks.exec(text); match !== null; match = marks.exec(text)) {
    const [mark] = match;
    const closer = closers.get(mark);
    if (mark === '"') marks.lastIndex = endOfString(text, match.index) ?? text.length;
    else if (closer !== undefined) awaited.push(closer);
    else if (awaited.pop() !== mark) return { index: marks.lastIndex, closed: false };
    else if (awaited.length === 0) return { index: marks.lastIndex, closed: true };
  }
  return { index: text.length, closed: false };
}

/** The text without commas that stand before a closing bracket, outside of strings. */
function withoutTrailingCommas(text: string): string {
  const marks = /["{}[\],]/g;
  let kept = "";
  let from = 0;
  let comma: number | undefined;
  for (let match = marks.exec(text); match !== null; match = marks.exec(text)) {
    const [mark] = match;
    const isTrailing =
      comma !== undefined && (mark === "}" || mark === "]") && isBlank(text, comma + 1, match.index);
    if (isTrailing && comma !== undefined) {
      kept += text.slice(from, comma);
      from = comma + 1;
    }
    comma = mark === "," ? match.index : undefined;
    if (mark === '"') marks.lastIndex = endOfString(text, match.index) ?? text.length;
  }
  return kept + text.slice(from);
}

function isBlank(text: string, from: number, to: number): boolean {
  return text.slice(from, to).trim() === "";
}

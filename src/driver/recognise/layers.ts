import { isJsonObject } from "../../util/json.ts";
import { type CallSequence, readCallSequence } from "./call-expression.ts";
import { callsOfValue } from "./call-object.ts";
import { attempt, type Cursor, skipBlanks, take, takeUpTo } from "./cursor.ts";
import type { KnownTools } from "./known-tools.ts";
import { readLiteral, skipBalanced } from "./literal.ts";
import type { LayerName } from "./recognise.ts";
import { marks, readMarked } from "./tagged.ts";

/** Calls that stand together, and where. It is open when the text ends where another call should come. */
export interface Group extends CallSequence {
  readonly start: number;
  readonly end: number;
}

type Layer = (cursor: Cursor, known: KnownTools) => readonly Group[];

/** The formats in the order in which they are looked for. */
export const layers: readonly (readonly [LayerName, Layer])[] = [
  ["whole", whole],
  ["tagged", tagged],
  ["fenced", fenced],
  ["named", named],
  ["bare", bare],
];

/** The text is calls and nothing else, perhaps in quotes. */
function whole(cursor: Cursor, known: KnownTools): readonly Group[] {
  skipBlanks(cursor);
  take(cursor, /["'`]+(?=[[{]|[\w.]+\()/y);
  const groups = groupsAt(cursor, 0, known);
  take(cursor, /[\s"'`;.\])}]*/y);
  return cursor.at >= cursor.text.length ? groups : [];
}

/** Behind each mark. A mark behind which nothing can be read, at the end of the text, stands before a call that was cut off. */
function tagged(cursor: Cursor, known: KnownTools): readonly Group[] {
  const groups: Group[] = [];
  const lastEnd = cursor.text.lastIndexOf("</");
  let isOpen = false;
  for (const start of places(cursor, marks)) {
    const call = readMarked(cursor);
    const found =
      call === undefined
        ? groupsAt(cursor, start, known)
        : [{ calls: [call], start, end: cursor.at, isOpen: false }];
    groups.push(...found);
    if (found.length > 0) groups.push(...furtherObjects(cursor, known));
    else cursor.repairs.add("a mark behind which no call can be read was passed over");
    isOpen = found.length === 0 && lastEnd < cursor.at;
  }
  return isOpen ? groups.map((group) => ({ ...group, isOpen })) : groups;
}

/** The calls in objects behind the one that was read, as in `{…}; {…}`, up to one that says none. */
function furtherObjects(cursor: Cursor, known: KnownTools): readonly Group[] {
  const groups: Group[] = [];
  for (;;) {
    if (take(cursor, /\s*[,;]?\s*(?=\{)/y) === undefined) return groups;
    const { at: start } = cursor;
    const calls = attempt(cursor, (inner) => readCallValue(inner, known)?.calls);
    const group = { calls: calls ?? [], start, end: cursor.at, isOpen: false };
    if (!callsTool(group, known)) return groups;
    groups.push(group);
  }
}

/** At the beginning of what stands between fences. Fences inside of what was read are a part of it. */
function fenced(cursor: Cursor, known: KnownTools): readonly Group[] {
  const groups: Group[] = [];
  for (const start of places(cursor, /```[ \t]*[\w-]*\s*/g)) {
    const { at: inside } = cursor;
    groups.push(...groupsAt(cursor, start, known).filter((group) => callsTool(group, known)));
    if (cursor.text.slice(inside, cursor.at).trimEnd().endsWith("```")) continue;
    if (takeUpTo(cursor, "```") === undefined) cursor.at = cursor.text.length;
  }
  return groups;
}

/** A name that begins a word, perhaps escaped as Markdown has it, before what follows. It begins at one place of a run: each beginning goes on to its end. */
function calledBefore(after: RegExp): RegExp {
  return new RegExp(
    String.raw`(?<![\w./-])(?<!\\(?=_))(?:[A-Za-z_]|\\_)(?:[\w./-]|\\_)*${after.source}`,
    "g",
  );
}

/** The name of a tool, and an object. */
function named(cursor: Cursor, known: KnownTools): readonly Group[] {
  for (const start of places(cursor, calledBefore(/\s*(?=\{)/))) {
    const written = cursor.text.slice(start, cursor.at);
    const name = written.trim();
    const isCalled =
      known.find(name) !== undefined && (written.includes("\n") || beginsLine(cursor.text, start));
    const value = isCalled ? readLiteral(cursor) : undefined;
    if (isJsonObject(value) && !Object.hasOwn(value, "properties"))
      return [{ calls: [{ name, named: value, placed: [] }], start, end: cursor.at, isOpen: false }];
  }
  return [];
}

/** Marks of lists, quotes and fences, brackets, and words of code; or words that end with a colon. */
const lineBefore = /^(?:[^]*[:：])?[\s*`[({-]*(?:\d+[.)]\s*)?["'`[({*]*(?:(?:print\(|await |return )\s*)*$/;
const longestBefore = 300;

/** True if a call by name begins its line, or follows a colon. Elsewhere a call is talked about. */
function beginsLine(text: string, start: number): boolean {
  return lineBefore.test(lineUpTo(text, start));
}

/** The text before a place on its line, as far as it matters. */
function lineUpTo(text: string, end: number): string {
  const before = text.slice(Math.max(0, end - longestBefore), end);
  return before.slice(before.lastIndexOf("\n") + 1);
}

/** Anywhere at the beginning of a line, for tools that are known. What is read as a value and says no call is passed over whole. */
function bare(cursor: Cursor, known: KnownTools): readonly Group[] {
  const groups: Group[] = [];
  for (const start of places(cursor, calledBefore(/(?=\()|[[{]/))) {
    const sign = cursor.text.slice(start, cursor.at);
    const isValue = sign === "[" || sign === "{";
    if (!isValue && (known.find(sign) === undefined || !beginsLine(cursor.text, start))) continue;
    cursor.at = start;
    const found = groupsAt(cursor, start, known).filter((group) => callsTool(group, known));
    groups.push(...found);
    if (found.length > 0) continue;
    cursor.at = start;
    const isRead = isValue && readLiteral(cursor) !== undefined;
    if (isValue && !isRead && isCutOff(cursor, start)) break;
  }
  return groups;
}

/** A list or an object that begins a line and is never closed was cut off, with all that stands in it. */
function isCutOff(cursor: Cursor, start: number): boolean {
  cursor.at = start;
  const isClosed = lineUpTo(cursor.text, start).trim() !== "" || skipBalanced(cursor);
  cursor.at = start + 1;
  return !isClosed;
}

/** The places of a pattern; the cursor is behind each. The next one comes after all that was read. */
function* places(cursor: Cursor, pattern: RegExp): Generator<number> {
  const next = new RegExp(pattern);
  for (
    let match = next.exec(cursor.text);
    match !== null && cursor.work > 0;
    match = next.exec(cursor.text)
  ) {
    cursor.at = next.lastIndex;
    yield match.index;
    next.lastIndex = Math.max(next.lastIndex, cursor.at);
  }
}

/** The group of calls where the cursor stands, as expressions or as values; none when there is none. */
function groupsAt(cursor: Cursor, start: number, known: KnownTools): readonly Group[] {
  const found = attempt(cursor, readCallSequence) ?? attempt(cursor, (inner) => readCallValue(inner, known));
  return found === undefined || found.calls.length === 0 ? [] : [{ ...found, start, end: cursor.at }];
}

function readCallValue(cursor: Cursor, known: KnownTools): CallSequence | undefined {
  const value = readLiteral(cursor);
  if (typeof value !== "object" || value === null) return undefined;
  const calls = callsOfValue(value, {
    isTool: (name) => known.find(name) !== undefined,
    twice: cursor.twice,
  });
  return calls === undefined ? undefined : { calls, isOpen: false };
}

function callsTool({ calls }: Group, known: KnownTools): boolean {
  return calls.some(({ name }) => known.find(name) !== undefined);
}

import { isJsonObject } from "../../util/json.ts";
import { type CallSequence, readCallSequence, type WrittenCall } from "./call-expression.ts";
import { callsOfValue } from "./call-object.ts";
import { attempt, type Cursor, skipBlanks, take } from "./cursor.ts";
import type { KnownTools } from "./known-tools.ts";
import { readLiteral } from "./literal.ts";
import type { LayerName } from "./recognise.ts";
import { marks, readMarked } from "./tagged.ts";

/** Calls that stand together, and where. */
export interface Group {
  readonly calls: readonly WrittenCall[];
  readonly start: number;
  readonly end: number;
  /** The text ends where another call should come. */
  readonly isOpen: boolean;
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

/** Behind each mark. */
function tagged(cursor: Cursor, known: KnownTools): readonly Group[] {
  const groups: Group[] = [];
  for (const start of places(cursor, marks)) {
    const call = readMarked(cursor);
    if (call === undefined) groups.push(...groupsAt(cursor, start, known));
    else groups.push({ calls: [call], start, end: cursor.at, isOpen: false });
  }
  return groups;
}

/** At the beginning of what stands between fences. */
function fenced(cursor: Cursor, known: KnownTools): readonly Group[] {
  const groups: Group[] = [];
  for (const start of places(cursor, /```[ \t]*[\w-]*\s*/g)) {
    const close = cursor.text.indexOf("```", cursor.at);
    groups.push(...groupsAt(cursor, start, known).filter((group) => callsTool(group, known)));
    cursor.at = Math.max(cursor.at, close === -1 ? cursor.text.length : close + 3);
  }
  return groups;
}

/** The name of a tool, and an object. */
function named(cursor: Cursor, known: KnownTools): readonly Group[] {
  for (const start of places(cursor, /(?<![\w./-])[A-Za-z_][\w./-]*\s*(?=\{)/g)) {
    const name = cursor.text.slice(start, cursor.at).trim();
    const value = known.find(name) === undefined ? undefined : readLiteral(cursor);
    if (isJsonObject(value) && !Object.hasOwn(value, "properties"))
      return [{ calls: [{ name, named: value, placed: [] }], start, end: cursor.at, isOpen: false }];
  }
  return [];
}

/** What introduces a name that is not called: a definition, what is kept of a result, a part of another name. */
const notCalled = /(?:\b(?:def|function|class|fn|func)\s+|[\w)\]]\s*=\s*|[.@\w])$/;

/** Anywhere, for tools that are known. What is read as a value and says no call is passed over whole. */
function bare(cursor: Cursor, known: KnownTools): readonly Group[] {
  const groups: Group[] = [];
  for (const start of places(cursor, /(?<![\w./-])[A-Za-z_][\w./-]*(?=\()|[[{]/g)) {
    const sign = cursor.text.slice(start, cursor.at);
    const isValue = sign === "[" || sign === "{";
    const before = cursor.text.slice(Math.max(0, start - 20), start);
    if (!isValue && (known.find(sign) === undefined || notCalled.test(before))) continue;
    cursor.at = start;
    const found = groupsAt(cursor, start, known).filter((group) => callsTool(group, known));
    groups.push(...found);
    if (found.length > 0) continue;
    cursor.at = start;
    if (isValue) readLiteral(cursor);
  }
  return groups;
}

/** Where a pattern stands; the cursor is behind it. The next place comes after all that was read meanwhile. */
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
  const calls = callsOfValue(value, (name) => known.find(name) !== undefined);
  return calls === undefined ? undefined : { calls, isOpen: false };
}

function callsTool({ calls }: Group, known: KnownTools): boolean {
  return calls.some(({ name }) => known.find(name) !== undefined);
}

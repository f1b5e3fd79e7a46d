import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { attempt, type Cursor, cursorOf, skipBlanks, take, takeSign, turnHeading } from "./cursor.ts";
import { pollutes, readLiteral } from "./literal.ts";
import { readString } from "./quoted.ts";

/** A call as it is written: a name that may be no tool's, and arguments by name or by place. */
export interface WrittenCall {
  readonly name: string;
  readonly named: JsonObject;
  readonly placed: readonly Json[];
  /** The arguments stood beside the name: what is no argument there, like an id, says nothing. */
  readonly isFlat?: true;
}

/** A name, perhaps in quotes of its own, as in `['add'](a=1)`, or escaped as Markdown has it, as in `get\\_weather`. */
const callName = /["'`*]*([A-Za-z_](?:\w|\\_)*(?:(?:[.\-/]|::)(?:\w|\\_)+)*)["'`*]*\]?\s*(?=\()/y;

/** Reads `name(a=1, b="x")` where the cursor stands. */
export function readCallExpression(cursor: Cursor): WrittenCall | undefined {
  return attempt(cursor, (inner) => {
    const name = take(inner, callName)?.replaceAll(/[\s"'`*\]]/g, "");
    if (name === undefined) return undefined;
    takeSign(inner, "(");
    const args = readArguments(inner);
    return args === undefined ? undefined : { name, ...args };
  });
}

type Arguments = Pick<WrittenCall, "named" | "placed">;

function readArguments(cursor: Cursor): Arguments | undefined {
  const named = new Map<string, Json>();
  const placed: Json[] = [];
  for (;;) {
    skipBlanks(cursor);
    if (takeSign(cursor, ")")) return { named: Object.fromEntries(named), placed };
    const key = attempt(cursor, readArgumentName);
    const isSpread = key === undefined && takeSign(cursor, "**");
    const value = readLiteral(cursor);
    if (value === undefined || (key !== undefined && pollutes(key, value))) return undefined;
    if (key === undefined && !isSpread && named.size > 0) return undefined; // as in `amount=1,000`
    if (key !== undefined) addTo(named, { [key]: value }, cursor);
    else if (isSpread && isJsonObject(value)) addTo(named, value, cursor);
    else placed.push(value);
    skipBlanks(cursor);
    if (!takeSign(cursor, ",") && cursor.text[cursor.at] !== ")") return undefined;
  }
}

function addTo(named: Map<string, Json>, fields: JsonObject, { twice }: Cursor): void {
  for (const [name, value] of Object.entries(fields)) {
    if (named.has(name)) twice.add(name);
    named.set(name, value);
  }
}

/** `a=`, `a:`, `"a"=`, and `a: int =` as in a signature that was filled in. */
function readArgumentName(cursor: Cursor): string | undefined {
  const name = take(cursor, /["'`]?[A-Za-z_](?:[\w-]|\\_)*["'`]?(?=\s*(?::=|=(?!=)|:(?!:)))/y);
  if (name === undefined) return undefined;
  skipBlanks(cursor);
  take(cursor, /:=|=|:\s*[a-z]+\s*=|:/y);
  return name.replaceAll(/["'`\\]/g, "");
}

/** Signs that may stand before calls: brackets, and code around them. */
const openers = /(?:print\s*\(\s*|\[\s*|\{\s*(?=["'][\w./-]+\()|\(\s*(?!["'])|await\s+|return\s+)*/y;
const closers = /[ \t]*[)\]}]+(?=\s*[,;+&|\]}\n])/y;
const separator = new RegExp(
  String.raw`\s*(?:(?!${turnHeading})#[^\n]*\n|[,;+&|*/]|\b(?:and|or)\b|\n)\s*(?:\d+[.)]\s+|[-*]\s+)?`,
  "y",
);

/** Calls one after another, and whether the text ends where another one should come. */
export interface CallSequence {
  readonly calls: readonly WrittenCall[];
  readonly isOpen: boolean;
  /** Of expressions: the beginning and the end of each. */
  readonly places?: readonly (readonly [start: number, end: number])[];
}

/** Reads calls as expressions where the cursor stands: one, a list of them, one a line, in quotes, or as pairs of a name and arguments. */
export function readCallSequence(cursor: Cursor): CallSequence | undefined {
  skipBlanks(cursor);
  take(cursor, /(?:\d+[.)]|[-*])\s+/y);
  take(cursor, openers);
  const calls: WrittenCall[] = [];
  const places: [number, number][] = [];
  let isOpen = false;
  for (;;) {
    skipBlanks(cursor);
    const { at: start } = cursor;
    const call = readQuotedCall(cursor) ?? readCallExpression(cursor) ?? readPair(cursor);
    if (call === undefined) break;
    calls.push(call);
    places.push([start, cursor.at]);
    take(cursor, closers);
    const between = take(cursor, separator);
    isOpen = between?.trim() === ",";
    if (between === undefined) break;
    take(cursor, openers);
  }
  if (calls.length === 0) return undefined;
  isOpen &&=
    /^[\s[]*(?:["']?[A-Za-z_][\w.]*(?:\([^)]*)?)?$/.test(cursor.text.slice(cursor.at, cursor.at + 2000)) &&
    cursor.text.length - cursor.at < 2000;
  take(cursor, /[\s\])}"'`;]*/y);
  return { calls, isOpen, places };
}

function readQuotedCall(cursor: Cursor): WrittenCall | undefined {
  return attempt(cursor, (outer) => {
    const text = readString(outer);
    if (text === undefined || !/^\s*[\w./\\-]+\s*\(/.test(text)) return undefined;
    const inner = cursorOf(text, outer);
    skipBlanks(inner);
    const call = readCallExpression(inner);
    take(inner, /[\s;]*/y);
    return inner.at < text.length ? undefined : call;
  });
}

/** `('name', {…})` */
function readPair(cursor: Cursor): WrittenCall | undefined {
  return attempt(cursor, (inner) => {
    take(inner, /[([]/y);
    const name = readString(inner);
    if (name === undefined || !/^[\w./-]+$/.test(name) || take(inner, /\s*[,:]\s*/y) === undefined)
      return undefined;
    const args = readLiteral(inner);
    if (!isJsonObject(args)) return undefined;
    take(inner, /\s*[)\]]/y);
    return { name, named: args, placed: [] };
  });
}

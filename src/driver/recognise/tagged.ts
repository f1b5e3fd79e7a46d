import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import type { WrittenCall } from "./call-expression.ts";
import { attempt, type Cursor, take, takeUpTo } from "./cursor.ts";
import { fieldsOf, readLiteral } from "./literal.ts";

/**
 * Marks before a call, as models write them that were trained to call tools: Hermes and Qwen, Granite,
 * Mistral, Llama 3, LFM2, Functionary, Gemma, DeepSeek, Kimi, Qwen-Coder, Claude and MiniMax, Harmony, ReAct,
 * and the command of metal-kompanion.
 */
export const marks: RegExp =
  /<\|?tool_call\|?>|<function_?call>|<\|tool_call_start\|>|\[TOOL_CALLS?\]|<\|python_tag\|>|\bfunctools(?=\s*\[)|<tool_code>|```tool_code|<start_function_call>|<｜tool▁call▁begin｜>|<\|tool_call_begin\|>|<(?=function=|(?:｜DSML｜)?invoke\s+name=)|\bto=(?=functions\.)|^[ \t]*@tool[ \t]+(?=[\w./-]+[ \t]*\{)|^[ \t]*Action:[ \t]*(?=[\w./-]+\s*\n[ \t]*Action Input:)/gm;

/** Reads what stands behind a mark in a form of its own: XML, pairs of keys and values, or a name and an object. */
export function readMarked(cursor: Cursor): WrittenCall | undefined {
  return readXml(cursor) ?? readKeyed(cursor) ?? readNamed(cursor);
}

/** `<function=f><parameter=a>1</parameter></function>`, `<function=f>{"a": 1}</function>`, `<invoke name="f"><parameter name="a">1</parameter></invoke>`. */
function readXml(cursor: Cursor): WrittenCall | undefined {
  return attempt(cursor, (inner) => {
    const open = take(inner, /\s*<?(?:function=|(?:｜DSML｜)?invoke\s+name=)["']?[\w./-]+["']?\s*>\s*/y);
    if (open === undefined) return undefined;
    const name = open.replaceAll(/^\s*<?(?:function=|(?:｜DSML｜)?invoke\s+name=)|[\s"'>]/g, "");
    const named = inner.text[inner.at] === "{" ? readLiteral(inner) : readParameters(inner);
    if (!isJsonObject(named)) return undefined;
    const end = take(inner, /\s*(?:<\/(?:function|(?:｜DSML｜)?invoke)>|(?=<\/tool_call>))/y);
    return end === undefined ? undefined : { name, named, placed: [] };
  });
}

function readParameters(cursor: Cursor): JsonObject | undefined {
  const entries: [string, Json][] = [];
  for (;;) {
    const parameter = take(cursor, /<(?:｜DSML｜)?parameter(?:=|\s+name=)["']?[\w.-]+["']?[^>]*>/y);
    if (parameter === undefined) return fieldsOf(entries, cursor);
    const value = parameter.startsWith("<｜") ? takeUpTo(cursor, "</｜DSML｜parameter>") : takeValue(cursor);
    if (value === undefined) return undefined;
    const [, key = ""] = /(?:=|name=)["']?([\w.-]+)/.exec(parameter) ?? [];
    entries.push([key, value.replace(/^\n/, "").replace(/\n$/, "")]);
    take(cursor, /\s*/y);
  }
}

/** The end of a value, and the beginning of the next one, where a model forgot the end. */
const valueEnd = /<\/parameter>|\n[ \t]*(?=<parameter(?:=|\s+name=)["']?[\w.-]+["']?\s*>)/g;
/** The end of a call. It may stand in a value too, but then no call begins between it and the end of that. */
const callEnd = /\s*(?=<\/(?:function|invoke)>\s*(?:<\/|<tool_call>|<function=|<invoke\s|$))/g;
const nextCall = /<\/(?:function|invoke)>\s*(?:<\/?\w+>\s*)*<(?:function=|invoke\s)/;

/** The value of a parameter. Qwen-Coder forgets its end. */
function takeValue(cursor: Cursor): string | undefined {
  const { text, at } = cursor;
  const end = firstFrom(cursor, valueEnd);
  const isWhole = end !== undefined && !nextCall.test(text.slice(at, end.index));
  if (isWhole && end[0] === "</parameter>") return taken(cursor, end);
  const open = isWhole ? end : firstFrom(cursor, callEnd);
  if (open === undefined) return undefined;
  cursor.repairs.add("an argument that was not ended was ended before the next, or with its call");
  return taken(cursor, open);
}

function firstFrom(cursor: Cursor, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.text) ?? undefined;
  cursor.work -= (found?.index ?? cursor.text.length) - cursor.at;
  return found;
}

/** The text before what was found; the cursor moves behind it. */
function taken(cursor: Cursor, found: RegExpExecArray): string {
  const value = cursor.text.slice(cursor.at, found.index);
  cursor.at = found.index + found[0].length;
  return value;
}

/** `f` and then `<arg_key>a</arg_key><arg_value>1</arg_value>`, or the end. */
function readKeyed(cursor: Cursor): WrittenCall | undefined {
  return attempt(cursor, (inner) => {
    const name = take(inner, /\s*[\w./-]+\s*(?=<arg_key>|<\/tool_call>)/y)?.trim();
    if (name === undefined) return undefined;
    const entries: [string, Json][] = [];
    for (;;) {
      const key = take(inner, /\s*<arg_key>[^<]*<\/arg_key>\s*<arg_value>/y);
      if (key === undefined) break;
      const value = takeUpTo(inner, "</arg_value>");
      if (value === undefined) return undefined;
      entries.push([key.replaceAll(/\s*<\/?arg_\w+>\s*/g, ""), value]);
    }
    if (take(inner, /\s*<arg_key>/y) !== undefined) return undefined;
    return { name, named: fieldsOf(entries, inner), placed: [] };
  });
}

const beforeName = /\s*(?:function<｜tool▁sep｜>|call:|\{?\s*functions\.)?/y;
const name = /\s*[A-Za-z_][\w./-]*(?::\d+)?/y;
/** One token each, so that there is one way to read them. */
const beforeObject =
  /(?:\s|\[CALL_ID\]\w{0,64}|\[ARGS\]|<｜tool▁sep｜>|<\|tool_call_argument_begin\|>|<\|constrain\|>|<\|channel\|>(?:commentary|analysis)\b|<\|message\|>|Action Input:|```|(?:json|code)\b)*(?=\{)/y;

/** A name, a sign, and an object. */
function readNamed(cursor: Cursor): WrittenCall | undefined {
  return attempt(cursor, (inner) => {
    take(inner, beforeName);
    const written = take(inner, name)?.trim().replace(/:\d+$/, "");
    if (written === undefined || take(inner, beforeObject) === undefined) return undefined;
    const named = readLiteral(inner);
    return isJsonObject(named) ? { name: written, named, placed: [] } : undefined;
  });
}

import { mapAt } from "../schema/keywords.ts";
import { keyTwice } from "../util/call-json.ts";
import { isJsonObject } from "../util/json.ts";
import type { TurnInput } from "./driver.ts";
import { matchTool } from "./match-tool.ts";
import { insideFence } from "./one-object.ts";
import { readCallExpression, type WrittenCall } from "./recognise/call-expression.ts";
import { type Cursor, cursorOf, skipBlanks, takeSign } from "./recognise/cursor.ts";
import { type TextCall, type TextReading, violation } from "./text-protocol.ts";

/** The beginning of a list of calls, and of a single call. */
const beginsList = /^\[\s*([A-Za-z_][\w.\-/:]*)\s*\(/;
const beginsCall = /^([A-Za-z_][\w.\-/:]*)\(/;

/**
 * Reads a reply of the form `[f(a=1), g()]`, or one call without the brackets; any other text is the answer. So is a text that only begins like a list of
 * calls, `[Smith (2020)] says so`, if no tool has that name. A call in a code block is not an answer, and does not run. Never throws.
 */
export function readPythonic(text: string, turn: TurnInput): TextReading {
  const inside = insideFence(text);
  const isFenced = inside !== undefined && callsTools(readWhole(inside, turn), turn);
  return isFenced
    ? violation("the calls stand in a code block, where they do not run")
    : readWhole(text, turn);
}

function callsTools(read: TextReading, { allowed }: TurnInput): boolean {
  return read.type === "calls" && read.calls.every(({ name }) => allowed.tools.has(matchTool(name, allowed)));
}

function readWhole(text: string, turn: TurnInput): TextReading {
  const first = beginsList.exec(text)?.[1];
  if (first !== undefined) {
    const list = readList(cursorOf(text), turn);
    const isKnown = turn.allowed.tools.has(matchTool(first, turn.allowed));
    if (isKnown || list.type === "calls") return list;
  } else if (/^\[\s*\]$/.test(text) && turn.output === undefined)
    return violation("the list has no call in it: answer in words when there is nothing to call");
  const answer: TextReading = { type: "final", content: text, plain: true };
  const name = beginsCall.exec(text)?.[1];
  if (name === undefined || !turn.allowed.tools.has(matchTool(name, turn.allowed))) return answer;
  const cursor = cursorOf(text);
  const written = readCallExpression(cursor);
  if (written === undefined || !isAtEnd(cursor)) return answer;
  const [twice] = cursor.twice;
  const read = twice === undefined ? callOf(written, turn) : { reason: keyTwice(twice) };
  return "reason" in read
    ? violation(read.reason)
    : { type: "calls", calls: [read], repairs: ["the call stood without brackets", ...cursor.repairs] };
}

function readList(cursor: Cursor, turn: TurnInput): TextReading {
  takeSign(cursor, "[");
  const calls: TextCall[] = [];
  for (;;) {
    skipBlanks(cursor);
    if (calls.length > 0 && takeSign(cursor, "]")) break;
    const written = readCallExpression(cursor);
    if (written === undefined) return violation(`call ${calls.length + 1} of the list cannot be read`);
    const call = callOf(written, turn);
    if ("reason" in call) return violation(call.reason);
    calls.push(call);
    skipBlanks(cursor);
    if (!takeSign(cursor, ",") && cursor.text[cursor.at] !== "]")
      return violation(`the list is not closed behind call ${calls.length}`);
  }
  if (!isAtEnd(cursor)) return violation("there is text behind the list of calls");
  const [twice] = cursor.twice;
  const [fault] = twice === undefined ? cursor.repairs : [keyTwice(twice)];
  return fault === undefined ? { type: "calls", calls } : violation(fault);
}

function isAtEnd(cursor: Cursor): boolean {
  skipBlanks(cursor);
  return cursor.at >= cursor.text.length;
}

/** A call. Arguments without a name get the names that the tool has at their places. */
function callOf(
  { name, named, placed }: WrittenCall,
  { allowed }: TurnInput,
): TextCall | { readonly reason: string } {
  const tool = allowed.tools.get(matchTool(name, allowed));
  const names = Object.keys(mapAt(tool?.input.jsonSchema ?? {}, "properties"));
  const [only] = placed;
  if (tool === undefined && placed.length > 0) return { name, arguments: named };
  if (isJsonObject(only) && placed.length === 1 && Object.keys(named).length === 0 && names.length !== 1)
    return { name, arguments: only };
  if (placed.length > names.length)
    return { reason: `a call of ${name} has more arguments than ${name} takes: give them names` };
  const byPlace = placed.map((value, index) => [names[index] ?? "", value] as const);
  const twice = byPlace.find(([field]) => Object.hasOwn(named, field));
  if (twice !== undefined) return { reason: `a call of ${name} gives "${twice[0]}" twice` };
  return { name, arguments: { ...Object.fromEntries(byPlace), ...named } };
}

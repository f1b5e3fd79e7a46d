import { isJsonObject, type Json, parseJson } from "../../util/json.ts";
import type { Reading } from "../driver.ts";
import { leavesOf, type MadeCall } from "./scene.ts";

/** The answer that says what the results say, as far as no later call went on with it. */
export function quoted(made: readonly MadeCall[]): Extract<Reading, { readonly type: "final" }> {
  const told = made.filter(({ result }, index) => !isUsed(result.text, made.slice(index + 1)));
  const shown = told.length === 0 ? made.slice(-1) : told;
  const content = shown.map((each) => lineOf(each, shown.length > 1)).join("\n");
  const text = content.trim() === "" ? "(the result is empty)" : content;
  return {
    type: "final",
    message: { role: "assistant", parts: [{ type: "text", text }] },
    content: text,
    quotes: shown.map(({ call }) => call.id),
  };
}

function isUsed(result: string, later: readonly MadeCall[]): boolean {
  const parsed = parseJson(result);
  const values = parsed.ok ? leavesOf(parsed.value) : [result];
  const given = new Set(later.flatMap(({ call }) => leavesOf(call.arguments)));
  return values.some((value) => given.has(value));
}

/** A result in words; beside others with the values that it is about. */
function lineOf({ call, result }: MadeCall, isOneOfMany: boolean): string {
  const parsed = parseJson(result.text);
  const text = parsed.ok ? inWords(parsed.value) : result.text;
  const about = isOneOfMany ? leavesOf(call.arguments).join(", ") : "";
  return about === "" ? text : `${about}: ${text}`;
}

function inWords(value: Json): string {
  if (Array.isArray(value)) {
    const isPlain = value.every((each: Json) => typeof each !== "object");
    return value.map(inWords).join(isPlain ? ", " : "\n");
  }
  if (!isJsonObject(value)) return typeof value === "string" ? value : JSON.stringify(value);
  return Object.entries(value)
    .map(([key, each]) => `${key}: ${inWords(each)}`)
    .join(", ");
}

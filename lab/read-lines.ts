import { readFileSync } from "node:fs";
import { messageOf, WritError } from "../src/error/writ-error.ts";
import { isJsonObject, type JsonObject, parseJson } from "../src/util/json.ts";

/** A line that could not be used, and why. */
export interface BrokenLine {
  readonly path: string;
  readonly line: number;
  readonly reason: string;
}

/** Contents of a file in JSON Lines. */
export interface Lines {
  readonly values: readonly { readonly line: number; readonly value: JsonObject }[];
  readonly broken: readonly BrokenLine[];
}

/**
 * Reads a file that has one JSON object a line. Other lines are reported, not thrown; empty lines are skipped.
 *
 * @throws WritError `file-unreadable`
 */
export function readLines(path: string): Lines {
  const values: { line: number; value: JsonObject }[] = [];
  const broken: BrokenLine[] = [];
  for (const [index, text] of textOf(path).split("\n").entries()) {
    if (text.trim() === "") continue;
    const line = index + 1;
    const parsed = parseJson(text);
    if (!parsed.ok) broken.push({ path, line, reason: parsed.reason });
    else if (isJsonObject(parsed.value)) values.push({ line, value: parsed.value });
    else broken.push({ path, line, reason: "it is no JSON object" });
  }
  return { values, broken };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new WritError("file-unreadable", { path, reason: messageOf(cause) }, { cause });
  }
}

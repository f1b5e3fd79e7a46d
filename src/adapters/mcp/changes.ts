import { type JsonObject, isJsonObject, type Json } from "../../util/json.ts";
import type { McpPin, ServerPins } from "./pins.ts";
import { visible } from "../../util/visible.ts";

/**
 * A difference between the approved form of a server's tool, resource or prompt and its current form. `diff` is for people, one line per place; the pins are
 * the approved one and the current one.
 *
 *
 * @example
 * ```ts
 * import type { McpChange } from "writ/mcp";
 *
 * export const show = ({ server, tool, type, diff }: McpChange): string => [`${server}/${tool} is ${type}`, ...diff].join("\n");
 * ```
 */
export interface McpChange {
  readonly server: string;
  /** The tool, by the server's name; `resource menu://today` or `prompt order` for these. */
  readonly tool: string;
  readonly type: "changed" | "new" | "gone";
  readonly diff: readonly string[];
  readonly before?: McpPin;
  readonly after?: McpPin;
}

/** The differences, in the order of the tools' names. */
export function changesBetween(server: string, known: ServerPins, now: ServerPins): readonly McpChange[] {
  const names = [...new Set([...known.keys(), ...now.keys()])].toSorted();
  return names.flatMap((tool) => {
    const before = known.get(tool);
    const after = now.get(tool);
    if (before?.sha256 === after?.sha256) return [];
    const type = before === undefined ? "new" : after === undefined ? "gone" : "changed";
    const diff = diffLines(said(before), said(after));
    return [{ server, tool, type, diff, ...(before && { before }), ...(after && { after }) }];
  });
}

function said(pin: McpPin | undefined): JsonObject {
  if (pin === undefined) return {};
  const { sha256: _hash, ...rest } = pin;
  return rest;
}

const longestDiff = 40;
/** The number of characters that are shown before and after the place where two values differ. */
const context = 30;
const longestValue = 160;

/**
 * The differences between two values, one line per place: `+ path: value`, `- path: value`, `~ path: old → new`. Long
 * values are cut around the first difference; invisible characters are written out.
 */
function diffLines(before: Json, after: Json): readonly string[] {
  const old = new Map(leaves(before, ""));
  const now = new Map(leaves(after, ""));
  const lines = [...new Set([...old.keys(), ...now.keys()])].toSorted().flatMap((path) => {
    const was = old.get(path);
    const is = now.get(path);
    if (was === is) return [];
    const name = visible(path);
    if (was === undefined) return [`+ ${name}: ${cut(is ?? "", 0)}`];
    if (is === undefined) return [`- ${name}: ${cut(was, 0)}`];
    const from = Math.max(0, firstDifference(was, is) - context);
    return [`~ ${name}: ${cut(was, from)} → ${cut(is, from)}`];
  });
  const rest = lines.length - longestDiff;
  return rest <= 0 ? lines : [...lines.slice(0, longestDiff), `… and ${rest} more`];
}

/** Every plain value with its path; empty lists and objects count as plain. */
function leaves(value: Json, path: string): readonly (readonly [path: string, text: string])[] {
  const fields = Array.isArray(value)
    ? value.map((entry: Json, index) => [`${path}[${index}]`, entry] as const)
    : isJsonObject(value)
      ? Object.entries(value).map(([key, field]) => [path === "" ? key : `${path}.${key}`, field] as const)
      : [];
  if (fields.length === 0 && path === "" && typeof value === "object") return [];
  return fields.length === 0
    ? [[path, JSON.stringify(value)]]
    : fields.flatMap(([way, field]) => leaves(field, way));
}

function firstDifference(a: string, b: string): number {
  let index = 0;
  while (index < a.length && a[index] === b[index]) index += 1;
  return index;
}

function cut(text: string, from: number): string {
  const part = text.slice(from, from + longestValue).toWellFormed();
  return visible(`${from > 0 ? "…" : ""}${part}${from + longestValue < text.length ? "…" : ""}`);
}

import type { JsonObject } from "../../util/json.ts";
import { diffLines } from "./diff.ts";
import type { McpPin, ServerPins } from "./pins.ts";

/**
 * A difference between what was approved of a server's tool and what the server says now. `diff` is for people, a line a place; the pins are what
 * was approved and what would be.
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
  /** The tool, as the server calls it. */
  readonly tool: string;
  readonly type: "changed" | "new" | "gone";
  readonly diff: readonly string[];
  readonly before?: McpPin;
  readonly after?: McpPin;
}

/** What differs, tool by tool in the order of their names. */
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

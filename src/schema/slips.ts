import type { Json } from "../util/json.ts";
import { nearest } from "../util/nearest.ts";
import { keywords } from "./keywords.ts";

/** Words of other dialects and notes for readers that are near a keyword. */
const others: ReadonlySet<string> = new Set(["id", "example", "cost"]);

const singular = (word: string): string => word.replace(/ies$/, "y").replace(/s$/, "");

const bySingular: ReadonlyMap<string, string> = new Map(
  [...keywords.keys()].map((name) => [singular(name), name]),
);

/**
 * The keyword that an author most likely meant by an unknown one, which would judge nothing: one letter is wrong, or it is plural in place of singular,
 * and the value is one that the keyword takes.
 */
export function slipFor(name: string, value: Json): string | undefined {
  if (others.has(name) || name.startsWith("x-")) return undefined;
  const meant = bySingular.get(nearest(singular(name), bySingular.keys(), 1) ?? "");
  return meant === undefined || keywords.get(meant)?.fault(value) !== undefined ? undefined : meant;
}

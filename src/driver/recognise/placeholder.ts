import type { Json, JsonObject } from "../../util/json.ts";
import { descriptionOf, plain, type Said } from "./origin.ts";
import type { KnownTool } from "./recognise.ts";

const placeholder =
  /^(?:your_\w+|<[\w -]+>|\[[A-Za-z][\w -]*\]|\{[A-Za-z][\w -]*\}|\.{3}|…|unknown|n\/?a|none|tbd|todo|placeholder|insert[_ ]\w+|\w+_here|not (?:specified|provided)|unspecified|undefined|[ymdhs]{2,4}(?:[-/: .]+[ymdhs]{2,4})+)$/i;

/** Whether an argument stands for a value that somebody should fill in, and was neither said like that nor named by the tool's schema. */
export function hasPlaceholder(args: JsonObject, tool: KnownTool, said: Said | undefined): boolean {
  return Object.values(args).some((value) => isPlaceholder(value, { tool, said }));
}

interface Known {
  readonly tool: KnownTool;
  readonly said: Said | undefined;
}

function isPlaceholder(value: Json, known: Known): boolean {
  if (Array.isArray(value)) return value.some((item: Json) => isPlaceholder(item, known));
  if (typeof value !== "string" || !placeholder.test(value.trim())) return false;
  const text = plain(value.trim());
  return known.said?.text.includes(text) !== true && !descriptionOf(known.tool).text.includes(`"${text}"`);
}

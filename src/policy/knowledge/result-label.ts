import { joinLabels, type Label, trustedLabel, untrustedFrom } from "../../message/label.ts";
import { contentText, type ToolResult } from "../../message/message.ts";
import type { ValueType } from "../../tool/parameters.ts";
import type { Tool } from "../../tool/tool.ts";
import { isJsonObject, type Json } from "../../util/json.ts";
import { lazy, remembered } from "../../util/remembered.ts";
import { canonical } from "../values/canonical.ts";

/**
 * True if the results of a tool are as trusted as its arguments: the author calls them
 * trusted, or it is knowledge, or a function in this process computes them. Results that a
 * stranger's code computes count as a stranger's words.
 */
export function isOwn({ effect, trusted, trustedForm, kind, origin, enforcement }: Tool): boolean {
  if (trustedForm !== undefined) return false; // until a result has shown that form
  const isStrangers = origin !== undefined || enforcement !== undefined;
  return trusted ?? (kind === "knowledge" || (effect === "none" && !isStrangers));
}

/**
 * The label that a tool adds to that of its arguments: in its result, and in what it hands to runs inside its call. Made once for each tool.
 * Depends on: the tool.
 */
export const addedLabel: (tool: Tool) => Label = remembered((tool: Tool): Label => {
  const { name, secrecy = "public", atBest = trustedLabel } = tool;
  const own = isOwn(tool) ? trustedLabel : untrustedFrom(`tool/${name}`);
  return joinLabels(secrecy === "public" ? own : { ...own, secrecy, sources: [`tool/${name}`] }, atBest);
});

/** The label of a tool's description and schemas: trusted words of its author, or those of a server that nobody approved. */
export function describedLabel({ origin }: Pick<Tool, "origin">): Label {
  return origin === undefined || origin.approved === true
    ? trustedLabel
    : untrustedFrom(`mcp/${origin.server}`);
}

/** The label of a tool's result: no better than its arguments, and a stranger's unless the tool is the author's own. */
export function resultLabel(tool: Tool, args: Label): Label {
  return joinLabels(args, addedLabel(tool));
}

/** The tool without its condition on the form, if this result has that form. A file can hold any words. */
export function shownForm(tool: Tool, { status, value, text, files }: ToolResult): Tool {
  const { trustedForm } = tool;
  if (trustedForm === undefined || status !== "ok" || files !== undefined) return tool;
  return hasForm(value ?? text, trustedForm) ? { ...tool, trustedForm: undefined } : tool;
}

/** A name without blanks that is not an address. Joined words in it can still be read. */
const name = lazy(() => /^[\p{L}\p{N}][\p{L}\p{N}\p{M}_-]{0,63}$/u);

/** True if a result holds nothing but values of one type, in lists and under plain names. */
function hasForm(result: Json, type: ValueType): boolean {
  if (Array.isArray(result)) return result.every((item: Json) => hasForm(item, type));
  if (isJsonObject(result))
    return Object.entries(result).every(([key, value]) => name().test(key) && hasForm(value, type));
  if (result === null || typeof result === "boolean") return true;
  if (type === "identifier" || type === "text") return name().test(contentText(result));
  const isSentence = places.has(type) && typeof result === "string" && /\s/u.test(result);
  return !isSentence && canonical(type, result) !== undefined;
}

/** Types whose values may hold any words beside the place: `Ada Byron <ada@x.example>`, `a letter to Ada.txt`. */
const places: ReadonlySet<ValueType> = new Set(["email", "path"]);

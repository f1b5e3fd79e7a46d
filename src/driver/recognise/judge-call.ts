import { resolved } from "../../schema/check-schema.ts";
import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import type { WrittenCall } from "./call-expression.ts";
import { hasType } from "../../schema/assertions.ts";
import { typesOf } from "./convert.ts";
import { fitCall, propertyOf } from "./fit.ts";
import { type KnownTools, propertiesOf } from "./known-tools.ts";
import { comesFromNowhere, descriptionOf, plain, type Said } from "./origin.ts";
import type { KnownTool, RecognisedCall, RecogniserMode, RefusedCall } from "./recognise.ts";

/** The tools, the mode and the words by which a call is judged. Mendings are added to `repairs`. */
export interface Judging {
  readonly known: KnownTools;
  readonly mode: RecogniserMode;
  readonly repairs: Set<string>;
  readonly said: Said | undefined;
}

/** The calls that a written one means, fitted to their tool, or why they are none. */
export function judgeCall(written: WrittenCall, judging: Judging): readonly (RecognisedCall | RefusedCall)[] {
  const tool = judging.known.find(written.name);
  if (tool === undefined) return [{ name: written.name, reason: "no tool has this name" }];
  if (tool.name !== written.name) judging.repairs.add(`"${written.name}" was taken as "${tool.name}"`);
  const calls = tool.changes === true ? [written] : spreadCall(written, tool, judging.repairs);
  return calls.map((call) => judgeOne(call, tool, judging));
}

function judgeOne(
  call: WrittenCall,
  tool: KnownTool,
  { mode, repairs, said }: Judging,
): RecognisedCall | RefusedCall {
  const { args, faults } = fitCall(call, tool, { mode, repairs });
  const { name } = tool;
  if (faults.length > 0) return { name, reason: faults.join(", ") };
  if (mode === "safe" && hasPlaceholder(args, tool, said))
    return { name, reason: "an argument only holds the place of a value" };
  if (said !== undefined && comesFromNowhere(args, tool, said))
    return { name, reason: "most of its arguments were never said" };
  return { name, arguments: args };
}

/** More calls than this nobody means by one. */
const most = 16;

/**
 * `price(city=["Rome", "Oslo"])` where the tool takes one city means one call for each: lists that stand for single values are taken apart,
 * several of one length together. The call as it is when it has none, or when they are not of one length.
 */
function spreadCall(call: WrittenCall, tool: KnownTool, repairs: Set<string>): readonly WrittenCall[] {
  const lists = Object.entries(call.named).flatMap(
    ([key, items]): { key: string; items: readonly Json[] }[] =>
      Array.isArray(items) && items.length > 1 && standsForOne(key, items, tool) ? [{ key, items }] : [],
  );
  const count = lists[0]?.items.length ?? 0;
  if (count === 0 || count > most || lists.some(({ items }) => items.length !== count)) return [call];
  repairs.add("a list where one value is wanted was taken as one call for each");
  return Array.from({ length: count }, (_, index) => {
    const values = lists.map(({ key, items }): [string, Json] => [key, items[index] ?? null]);
    return { ...call, named: { ...call.named, ...Object.fromEntries(values) } };
  });
}

function standsForOne(key: string, value: readonly Json[], tool: KnownTool): boolean {
  const properties = propertiesOf(tool);
  const name = propertyOf(properties, key);
  if (name === undefined) return false;
  const wanted = resolved(properties[name], tool.inputSchema) ?? {};
  const types = typesOf(wanted);
  const isOpen = types.length === 0 && !Array.isArray(wanted["enum"]);
  return (
    !isOpen &&
    !types.includes("array") &&
    value.every((item) => !isJsonObject(item) && (types.length === 0 || hasType(item, types)))
  );
}

const placeholder =
  /^(?:your_\w+|<[\w -]+>|\[[A-Za-z][\w -]*\]|\{[A-Za-z][\w -]*\}|\.{3}|…|unknown|n\/?a|none|tbd|todo|placeholder|insert[_ ]\w+|\w+_here|not (?:specified|provided)|unspecified|undefined|[ymdhs]{2,4}(?:[-/: .]+[ymdhs]{2,4})+)$/i;

/** True if an argument only holds the place of a value, and neither people nor the tool's schema said it. */
function hasPlaceholder(args: JsonObject, tool: KnownTool, said: Said | undefined): boolean {
  return Object.values(args).some((value) => isPlaceholder(value, tool, said));
}

function isPlaceholder(value: Json, tool: KnownTool, said: Said | undefined): boolean {
  if (Array.isArray(value)) return value.some((item: Json) => isPlaceholder(item, tool, said));
  if (typeof value !== "string" || !placeholder.test(value.trim())) return false;
  const text = plain(value.trim());
  return said?.text.includes(text) !== true && !descriptionOf(tool).text.includes(`"${text}"`);
}

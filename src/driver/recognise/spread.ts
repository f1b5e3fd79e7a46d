import { isJsonObject, type Json } from "../../util/json.ts";
import { resolved } from "../../schema/check-schema.ts";
import type { WrittenCall } from "./call-expression.ts";
import { hasType, typesOf } from "./convert.ts";
import { propertyOf } from "./fit.ts";
import { propertiesOf } from "./known-tools.ts";
import type { KnownTool } from "./recognise.ts";

/** More calls than this nobody means by one. */
const most = 16;

/**
 * `price(city=["Rome", "Oslo"])` where the tool takes one city means one call for each: lists that stand for single values are taken apart,
 * several of one length together. The call as it is when it has none, or when they are not of one length.
 */
export function spreadCall(call: WrittenCall, tool: KnownTool, repairs: Set<string>): readonly WrittenCall[] {
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

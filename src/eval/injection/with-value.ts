import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import type { Leaf } from "./find-values.ts";

/** The arguments with the value at a path replaced; undefined takes it out of its object. */
export function withValue(
  args: JsonObject,
  [key = "", ...rest]: Leaf["path"],
  value: Json | undefined,
): JsonObject {
  const { [key]: old = null, ...others } = args;
  return rest.length === 0 && value === undefined ? others : { ...args, [key]: replaced(old, rest, value) };
}

/** JSON with the value at a path replaced. */
export function replaced(json: Json, path: Leaf["path"], value: Json | undefined): Json {
  const [key, ...rest] = path;
  if (key === undefined) return value ?? null;
  if (isJsonList(json))
    return json.map((each, index) => (index === key ? replaced(each, rest, value) : each));
  return withValue(isJsonObject(json) ? json : {}, path, value);
}

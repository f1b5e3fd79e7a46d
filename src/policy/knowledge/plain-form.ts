import type { ValueType } from "../../tool/parameters.ts";
import { isJsonObject, type Json } from "../../util/json.ts";
import { canonical } from "../values/canonical.ts";

/** A name that is one word, and no address: nothing in it can be read as a sentence. */
const name = /^[\p{L}\p{N}][\p{L}\p{N}\p{M}_-]{0,63}$/u;

/** True if a result holds nothing but values of one type, in lists and under plain names: whoever wrote one of them could not write a sentence. */
export function hasForm(result: Json, type: ValueType): boolean {
  if (Array.isArray(result)) return result.every((item: Json) => hasForm(item, type));
  if (isJsonObject(result))
    return Object.entries(result).every(([key, value]) => name.test(key) && hasForm(value, type));
  if (result === null || typeof result === "boolean") return true;
  if (type === "identifier" || type === "text")
    return name.test(typeof result === "string" ? result : JSON.stringify(result));
  const isSentence = places.has(type) && typeof result === "string" && /\s/u.test(result);
  return !isSentence && canonical(type, result) !== undefined;
}

/** Types of values that may have any words beside the place that they name: `Ada Byron <ada@x.example>`, `a letter to Ada.txt`. */
const places: ReadonlySet<ValueType> = new Set(["email", "path"]);

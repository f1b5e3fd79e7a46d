import { thrownText } from "./thrown.ts";
import { type Json, maxJsonDepth, type ParsedJson, refuseHoles } from "./json.ts";

/**
 * The JSON that shows all of a value that code built, or the reason for which there is none. A copy: a change
 * of it leaves the value as it is.
 *
 * `toJson` follows `JSON.stringify`, which leaves out values that JSON has no word for; this does not. A Set
 * is the list of its values, a Map the list of its pairs. A function, a symbol, a number without end and an
 * object of a class without `toJSON` are not JSON. Fields that are undefined are left out; a bigint becomes
 * the string of its digits. Never throws.
 */
export function plainJson(value: unknown): ParsedJson {
  try {
    return { ok: true, value: plain(value, 0) };
  } catch (error) {
    return { ok: false, reason: thrownText(error, "it cannot be read") };
  }
}

function plain(value: unknown, depth: number): Json {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "object") return plainObject(value, depth);
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value === "bigint") return String(value);
  if (value === undefined) return null;
  throw new TypeError(`a ${typeof value === "number" ? String(value) : typeof value} is no JSON`);
}

function plainObject(value: object, depth: number): Json {
  if (depth >= maxJsonDepth) throw new RangeError(`it is nested deeper than ${maxJsonDepth} levels`);
  const deeper = depth + 1;
  if ("toJSON" in value && typeof value.toJSON === "function") return plain(value.toJSON(), deeper);
  if (Array.isArray(value)) {
    refuseHoles(value);
    return Array.from(value, (each: unknown) => plain(each, deeper));
  }
  if (value instanceof Set) return Array.from(value, (each: unknown) => plain(each, deeper));
  if (value instanceof Map)
    return Array.from(value, ([key, each]: [unknown, unknown]) => [plain(key, deeper), plain(each, deeper)]);
  return plainFields(value, deeper);
}

function plainFields(value: object, deeper: number): Json {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    throw new TypeError(`an object of a class (${Object.prototype.toString.call(value)}) is no JSON`);
  if (Object.getOwnPropertySymbols(value).length > 0)
    throw new TypeError("a field whose name is a symbol is no JSON");
  const copy: Record<string, Json> = {};
  for (const [key, field] of Object.entries(value) as [string, unknown][]) {
    if (key === "__proto__") throw new TypeError('the key "__proto__" is refused');
    if (field !== undefined) copy[key] = plain(field, deeper);
  }
  return copy;
}

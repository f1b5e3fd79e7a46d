import type { Json } from "./json.ts";

/** True for a list of one whole number, `[1]`: in prose it is the mark of a source more often than a value. */
export function isCitation(value: Json): boolean {
  const [only] = Array.isArray(value) && value.length === 1 ? value : [];
  return typeof only === "number" && Number.isInteger(only) && only >= 0;
}

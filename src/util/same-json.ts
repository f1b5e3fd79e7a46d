import type { Json } from "./json.ts";

/** Equal as JSON, whatever the order of the fields. */
export function sameJson(left: Json, right: Json): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const fields = Object.entries(left as Readonly<Record<string, Json>>);
  return (
    fields.length === Object.keys(right).length &&
    fields.every(([key, value]) => {
      const other = Object.hasOwn(right, key) ? (right as Readonly<Record<string, Json>>)[key] : undefined;
      return other !== undefined && sameJson(value, other);
    })
  );
}

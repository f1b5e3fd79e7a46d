import { isJsonList, isJsonObject, type Json } from "./json.ts";

/** Equal as JSON, whatever the order of the fields. */
export function sameJson(left: Json, right: Json | undefined): boolean {
  if (left === right) return true;
  if (isJsonList(left))
    return (
      isJsonList(right) &&
      left.length === right.length &&
      left.every((value, place) => sameJson(value, right[place]))
    );
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const fields = Object.entries(left);
  return (
    fields.length === Object.keys(right).length &&
    fields.every(([key, value]) => Object.hasOwn(right, key) && sameJson(value, right[key]))
  );
}

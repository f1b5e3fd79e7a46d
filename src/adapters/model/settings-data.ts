import type { Json, JsonObject } from "../../util/json.ts";

/** The settings of a model as frozen data: undefined values are left out, and so are values that are not JSON, like functions. */
export function settingsData(fields: Readonly<Record<string, unknown>>): JsonObject {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the text is that of an object
  return frozen(JSON.parse(JSON.stringify(fields)) as JsonObject);
}

function frozen<Value extends Json>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  for (const part of Object.values<Json>(value)) frozen(part);
  return Object.freeze(value);
}

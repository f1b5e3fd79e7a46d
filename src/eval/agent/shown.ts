import type { Json } from "../../util/json.ts";

const longest = 300;

/** A value as a report shows it: JSON on one line, cut where it is long. */
export function shown(value: Json): string {
  const text = JSON.stringify(value);
  return text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}…`;
}

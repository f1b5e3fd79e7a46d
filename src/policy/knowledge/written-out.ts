import { isJsonObject, type Json } from "../../util/json.ts";

/** The values of a structured result, each after the name of its field, as people write them; undefined for a result that is text. */
export function writtenOut(value: Json | undefined): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const lines: string[] = [];
  function visit(part: Json, name: string): void {
    if (Array.isArray(part)) part.forEach((each: Json) => visit(each, name));
    else if (isJsonObject(part)) Object.entries(part).forEach(([key, each]) => visit(each, key));
    else if (typeof part !== "object") lines.push(`${name}: ${String(part)}`);
  }
  visit(value, "");
  return lines.join("\n");
}

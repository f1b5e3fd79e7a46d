import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { hasType } from "../../schema/assertions.ts";
import { typesAt } from "../../schema/keywords.ts";
import { cursorOf, skipBlanks } from "./cursor.ts";
import { readLiteral } from "./literal.ts";

/** The types that a schema names, also those of its alternatives. Empty when it names none. */
export function typesOf(schema: JsonObject): readonly string[] {
  if (schema["type"] !== undefined) return typesAt(schema);
  const options = schema["anyOf"] ?? schema["oneOf"];
  if (!Array.isArray(options)) return [];
  const types = options.map((option: Json) => (isJsonObject(option) ? typesOf(option) : []));
  return types.some((each) => each.length === 0) ? [] : types.flat();
}

/**
 * The value in a type that the schema takes, where one reading alone is possible: a text that spells it, a number as text, one item as a list
 * of it, a list of one item as the item. Undefined when there is none.
 */
export function convertedTo(value: Json, schema: JsonObject): Json | undefined {
  const types = typesOf(schema);
  if (typeof value === "string") return fromText(value, types);
  if (types.includes("string") && (typeof value === "number" || typeof value === "boolean"))
    return String(value);
  const [single]: readonly Json[] = Array.isArray(value) ? value : [];
  if (Array.isArray(value))
    return value.length === 1 && single !== undefined && hasType(single, types) ? single : undefined;
  if (!types.includes("array") || value === null) return undefined;
  const { items } = schema;
  const itemTypes = isJsonObject(items) ? typesOf(items) : [];
  return itemTypes.length === 0 || hasType(value, itemTypes) ? [value] : undefined;
}

function fromText(text: string, types: readonly string[]): Json | undefined {
  const cursor = cursorOf(
    text
      .trim()
      .replace(/^[$€£¥]\s*(?=\d)/, "")
      .replaceAll(/(?<=\d),(?=\d{3}(?:\D|$))/g, ""),
  );
  const read = readLiteral(cursor);
  skipBlanks(cursor);
  const isWhole = read !== undefined && cursor.at >= cursor.text.length && cursor.twice.size === 0;
  if (isWhole && typeof read !== "string" && hasType(read, types)) return read;
  return types.includes("array") && text.trim() !== "" ? [text] : undefined;
}

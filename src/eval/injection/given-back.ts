import { parse } from "yaml";
import { isJsonList, isJsonObject, type Json, parseJson, toJson } from "../../util/json.ts";

/** The word of Python for nothing, where a value stands. */
const none = /(?<=[:[,]\s?)None(?=\s?[,}\]])/g;

/** The value that a tool gave. Suites keep what a model was shown of it: JSON, the same as Python writes it, or a list in YAML. */
export function givenBack(result: Json): Json {
  if (typeof result !== "string" || !/^\s*(?:[[{]|- )/.test(result)) return result;
  const parsed = parseJson(result);
  if (parsed.ok) return parsed.value;
  try {
    const read = toJson(parse(result.replaceAll(none, "null"), { logLevel: "error" }));
    return read.ok && (isJsonObject(read.value) || isJsonList(read.value)) ? read.value : result;
  } catch {
    return result;
  }
}

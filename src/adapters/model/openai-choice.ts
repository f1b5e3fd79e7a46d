import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../util/json.ts";

/** The choice of index 0 of a chunk; some servers leave out the index. Each other choice is a reply of its own. */
export function choiceOf({ choices }: JsonObject): JsonObject | undefined {
  if (!isJsonList(choices)) return undefined;
  return choices.filter(isJsonObject).find((choice) => Number(choice["index"] ?? 0) === 0);
}

/** The server's reason for the end of the reply. Some servers write an empty reason, or the word `null`, into each chunk. */
export function reasonIn({ finish_reason: reason }: JsonObject): string | undefined {
  return typeof reason === "string" && reason !== "" && reason !== "null" ? reason : undefined;
}

/** The pieces of calls. Older servers have only one call, `function_call`. */
export function callPieces({ tool_calls: pieces, function_call: only }: JsonObject): readonly Json[] {
  if (isJsonList(pieces) && pieces.length > 0) return pieces;
  return isJsonObject(only) ? [{ index: 0, function: only }] : [];
}

import { isJsonObject, type Json } from "../util/json.ts";
import type { Message, ReplyPart } from "./message.ts";

/** About how many characters a model reads or writes for a message: for estimates where a provider reports no usage. */
export function charactersOf(message: Message): number {
  if (message.role === "system" || message.role === "tool") return message.text.length;
  let sum = 0;
  for (const part of message.parts) sum += partCharacters(part);
  return sum;
}

function partCharacters(part: ReplyPart): number {
  if (part.type === "text" || part.type === "reasoning") return part.text.length;
  return part.type === "tool-call" ? part.name.length + jsonCharacters(part.arguments) : 0;
}

/** The length of the JSON text of a value, which is not written for it. Escapes are not counted. */
function jsonCharacters(value: Json): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return String(value).length;
  let sum = 1;
  if (isJsonObject(value))
    for (const key of Object.keys(value)) sum += 4 + key.length + jsonCharacters(value[key] ?? null);
  else for (const each of value) sum += 1 + jsonCharacters(each);
  return Math.max(2, sum);
}

import { resultStatuses } from "./message.ts";
import { isJsonObject, type Json } from "../util/json.ts";

const statuses: ReadonlySet<Json | undefined> = new Set(resultStatuses);

/** What is wrong with the shape of a message that comes from outside; undefined when it is one. What it may hold beside that is kept as it is. */
export function messageFault(value: unknown): string | undefined {
  const message = value as Json;
  if (!isJsonObject(message)) return "it is no object";
  const { role, text, parts } = message;
  if (role === "system") return isText(text) ? undefined : "its `text` is no text";
  if (role === "user") return partsFault(parts, userParts);
  if (role === "assistant") return partsFault(parts, replyParts);
  if (role !== "tool") return `there is no role ${JSON.stringify(role) ?? "undefined"}`;
  return (
    resultFault(message) ??
    (isText(message["callId"]) && isText(message["name"]) ? undefined : "it names no call")
  );
}

/** What is wrong with a result that comes from outside. */
export function resultFault(value: unknown): string | undefined {
  const result = value as Json;
  if (!isJsonObject(result)) return "it is no object";
  if (!statuses.has(result["status"])) return "its `status` is none";
  return isText(result["text"]) ? undefined : "its `text` is no text";
}

type Shape = (part: { readonly [key: string]: Json }) => boolean;

const userParts: Readonly<Record<string, Shape>> = {
  text: ({ text }) => isText(text),
  file: ({ mediaType, data }) => isText(mediaType) && isText(data),
};

const replyParts: Readonly<Record<string, Shape>> = {
  ...userParts,
  reasoning: ({ text }) => isText(text),
  "tool-call": ({ id, name, arguments: args }) => isText(id) && isText(name) && args !== undefined,
  provider: ({ data }) => isJsonObject(data),
};

function partsFault(parts: Json | undefined, shapes: Readonly<Record<string, Shape>>): string | undefined {
  if (!Array.isArray(parts)) return "its `parts` are no list";
  const index = parts.findIndex((part: Json) => !isPart(part, shapes));
  return index === -1 ? undefined : `its part ${index} cannot be read`;
}

function isPart(part: Json, shapes: Readonly<Record<string, Shape>>): boolean {
  if (!isJsonObject(part)) return false;
  const { type } = part;
  return typeof type === "string" && Object.hasOwn(shapes, type) && shapes[type]?.(part) === true;
}

function isText(value: Json | undefined): boolean {
  return typeof value === "string";
}

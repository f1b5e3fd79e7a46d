import { resultStatuses } from "../message/message.ts";
import { isJsonObject, type Json } from "../util/json.ts";
import { hookFields, type HookPlace } from "./hook.ts";

/** What a field must be: in words for its author, and as a check. */
interface Kind {
  readonly wanted: string;
  readonly fits: (value: Json) => boolean;
}

const text: Kind = { wanted: "a text", fits: (value) => typeof value === "string" };
const number: Kind = { wanted: "a finite number", fits: (value) => typeof value === "number" };
const yesOrNo: Kind = { wanted: "true or false", fits: (value) => typeof value === "boolean" };
const json: Kind = { wanted: "JSON", fits: () => true };
const settings: Kind = { wanted: "an object of settings", fits: isJsonObject };
const reply: Kind = {
  wanted: "a reply of the model, with role and parts",
  fits: (value) => isJsonObject(value) && value["role"] === "assistant" && isMessage(value),
};
const messages: Kind = {
  wanted: "a list of messages",
  fits: (value) => Array.isArray(value) && value.every((message: Json) => isMessage(message)),
};
const toolChoice: Kind = {
  wanted: '"auto", "required", "none" or { tool }',
  fits: (value) =>
    value === "auto" ||
    value === "required" ||
    value === "none" ||
    (isJsonObject(value) && typeof value["tool"] === "string"),
};
const toolResult: Kind = {
  wanted: "the result of a call: status, text, and note and value if any",
  fits: (value) =>
    isJsonObject(value) &&
    isResult(value) &&
    Object.keys(value).every((key) => ["status", "text", "note", "value"].includes(key)),
};

const kinds: Readonly<Record<string, Kind>> = {
  input: json,
  skill: text,
  deny: text,
  say: text,
  answer: json,
  messages,
  settings,
  toolChoice,
  message: reply,
  arguments: json,
  stop: text,
  extend: number,
  checkpoint: yesOrNo,
  retryAfterMs: number,
  continue: text,
  output: json,
};

/** What a hook must give back as this field of this place; undefined when it is that. */
export function wrongField(place: HookPlace, field: string, value: Json): string | undefined {
  const kind = field === "result" ? (place === "afterToolCall" ? toolResult : json) : kinds[field];
  return kind === undefined || kind.fits(value) ? undefined : `\`${field}\` must be ${kind.wanted}`;
}

/** The fields that a place takes, in words. */
export function allowedFields(place: HookPlace): string {
  return hookFields[place].join(", ") || "none";
}

const statuses: ReadonlySet<Json> = new Set(resultStatuses);

function isResult(value: { readonly [key: string]: Json }): boolean {
  const { status = null, text: told, note } = value;
  return statuses.has(status) && typeof told === "string" && (note === undefined || typeof note === "string");
}

function isMessage(value: Json): boolean {
  if (!isJsonObject(value)) return false;
  const { role, parts } = value;
  if (role === "system") return typeof value["text"] === "string";
  if (role === "tool")
    return typeof value["callId"] === "string" && typeof value["name"] === "string" && isResult(value);
  return (
    (role === "user" || role === "assistant") &&
    Array.isArray(parts) &&
    parts.every((part: Json) => isPart(part))
  );
}

/** What may stand as the name of a tool in a message. */
const storableName = /^[a-zA-Z0-9_./-]{1,64}$/;

function isPart(value: Json): boolean {
  if (!isJsonObject(value)) return false;
  const { type, id, name } = value;
  if (type === "text" || type === "reasoning") return typeof value["text"] === "string";
  if (type === "file") return typeof value["mediaType"] === "string" && typeof value["data"] === "string";
  if (type === "provider") return isJsonObject(value["data"]);
  const isCall = type === "tool-call" && typeof id === "string" && typeof name === "string";
  return isCall && storableName.test(name) && value["arguments"] !== undefined;
}

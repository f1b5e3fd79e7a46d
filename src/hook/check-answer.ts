import { resultShape, writtenMessage, writtenReply } from "../message/message-shape.ts";
import type { Json } from "../util/json.ts";
import {
  anything,
  boolean,
  either,
  list,
  misfitText,
  finite,
  object,
  oneOf,
  record,
  refined,
  type Shape,
  string,
} from "../util/shape.ts";
import { hookFields, type HookPlace } from "./hook.ts";

const choice = either(oneOf("auto", "required", "none"), object({ tool: string }, "{ tool }"));

const toolResult = refined(
  resultShape,
  "must be the result of a call: status, text, and note, value and files if any",
  (result) => Object.keys(result).every((key) => ["status", "text", "note", "value", "files"].includes(key)),
);

const shapes: Readonly<Record<string, Shape<unknown>>> = {
  input: anything,
  skill: string,
  deny: string,
  say: string,
  answer: anything,
  messages: list(writtenMessage, "a list of messages"),
  settings: record,
  toolChoice: choice,
  message: writtenReply,
  arguments: anything,
  stop: string,
  extend: finite,
  checkpoint: boolean,
  retryAfterMs: finite,
  continue: string,
  output: anything,
};

/** The reason for which a hook may not give this value as this field; undefined when it may. */
export function wrongField(place: HookPlace, field: string, value: Json): string | undefined {
  const shape = field === "result" && place === "afterToolCall" ? toolResult : shapes[field];
  return shape === undefined ? undefined : misfitText(shape, value, field);
}

/** The fields that a place takes, in words. */
export function allowedFields(place: HookPlace): string {
  return hookFields[place].join(", ") || "none";
}

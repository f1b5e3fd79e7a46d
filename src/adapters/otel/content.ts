import type { Attributes } from "@opentelemetry/api";
import { contentText, type ReplyMessage } from "../../message/message.ts";
import type { Json } from "../../util/json.ts";

/** The input of a run as messages of the conventions. */
export function inputContent(input: Json): Attributes {
  const parts = [{ type: "text", content: contentText(input) }];
  return { "gen_ai.input.messages": JSON.stringify([{ role: "user", parts }]) };
}

/** A reply of a model as messages of the conventions. */
export function replyContent({ parts }: ReplyMessage, finish: string): Attributes {
  const told = parts.flatMap((part): Json[] => {
    if (part.type === "tool-call")
      return [{ type: "tool_call", id: part.id, name: part.name, arguments: part.arguments }];
    return part.type === "text" || part.type === "reasoning" ? [{ type: part.type, content: part.text }] : [];
  });
  const message = { role: "assistant", parts: told, finish_reason: finish };
  return { "gen_ai.output.messages": JSON.stringify([message]) };
}

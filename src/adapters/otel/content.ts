import type { Attributes } from "@opentelemetry/api";
import { contentText, type FinishReason, type ReplyMessage } from "../../message/message.ts";
import type { Json } from "../../util/json.ts";
import type { Told } from "./tellers.ts";

/** The input of a run as messages of the conventions. */
export function inputContent(input: Json): Attributes {
  const parts = [{ type: "text", content: contentText(input) }];
  return { "gen_ai.input.messages": JSON.stringify([{ role: "user", parts }]) };
}

/** The reason for which a model stopped: the provider's own word, else the common one. */
export function reasonOfProvider({
  finishReason,
  response,
}: Pick<Told<"message-end">, "finishReason" | "response">): string {
  return response?.finishReason ?? finishReason.replaceAll("-", "_");
}

/** The same reason, in the words that the conventions have for messages. */
function reasonOfMessage(finish: FinishReason): string {
  return finish === "tool-calls" ? "tool_call" : finish.replaceAll("-", "_");
}

/** A reply of a model as messages of the conventions. */
export function replyContent({ parts }: ReplyMessage, finish: FinishReason): Attributes {
  const told = parts.flatMap((part): Json[] => {
    if (part.type === "tool-call")
      return [{ type: "tool_call", id: part.id, name: part.name, arguments: part.arguments }];
    return part.type === "text" || part.type === "reasoning" ? [{ type: part.type, content: part.text }] : [];
  });
  const message = { role: "assistant", parts: told, finish_reason: reasonOfMessage(finish) };
  return { "gen_ai.output.messages": JSON.stringify([message]) };
}

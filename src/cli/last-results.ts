import type { ModelRequest } from "../model/model.ts";

/** The texts of the results that a request carries: those of one tool when it is named, else those since the model's last reply. */
export function lastResults({ messages }: ModelRequest, tool?: string): string[] {
  const from = tool === undefined ? messages.findLastIndex((message) => message.role === "assistant") : 0;
  return messages
    .slice(from)
    .flatMap((message) =>
      message.role === "tool" && (tool === undefined || message.name === tool) ? [message.text] : [],
    );
}

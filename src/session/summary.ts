import { messageOf, WritError } from "../error/writ-error.ts";
import { type Label, labelledAs, trustedLabel } from "../message/label.ts";
import { type Message, runtimeMessage, type UserMessage } from "../message/message.ts";

/** Summarises messages: a function, which may ask an agent. */
export type Summarise = (messages: readonly Message[]) => string | Promise<string>;

/** A summary as the model is told it; its label is no better than those of its sources. */
export function summaryMessage(text: string, label: Label = trustedLabel): UserMessage {
  return labelledAs(runtimeMessage(`Summary of what was said before:\n\n${text}`), label);
}

/** @throws WritError `summary-failed` if there is no text; an error of the function is the cause */
export async function summaryOf(messages: readonly Message[], summarise: Summarise): Promise<string> {
  const where = "a conversation";
  let text: unknown;
  try {
    text = await summarise(messages);
  } catch (cause) {
    throw new WritError("summary-failed", { where, reason: messageOf(cause) }, { cause });
  }
  if (typeof text === "string" && text.trim() !== "") return text;
  throw new WritError("summary-failed", { where, reason: "`summarise` gave no text" });
}

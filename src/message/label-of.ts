import { joinLabels, type Label, readLabel, trustedLabel, untrustedFrom } from "./label.ts";
import type { Message } from "./message.ts";

/**
 * The label of a message. Without one of its own a tool's result is a stranger's, in whatever transcript it stands; what the runtime says in the
 * place of a result, and what users, authors and a model that has seen nothing else say, is trusted.
 */
export function labelOf(message: Message): Label {
  if (message.role === "system") return trustedLabel;
  if (message.label !== undefined) return readLabel(message.label);
  if (message.role !== "tool" || isRuntimeWord[message.status]) return trustedLabel;
  return untrustedFrom(`tool/${message.name}`);
}

const isRuntimeWord = {
  ok: false,
  error: false,
  unknown: false,
  invalid: true,
  denied: true,
  timeout: true,
  cancelled: true,
  skipped: true,
} as const;

/** The join of what stands in these messages. */
export function labelOfAll(messages: readonly Message[]): Label {
  return messages.reduce((sum, message) => joinLabels(sum, labelOf(message)), trustedLabel);
}

import { joinLabels, type Label, readLabel, trustedLabel, untrustedFrom } from "./label.ts";
import type { Message, ResultStatus } from "./message.ts";

/**
 * The label of a message. Without one of its own a tool's result is a stranger's, in whatever transcript it stands; what the runtime says in the
 * place of a result, and what users, authors and a model that has seen nothing else say, is trusted.
 */
export function labelOf(message: Message): Label {
  if (message.role === "system") return trustedLabel;
  if (message.label !== undefined) return readLabel(message.label);
  if (message.role !== "tool" || runtimeWords.has(message.status)) return trustedLabel;
  return untrustedFrom(`tool/${message.name}`);
}

/** How a call ends that did not run, or was ended by the runtime: what is told then are its words. */
const runtimeWords: ReadonlySet<string> = new Set<ResultStatus>([
  "invalid",
  "denied",
  "timeout",
  "cancelled",
  "skipped",
]);

/** The join of what stands in these messages. */
export function labelOfAll(messages: readonly Message[]): Label {
  return messages.reduce((sum, message) => joinLabels(sum, labelOf(message)), trustedLabel);
}

import { isPlain, joinLabels, untrustedFrom } from "../message/label.ts";
import type { ReplyMessage } from "../message/message.ts";
import type { Learned } from "../policy/learned.ts";

/** A reply is no better than what the model had seen, also while it wrote: what the provider carried out itself brings strangers' words. */
export function seenBy(message: ReplyMessage, { label: before }: Pick<Learned, "label">): ReplyMessage {
  const isHelped = message.parts.some(
    (part) => part.type === "provider" || (part.type === "tool-call" && part.providerExecuted === true),
  );
  const label = isHelped ? joinLabels(before, untrustedFrom("provider")) : before;
  return isPlain(label) ? message : { ...message, label };
}

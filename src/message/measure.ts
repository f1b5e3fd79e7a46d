import type { Message, ReplyPart } from "./message.ts";

/** About how many characters a model reads or writes for a message: for estimates where a provider reports no usage. */
export function charactersOf(message: Message): number {
  if (message.role === "system" || message.role === "tool") return message.text.length;
  return message.parts.reduce((sum, part) => sum + partCharacters(part), 0);
}

function partCharacters(part: ReplyPart): number {
  if (part.type === "text" || part.type === "reasoning") return part.text.length;
  if (part.type === "tool-call") return part.name.length + JSON.stringify(part.arguments).length;
  return 0;
}

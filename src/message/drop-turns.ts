import { isAsked, type Message, type UserMessage } from "./message.ts";

/** The messages without their oldest `count` turns, with `summary` in the place of what was removed; the same list where there is none. */
export function withoutTurns(
  messages: readonly Message[],
  count: number,
  summary: UserMessage | undefined,
): readonly Message[] {
  const end = endOfTurn(messages, count);
  if (end === 0) return messages;
  const first = messages[0];
  const rest = messages.slice(end);
  const replyAt = rest.findIndex(isReply);
  const isAnswered = rest.slice(0, replyAt === -1 ? rest.length : replyAt).some(isAsked);
  const askedAt = isAnswered ? -1 : messages.slice(0, end).findLastIndex(isAsked);
  const asked = askedAt === -1 ? [] : messages.slice(askedAt, askedAt + 1);
  const offering = askedAt === -1 ? [] : turnsWithOffers(messages.slice(askedAt + 1, end));
  const told = summary === undefined ? [] : [summary];
  const isFirst = askedAt < messages.findIndex(isReply);
  return [
    ...(first?.role === "system" ? [first] : []),
    ...(isFirst ? [...asked, ...offering, ...told] : [...told, ...asked, ...offering]),
    ...rest,
  ];
}

function isReply({ role }: Message): boolean {
  return role === "assistant";
}

function isOffer(message: Message): boolean {
  return message.role === "tool" && message.offers !== undefined;
}

/** The turns whose results tell of tools. */
function turnsWithOffers(messages: readonly Message[]): readonly Message[] {
  if (!messages.some(isOffer)) return [];
  return messages.flatMap((reply, index) => {
    if (reply.role !== "assistant") return [];
    const after = messages.slice(index + 1);
    const end = after.findIndex(({ role }) => role !== "tool");
    const results = end === -1 ? after : after.slice(0, end);
    return results.some(isOffer) ? [reply, ...results] : [];
  });
}

/** The index behind the results of the `count`th reply, or of the last one when there are fewer; 0 when there is none. */
function endOfTurn(messages: readonly Message[], count: number): number {
  let replies = 0;
  let end = 0;
  for (const [index, { role }] of messages.entries()) {
    if (role === "assistant" && (replies += 1) > count) break;
    if (role === "assistant" || role === "tool") end = index + 1;
  }
  return end;
}

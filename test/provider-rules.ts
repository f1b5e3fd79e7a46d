import { callsOf, type Message } from "../src/message/message.ts";

/**
 * What the providers' interfaces refuse with an error, as their documentation states it. Independent of the transcript's own code.
 *
 * - OpenAI: a message with tool calls must be followed by one tool message for each id, before anything else; a tool message needs its call.
 * - Anthropic: the first message is the user's; results come at once after the calls, exactly one for each; ids are unique and match
 *   `^[a-zA-Z0-9_-]+$`; no message is empty.
 * - Gemini: as many responses as calls, in the next turn, in the same order.
 */
export function providerComplaints(messages: readonly Message[]): string[] {
  const complaints: string[] = [];
  const seen = new Set<string>();
  let waiting: string[] = [];
  messages.forEach((message, index) => {
    if (message.role === "tool") {
      if (waiting[0] !== message.callId)
        complaints.push(`${index}: result for ${message.callId}, expected ${String(waiting[0])}`);
      waiting = waiting.slice(1);
      return;
    }
    if (waiting.length > 0)
      complaints.push(`${index}: ${message.role} while ${waiting.join()} wait for results`);
    if (message.role === "system" && index > 0) complaints.push(`${index}: system message inside`);
    if (message.role !== "assistant") return;
    if (message.parts.length === 0) complaints.push(`${index}: empty reply`);
    waiting = callsOf(message).map((call) => call.id);
    for (const id of waiting) {
      if (seen.has(id)) complaints.push(`${index}: id ${id} twice`);
      if (!/^[a-zA-Z0-9_-]+$/.test(id)) complaints.push(`${index}: id ${JSON.stringify(id)}`);
      seen.add(id);
    }
  });
  if (waiting.length > 0) complaints.push(`end: ${waiting.join()} have no results`);
  const first = messages.find((message) => message.role !== "system");
  if (first !== undefined && first.role !== "user") complaints.push(`the first message is of ${first.role}`);
  return complaints;
}

import { callsOf, type Message } from "../../message/message.ts";
import type { Told } from "./evidence.ts";

/** The faults of a conversation that providers refuse, and calls without exactly one result. Written apart from the code of the transcript. */
export function transcriptFaults(messages: readonly Message[]): readonly string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  let waiting: readonly string[] = [];
  for (const [place, message] of messages.entries()) {
    if (message.role === "tool") {
      if (waiting[0] !== message.callId)
        faults.push(
          `message ${place} is a result for ${message.callId}, and ${waiting[0] ?? "no call"} waits for one`,
        );
      waiting = waiting.slice(1);
      continue;
    }
    if (waiting.length > 0)
      faults.push(`message ${place} is of ${message.role} while ${waiting.join(", ")} have no result`);
    waiting = [];
    if (message.role === "system" && place > 0)
      faults.push(`message ${place} is a system message in the middle`);
    if (message.role !== "assistant") continue;
    if (message.parts.length === 0) faults.push(`message ${place} is an empty reply`);
    waiting = callsOf(message).map(({ id }) => id);
    for (const id of waiting) {
      if (seen.has(id)) faults.push(`message ${place} uses the id ${id} a second time`);
      seen.add(id);
    }
  }
  if (waiting.length > 0) faults.push(`at the end ${waiting.join(", ")} have no result`);
  const first = messages.find(({ role }) => role !== "system");
  if (first !== undefined && first.role !== "user") faults.push(`the first message is of ${first.role}`);
  return faults;
}

/** Calls of a run that have more than one end, or an end in the transcript that differs from the one told. */
export function resultFaults({ run, facts }: Told): readonly string[] {
  const ends = Map.groupBy(
    facts.filter((fact) => fact.type === "tool-end" || fact.type === "knowledge-used"),
    ({ callId }) => callId,
  );
  const twice = [...ends].flatMap(([callId, { length }]) =>
    length === 1 ? [] : [`${run.id}: ${callId} was told to end ${length} times`],
  );
  const other = (run.result?.transcript.messages ?? []).flatMap((message) => {
    if (message.role !== "tool") return [];
    const told = ends.get(message.callId)?.[0]?.result.status ?? message.status;
    const { callId, status } = message;
    return told === status ? [] : [`${run.id}: ${callId} was told to be ${told}, and is ${status}`];
  });
  return [...twice, ...other];
}

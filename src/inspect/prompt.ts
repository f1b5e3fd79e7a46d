import type { Fact } from "../event/event.ts";
import { labelOf, type ReplyMessage, textOf, callsOf } from "../message/message.ts";
import type { Json } from "../util/json.ts";
import { bounded } from "./bounded.ts";
import type { InspectedCall, PromptMessage, SentMessage } from "./view.ts";

/** The message that a run began with, after the instructions if they are known. */
export function firstMessages(input: Json, instructions: string | undefined): PromptMessage[] {
  const text = bounded(typeof input === "string" ? input : JSON.stringify(input, undefined, 2));
  const user: PromptMessage = { role: "user", text };
  return instructions === undefined ? [user] : [{ role: "system", text: bounded(instructions) }, user];
}

/** The messages that a turn adds: the reply, and one result for each of its calls. */
export function messagesOf(
  turn: number,
  message: ReplyMessage | undefined,
  calls: readonly InspectedCall[],
): readonly SentMessage[] {
  const reply = message === undefined ? [] : [{ ...replyMessage(message), turn }];
  const results = calls.flatMap(({ key, result }): readonly SentMessage[] =>
    result === undefined ? [] : [{ role: "tool", call: key }],
  );
  return [...reply, ...results];
}

function replyMessage(message: ReplyMessage): PromptMessage {
  const written = message.raw ?? textOf(message);
  const calls =
    message.raw === undefined
      ? callsOf(message).map((call) => `${call.name}(${JSON.stringify(call.arguments)})`)
      : [];
  const text = bounded([written, ...calls].filter((part) => part !== "").join("\n"));
  return { role: "model", text, ...(message.label === undefined ? {} : { label: labelOf(message) }) };
}

/** The text about something that happened beside the calls of a run. */
export function remarkOf(fact: Fact): string | undefined {
  if (fact.type === "budget-threshold")
    return `The bound "${fact.field}" is nearly met: ${fact.used} of ${fact.limit}.`;
  if (fact.type === "budget-extended")
    return `The bound "${fact.field}" was extended from ${fact.from} to ${fact.to}.`;
  if (fact.type === "compaction-end")
    return `${fact.droppedTurns} old turns were taken out of the prompt: ${fact.tokensBefore} tokens became ${fact.tokensAfter}.`;
  if (fact.type === "hook-end")
    return `Hooks changed something at ${fact.place}: ${Object.entries(fact.by)
      .map(([field, by]) => `${field} by ${by}`)
      .join(", ")}.`;
  if (fact.type === "skill-chosen" && fact.by !== "only")
    return `The skill "${fact.skill}" was chosen by ${fact.by ?? "the run"}.`;
  return undefined;
}

import type { AgentEvent, Fact } from "../../event/event.ts";
import { callsOf, charactersOf } from "../../message/message.ts";
import type { Json, JsonObject } from "../../util/json.ts";

/** Fields of events that hold no content: names, ids, numbers and the words of the runtime. All others are left out. */
const plainFields: ReadonlySet<string> = new Set(
  [
    "at seq type agent runId parentRunId sessionId intent turn callId name skill by confidence",
    "finishReason driver usage total costUsd durationMs startedMs approved for resource granted delegation",
    "field used limit from to droppedTurns tokensBefore tokensAfter place attempt delayMs",
  ].flatMap((names) => names.split(" ")),
);

/** A fact without the content of messages, arguments and results, of which it tells the length alone. */
export function auditEntry(fact: AgentEvent & Fact): JsonObject {
  const plain = Object.entries(fact).filter(([field]) => plainFields.has(field));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is the reader of this type
  const read = lengths[fact.type] as ((fact: Fact) => JsonObject) | undefined;
  return { ...Object.fromEntries(plain), ...read?.(fact) };
}

/** The parts of the facts that have content, as lengths and words of the runtime. */
const lengths: {
  readonly [Type in Fact["type"]]?: (fact: Extract<Fact, { readonly type: Type }>) => JsonObject;
} = {
  "run-start": ({ input }) => ({ inputChars: charsOf(input) }),
  "message-end": ({ message = { role: "assistant", parts: [] } }) => ({
    chars: charactersOf(message),
    calls: callsOf(message).map(({ name }) => name),
  }),
  "call-decided": ({ arguments: given, decision: { verdict, rule, flags = [] } }) => ({
    argumentsChars: charsOf(given),
    verdict,
    rule,
    flags,
  }),
  "approval-request": ({ arguments: given }) => ({ argumentsChars: charsOf(given) }),
  "approval-answer": ({ edited }) => ({ edited: edited !== undefined }),
  "tool-start": ({ arguments: given }) => ({ argumentsChars: charsOf(given) }),
  "tool-end": ({ result }) => ({ status: result.status, resultChars: result.text.length }),
  "knowledge-used": ({ result }) => ({ status: result.status, resultChars: result.text.length }),
  "run-end": ({ outcome }) => ({
    outcome: outcome.type,
    ...("code" in outcome ? { code: outcome.code } : {}),
  }),
};

function charsOf(value: Json): number {
  return typeof value === "string" ? value.length : JSON.stringify(value).length;
}

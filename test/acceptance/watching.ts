import { expect } from "vitest";
import { type Agent, type AgentEvent, isFact, type RunResult } from "../../src/index.ts";
import type { ReadyTranscript } from "../../src/doors.ts";
import type { PlainReply } from "../../src/model/function-model.ts";
import type { Json, JsonObject } from "../../src/util/json.ts";
import { providerComplaints } from "../provider-rules.ts";

/** An agent without schemas. */
export type TextAgent = Agent<string | JsonObject, string>;

/** What was told of a run, and how it ended. */
export interface Watched {
  readonly events: readonly AgentEvent[];
  readonly result: RunResult<unknown>;
}

/** Reads a run to its end. Its transcript must be one that every provider takes, whatever the end. */
export async function watch(stream: AsyncGenerator<AgentEvent, RunResult<unknown>>): Promise<Watched> {
  const events: AgentEvent[] = [];
  let next = await stream.next();
  while (next.done !== true) {
    events.push(next.value);
    next = await stream.next();
  }
  expectValid(next.value.transcript);
  expect(events.at(-1)).toMatchObject({ type: "run-end", outcome: next.value.outcome });
  return { events, result: next.value };
}

/** No provider would refuse this. */
export function expectValid(transcript: ReadyTranscript): void {
  expect(providerComplaints(transcript.messages)).toEqual([]);
}

/** The facts of one run, as text without what differs from run to run. */
export function factsOf(events: readonly AgentEvent[], runId = events[0]?.runId): string[] {
  return events
    .filter((event) => isFact(event) && event.runId === runId)
    .map(({ at: _at, ...fact }) => JSON.stringify(fact));
}

/** The events of one type. */
export function ofType<Type extends AgentEvent["type"]>(
  events: readonly AgentEvent[],
  type: Type,
): Extract<AgentEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<AgentEvent, { type: Type }> => event.type === type);
}

/** The results that the model was told, in order. */
export function resultsIn(transcript: ReadyTranscript): { status: string; text: string; name: string }[] {
  return transcript.messages.flatMap((message) =>
    message.role === "tool" ? [{ status: message.status, text: message.text, name: message.name }] : [],
  );
}

/** A call of a tool: its name, and its arguments if any. */
export type Called = string | readonly [string, JsonObject | string];

/** A reply that calls one tool after another. */
export function calling(...calls: readonly Called[]): PlainReply {
  return {
    calls: calls.map((call) =>
      typeof call === "string"
        ? { name: call, arguments: {} }
        : { name: call[0], arguments: call[1] as Json },
    ),
  };
}

/** What a journal or a disk would give back. */
export function roundTrip<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

import { EventType, verifyEvents } from "@ag-ui/client";
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { from, lastValueFrom, toArray } from "rxjs";
import { describe, expect, it } from "vitest";
import { allFaults, Drawing } from "../../src/eval/simulate/draw.ts";
import { play } from "../../src/eval/simulate/play.ts";
import { settingOf } from "../../src/eval/simulate/stage.ts";
import type { AgentEvent } from "../../src/event/event.ts";
import { AguiEvents } from "../../src/server/agui/events.ts";
import { UiChunks } from "../../src/server/ui-chunks.ts";
import { cases } from "../simulate/agents.ts";

/** The events of runs that answered, though models, tools, people and the clock did what they like. */
async function answered(name: string, schedules: number): Promise<readonly (readonly AgentEvent[])[]> {
  const { agent, options } = cases[name] ?? {};
  if (agent === undefined) throw new Error(`there is no ${name}`);
  const { stage } = await settingOf(agent, options ?? {});
  const all: AgentEvent[][] = [];
  for (let seed = 1; seed <= schedules; seed += 1) {
    const told = new Map<string, AgentEvent[]>();
    const drawing = new Drawing(seed, { faults: allFaults, durable: false });
    const { runs } = await play(stage, drawing, (happening) => {
      if (happening.type !== "tells") return;
      const { event } = happening;
      told.set(event.runId, [...(told.get(event.runId) ?? []), event]);
    });
    for (const { id } of runs) {
      const events = told.get(id) ?? [];
      const last = events.at(-1);
      if (last?.type === "run-end" && last.outcome.type === "answered") all.push(events);
    }
  }
  return all;
}

/** The message that a page of the AI SDK builds. */
async function messageOf(events: readonly AgentEvent[]): Promise<UIMessage | undefined> {
  const chunks = new UiChunks();
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      controller.enqueue({ type: "start" });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the kit checks each
      for (const chunk of events.flatMap((event) => chunks.of(event)))
        controller.enqueue(chunk as UIMessageChunk);
      controller.close();
    },
  });
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) last = message;
  return last;
}

const callsIn = (
  message: UIMessage | undefined,
): readonly { readonly id: string; readonly state: string }[] =>
  (message?.parts ?? []).flatMap((part) =>
    "toolCallId" in part ? [{ id: part.toolCallId, state: part.state }] : [],
  );

const ended = new Set(["output-available", "output-error", "output-denied"]);

const names = ["clerk", "scripted", "recovering", "skilled", "delegating"];

describe.each(names)("a page in whose run things go wrong: %s", (name) => {
  it("shows each call of a run that answered with its end, and no call of a reply that broke off", async () => {
    const runs = await answered(name, 60);
    expect(runs.length).toBeGreaterThan(20);
    for (const events of runs) {
      const told = events.flatMap((event) =>
        event.type === "tool-end" || event.type === "knowledge-used" ? [event.callId] : [],
      );
      const calls = callsIn(await messageOf(events));
      expect(calls.filter(({ state }) => !ended.has(state))).toEqual([]);
      expect(calls.map(({ id }) => id)).toEqual(told);
    }
  });

  it("is told what AG-UI allows, and each call with its result", async () => {
    for (const events of await answered(name, 60)) {
      const page = new AguiEvents({ prefix: "", before: [], state: {} });
      const told = events.flatMap((event) =>
        event.type === "run-end" ? page.ended(event.outcome, undefined) : page.of(event),
      );
      const all = [{ type: EventType.RUN_STARTED }, ...told].map((event) => ({
        threadId: "t",
        runId: "r",
        ...event,
      }));
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the client checks each
      await lastValueFrom(verifyEvents(false)(from(all as never[])).pipe(toArray()));
      const open = new Set(page.messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)));
      for (const { toolCallId } of page.messages) if (toolCallId !== undefined) open.delete(toolCallId);
      expect([...open]).toEqual([]);
    }
  });
});

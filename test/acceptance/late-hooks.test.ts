import { expect, it } from "vitest";
import {
  agent,
  type AgentEvent,
  type Hook,
  inMemorySessions,
  isFact,
  memoryJournal,
  session,
} from "../../src/index.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { resultsIn } from "./watching.ts";

type Kept = ReturnType<typeof memoryJournal>;

/** The facts of a run whose hook cancels it and then answers all the same. */
async function factsOf(hook: Hook, journal: Kept, signal?: AbortSignal): Promise<readonly object[]> {
  const told: AgentEvent[] = [];
  const model = scripted([{ text: "half", finishReason: "error" }, "Done."]);
  const hooks = [hook, { onError: () => ({ retryAfterMs: 0 }) }];
  const clerk = agent({ name: "clerk", model, retry: false, hooks });
  const onEvent = (event: AgentEvent): void => void told.push(event);
  const { outcome } = await clerk.run("go", { journal, onEvent, ...(signal && { signal }) });
  expect(outcome.type).toBe("cancelled");
  return told.filter(isFact).map(({ at: _at, runId: _run, ...fact }) => fact);
}

it("what a hook around the model says after it has cancelled the run is told neither to watchers nor to a replay", async () => {
  const message = { role: "assistant" as const, parts: [{ type: "text" as const, text: "mine" }] };
  const hooks = (stop: () => void): readonly Hook[] => [
    { beforeModel: () => (stop(), { settings: { temperature: 0 } }) },
    { afterModel: () => (stop(), { message }) },
    { onError: () => (stop(), { retryAfterMs: 0 }) },
  ];
  for (const place of hooks(() => undefined).keys()) {
    const stop = new AbortController();
    const hook = hooks(() => stop.abort("enough"))[place] ?? {};
    const journal = memoryJournal();
    const live = await factsOf(hook, journal, stop.signal);
    expect(await factsOf({}, memoryJournal(journal.records))).toEqual(live);
    expect(live.some((fact) => "place" in fact && fact.place === Object.keys(hook)[0])).toBe(false);
  }
});

it("what a tool gave is kept from everybody where the run is stopped before a hook has masked it", async () => {
  for (const journal of [undefined, memoryJournal()]) {
    const stop = new AbortController();
    const masked: Hook = {
      afterToolCall: async ({ result }) => {
        stop.abort("enough");
        await new Promise((resolve) => setTimeout(resolve, 5));
        return { result: { ...result, text: "****" } };
      },
    };
    const told: AgentEvent[] = [];
    const store = inMemorySessions();
    const model = scripted([{ calls: [{ name: "read" }, { name: "fail" }] }, "Done."]);
    const fail = fakeTool("fail", () => {
      throw new Error("no pin 1234");
    });
    const clerk = agent({
      name: "clerk",
      model,
      tools: [fakeTool("read", "pin 1234"), fail],
      hooks: [masked],
    });
    const run = await clerk.run("go", {
      session: session(store, "s"),
      signal: stop.signal,
      onEvent: (event) => void told.push(event),
      ...(journal && { journal }),
    });
    expect(run.outcome.type).toBe("cancelled");
    expect(resultsIn(run.transcript).map(({ status }) => status)).toContain("ok");
    const kept = await store.read("s");
    expect(JSON.stringify([told, run, kept, journal?.records])).not.toContain("1234");
  }
});

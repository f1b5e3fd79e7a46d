import { describe, expect, it } from "vitest";
import { parallel, pipe, race } from "../../src/compose.ts";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { agent, type AgentEvent, memoryJournal, type Runnable, tool } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";
import { ofType } from "./watching.ts";

const bad = agent({
  name: "bad",
  model: async () => {
    await new Promise((resolve) => void setTimeout(resolve, 20));
    throw new Error("no wire");
  },
});
const never = (): Promise<string> => new Promise(() => undefined);
const slow = agent({ name: "slow", model: never });
const quick = agent({ name: "quick", model: () => "done" });
const wait = tool({ name: "wait", description: "", effect: "read", inputSchema: {}, execute: never });
const working = agent({
  name: "working",
  model: scripted([{ calls: [{ name: "wait" }] }, "Done."]),
  tools: [wait],
});
const asking = agent({
  name: "asking",
  model: scripted([{ calls: [{ name: "ask", arguments: { input: "x" } }] }, "Done."]),
  tools: [slow.asTool({ name: "ask", description: "" })],
});

/** The ends that the composition and those in it tell; a call has a record. */
const ends = (events: readonly AgentEvent[]): readonly string[] =>
  events
    .filter(({ runId }) => !runId.includes("/call/"))
    .flatMap((event) => {
      if (event.type === "run-end") return [`${event.agent}: ${JSON.stringify(event.outcome)}`];
      return event.type === "delegation-end" ? [`${event.delegation.agent} ${event.delegation.outcome}`] : [];
    })
    .toSorted((a, b) => a.localeCompare(b));

async function eventsOf(run: Runnable<string>, journal: ReturnType<typeof memoryJournal>) {
  const events: AgentEvent[] = [];
  const reading = async (): Promise<void> => {
    for await (const event of run.stream("go", { journal })) events.push(event);
  };
  await expect(reading()).rejects.toThrow("no wire");
  return events;
}

describe("a member of a composition that throws", () => {
  it.each([
    ["first", parallel([bad, slow])],
    ["last", parallel([slow, bad])],
    ["where another waits for its tool", parallel([working, bad])],
    ["where another waits for an agent inside", parallel([asking, bad])],
    ["where another is a composition, and one has answered", parallel([quick, pipe(quick, slow), bad])],
    ["inside another", parallel([slow, pipe(quick, bad)])],
    ["beside those of a race that it is in", parallel([slow, race([bad, bad.with({ name: "worse" })])])],
  ])("cancels the others, and a replay tells so too: %s", async (_name, composed: Runnable<string>) => {
    const journal = memoryJournal();
    const live = await eventsOf(composed, journal);
    expect(ends(live).join()).toContain(" cancelled");
    const replay = memoryJournal(journal.records, { mode: "replay" });
    expect(ends(await eventsOf(composed, replay))).toEqual(ends(live));
  });

  it("tells the same of a durable run", async () => {
    const both = parallel([slow, bad]).with({ name: "both" });
    const live: AgentEvent[] = [];
    const runs = durableRuns({
      store: memoryRuns(),
      agents: [both],
      onEvent: (event) => void live.push(event),
    });
    const worker = runs.work();
    await runs.start(both, "go", { id: "r" });
    await runs.result("r");
    await worker.drain();
    const past: AgentEvent[] = [];
    for await (const event of runs.events("r")) past.push(event);
    expect(ofType(past, "delegation-end").map(({ delegation }) => delegation.outcome)).toEqual([
      "cancelled",
      "failed",
    ]);
  });
});

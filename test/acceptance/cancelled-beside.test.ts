import { describe, expect, it } from "vitest";
import { parallel, pipe } from "../../src/compose.ts";
import { durableRuns, memoryRuns, type RunStore } from "../../src/durable.ts";
import { agent, type Agent, type AgentEvent, isFact, type Runnable, tool } from "../../src/index.ts";
import type { ModelRequest } from "../../src/models.ts";

const usage = { inputTokens: 100, outputTokens: 7 };

/** An agent that looks twice, and is cancelled in its second look if it is the one that `cancelling` names. */
function looking(name: string, store: RunStore, cancelling: string): Agent {
  let looked = 0;
  const look = tool({
    name: "look",
    description: "",
    effect: "read",
    inputSchema: { type: "object" },
    execute: async () => {
      looked += 1;
      if (name === cancelling && looked === 2) await store.cancel("r", "enough");
      return "seen";
    },
  });
  const model = ({ messages }: Pick<ModelRequest, "messages">) =>
    messages.length > 4 ? { text: "Done.", usage } : { calls: [{ name: "look", arguments: {} }], usage };
  return agent({ name, description: "", model, tools: [look] });
}

function asking(name: string, agents: readonly Agent[]): Agent {
  const calls = agents.map((inner) => ({ name: inner.name, arguments: { input: "x" } }));
  const model = ({ messages }: Pick<ModelRequest, "messages">) =>
    messages.length > 2 ? { text: "Done.", usage } : { calls, usage };
  return agent({ name, description: "", model, tools: agents.map((inner) => inner.asTool()) });
}

const scenes: readonly (readonly [string, (store: RunStore) => Runnable])[] = [
  ["in a tool", (store) => asking("boss", [looking("one", store, "one")])],
  ["beside another", (store) => asking("boss", [looking("one", store, "one"), looking("two", store, "one")])],
  [
    "deeper",
    (store) =>
      asking("boss", [asking("clerk", [looking("one", store, "two"), looking("two", store, "two")])]),
  ],
  ["in a group", (store) => parallel([looking("one", store, "one"), looking("two", store, "one")])],
  ["in a pipe", (store) => pipe(looking("one", store, "two"), looking("two", store, "two"))],
];

/** The facts of the outermost run, without times. */
const outermost = (events: readonly AgentEvent[]): readonly AgentEvent[] =>
  events
    .filter((event) => isFact(event) && event.parentRunId === undefined)
    .map((event) => ({ ...event, at: 0, durationMs: 0, startedMs: 0 }));

/** Plays a run that is cancelled inside. Gives what its worker told, and what its followers read meanwhile. */
async function played(make: (store: RunStore) => Runnable) {
  const store = memoryRuns();
  const made = make(store);
  const live: AgentEvent[] = [];
  const runs = durableRuns({ store, agents: [made], onEvent: (event) => void live.push(event) });
  await runs.start(made, "go" as never, { id: "r" });
  const following = Array.fromAsync(runs.events("r", { inside: true }));
  const worker = runs.work();
  expect((await runs.result("r")).outcome.type).toBe("cancelled");
  await worker.drain();
  return { runs, live, followed: await following };
}

describe.each(scenes)("a durable run that is cancelled while an agent is at work %s", (_where, make) => {
  it("tells the same with the facts of the agents inside as without", async () => {
    const { runs, followed } = await played(make);
    const alone = outermost(await Array.fromAsync(runs.events("r")));
    expect(outermost(await Array.fromAsync(runs.events("r", { inside: true })))).toEqual(alone);
    expect(outermost(followed)).toEqual(alone);
    expect(alone.at(-1)).toMatchObject({ type: "run-end", usage: (await runs.replay("r")).usage });
  });

  it("tells the end of each call inside, once", async () => {
    const { runs, followed } = await played(make);
    for (const told of [followed, await Array.fromAsync(runs.events("r", { inside: true }))]) {
      const calls = (type: string): readonly string[] =>
        told.flatMap((event) =>
          event.type === type && "callId" in event ? [`${event.runId} ${event.callId}`] : [],
        );
      expect(calls("tool-end").toSorted()).toEqual([...new Set(calls("tool-end"))].toSorted());
      expect(calls("tool-end")).toEqual(expect.arrayContaining([...calls("tool-start")]));
    }
  });

  it("is told by its worker with what the agents inside used, as its records do", async () => {
    const { runs, live } = await played(make);
    const used = (events: readonly AgentEvent[]): readonly unknown[] =>
      outermost(events).flatMap((event) => {
        if (event.type === "delegation-end") return [event.delegation.agent, event.delegation.usage];
        return event.type === "run-end" ? [event.usage] : [];
      });
    expect(used(live)).toEqual(used(await Array.fromAsync(runs.events("r"))));
  });
});

import { expect, it } from "vitest";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { agent, type AgentEvent, isFact, tool } from "../../src/index.ts";
import { fakeTool, scripted } from "../../src/testing.ts";

const usage = { inputTokens: 100, outputTokens: 7 };

/** The facts of the outermost run that end calls and the run, without their times. */
function endsIn(told: readonly AgentEvent[]): readonly unknown[] {
  return told.flatMap((event) => {
    if (!isFact(event) || event.parentRunId !== undefined) return [];
    if (event.type === "delegation-end") return [[event.seq, event.delegation.agent, event.delegation.usage]];
    if (event.type === "tool-end") return [[event.seq, event.name, event.result.status]];
    return event.type === "run-end" ? [[event.seq, event.usage]] : [];
  });
}

it("a durable run that is cancelled while an agent inside is at work counts and tells what that used, as its records do", async () => {
  const store = memoryRuns();
  const look = tool({
    name: "look",
    description: "",
    effect: "read",
    inputSchema: { type: "object" },
    execute: async () => {
      await store.cancel("r", "enough");
      return "seen";
    },
  });
  const inner = agent({
    name: "inner",
    model: scripted([{ calls: [{ name: "note" }], usage }, { calls: [{ name: "look" }], usage }, "Done."]),
    tools: [look, fakeTool("note", "noted")],
  });
  const outer = agent({
    name: "outer",
    model: scripted([{ calls: [{ name: "ask", arguments: { input: "x" } }], usage }, "Done."]),
    tools: [inner.asTool({ name: "ask", description: "" })],
  });
  const live: AgentEvent[] = [];
  const runs = durableRuns({ store, agents: [outer], onEvent: (event) => void live.push(event) });
  const worker = runs.work();
  await runs.start(outer, "go", { id: "r" });
  expect((await runs.result("r")).outcome.type).toBe("cancelled");
  await worker.drain();
  const past: AgentEvent[] = [];
  for await (const event of runs.events("r")) past.push(event);
  expect(endsIn(live)).toEqual(endsIn(past));
  expect(endsIn(live)).toContainEqual([expect.anything(), "inner", usage]);
  expect(endsIn(live).at(-1)).toEqual([expect.anything(), { inputTokens: 200, outputTokens: 14 }]);
});

import { createHook } from "node:async_hooks";
import { expect, it, vi } from "vitest";
import { agent, memoryJournal, type Policy, tool } from "../../../src/index.ts";
import type { ModelRequest } from "../../../src/models.ts";

const free: Policy = () => ({ verdict: "allow", rule: "free", reason: "" });
const look = tool({ name: "look", description: "", inputSchema: { type: "object" }, execute: () => "seen" });

/** An agent that looks twice in each of so many turns, then answers. */
function walker(turns: number) {
  const model = ({ messages }: Pick<ModelRequest, "messages">) => {
    const done = messages.filter(({ role }) => role === "assistant").length;
    const call = { name: "look", arguments: { done } };
    return done < turns ? { calls: [call, call] } : "done";
  };
  return agent({
    name: "walker",
    model,
    tools: [look],
    policy: free,
    budget: { turns: 300, toolCalls: 600 },
  });
}

async function promisesOf(work: () => Promise<unknown>): Promise<number> {
  let promises = 0;
  const hook = createHook({ init: (_id, type) => void (promises += type === "PROMISE" ? 1 : 0) });
  hook.enable();
  await work();
  hook.disable();
  return promises;
}

it.each([{ mode: "replay" as const }, {}])(
  "what is recorded of a run is gone through without a promise where nobody watches: %o",
  async (options) => {
    const counts: number[] = [];
    for (const turns of [20, 220]) {
      const run = walker(turns);
      const journal = memoryJournal();
      await run.run("Go", { journal, runId: "r" });
      const kept = journal.records.filter(({ key }) => key !== "end"); // else the second is a replay too
      const again = memoryJournal("mode" in options ? journal.records : kept, options);
      let turned = 0;
      counts.push(
        await promisesOf(async () => {
          turned = (await run.run("Go", { journal: again, runId: "r" })).turns;
        }),
      );
      expect(turned).toBe(turns + 1);
    }
    const [short = 0, long = 0] = counts;
    expect(long - short).toBeLessThan(30); // of 200 turns, after 128 of which timers have a turn: what else the process does may make some too
  },
);

it("the tools of an agent are hashed once for all of its runs that go on", async () => {
  const description = "Words that stand nowhere else.";
  const tools = [tool({ name: "look", description, inputSchema: { type: "object" }, execute: () => "seen" })];
  const run = agent({ name: "walker", model: () => "done", tools });
  const journal = memoryJournal();
  await run.run("Go", { journal, runId: "r", onEvent: () => undefined });
  const kept = journal.records.filter(({ key }) => key !== "end");
  const hashed: number[] = [];
  for (let process = 0; process < 3; process += 1) {
    const stringify = vi.spyOn(JSON, "stringify");
    await run.run("Go", { journal: memoryJournal(kept), runId: "r", onEvent: () => undefined });
    hashed.push(stringify.mock.calls.filter(([value]) => value === description).length);
    stringify.mockRestore();
  }
  expect(hashed).toEqual([1, 0, 0]);
});

import { expect, it } from "vitest";
import { agent, type AgentEvent, isFact, memoryJournal, type RunOptions, tool } from "../../src/index.ts";
import { WritError } from "../../src/error/writ-error.ts";
import type { Delta, Model } from "../../src/model/model.ts";

/** The calls of a reply, by their arguments, and how it ends: whole, or broken off. */
type Part = readonly [at: string | readonly string[], end: "whole" | "broken"];

function modelOf(parts: readonly Part[]): Model {
  let asked = 0;
  return {
    id: "m",
    features: { tools: true },
    async *stream(): AsyncGenerator<Delta> {
      const [at, end] = parts[asked] ?? ["never", "whole"];
      asked += 1;
      for (const [place, each] of [at].flat().entries()) {
        const id = `c${asked}-${place}`;
        yield { type: "call-start", id, name: "look" };
        yield { type: "call-end", id, arguments: { at: each } };
      }
      if (end === "broken")
        throw new WritError("provider-unreachable", { provider: "p", url: "u", reason: "cut", advice: "" });
      if (at.length === 0) yield { type: "text-delta", text: "Done." };
      yield { type: "end", finishReason: at.length === 0 ? "stop" : "tool-calls" };
    },
  };
}

it("counts a call that ran for a reply which broke off and that no reply made again: a provider could have as many as it likes", async () => {
  const given: string[] = [];
  const look = tool({
    name: "look",
    description: "look",
    effect: "read",
    inputSchema: { type: "object", properties: { at: { type: "string" } } } as const,
    execute: ({ at }) => `saw ${given.push(at as string)}`,
  });
  const end = async (options: RunOptions): Promise<string> => {
    const model = modelOf([
      ["lost", "broken"],
      ["first", "whole"],
      ["second", "whole"],
      ["third", "whole"],
    ]);
    const clerk = agent({
      name: "a",
      model,
      tools: [look],
      budget: { toolCalls: 2 },
      retry: { firstDelayMs: 1 },
    });
    const { outcome } = await clerk.run("x", { ...options, runId: "r" });
    return outcome.type;
  };
  const journal = memoryJournal();
  expect([await end({ journal }), given]).toEqual(["exhausted", ["lost", "first"]]);
  expect([await end({ journal: memoryJournal(journal.records, { mode: "replay" }) }), given.length]).toEqual([
    "exhausted",
    2,
  ]);
});

it("has no two runs of one id where calls that began go with their reply, and tells at a replay what it told", async () => {
  const inner = agent({ name: "inner", model: () => "The same." });
  const look = tool({
    name: "look",
    description: "look",
    effect: "none",
    inputSchema: { type: "object", properties: { at: { type: "string" } } } as const,
    execute: async (_args, { run, signal }) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return (await inner.run("Always.", { parent: run, signal })).text;
    },
  });
  const told = async (journal: RunOptions["journal"]): Promise<readonly AgentEvent[]> => {
    const events: AgentEvent[] = [];
    const model = modelOf([
      ["one", "broken"],
      [["two", "one"], "whole"],
      [[], "whole"],
    ]);
    const clerk = agent({ name: "a", model, tools: [look], retry: { firstDelayMs: 1 } });
    await clerk.run("x", { journal, runId: "r", onEvent: (event) => void events.push(event) });
    return events;
  };
  const facts = (events: readonly AgentEvent[]): readonly object[] =>
    events.filter((event) => isFact(event) && event.runId === "r").map(({ at: _at, ...fact }) => fact);
  const journal = memoryJournal();
  const first = await told(journal);
  const begun = first.filter(({ type }) => type === "run-start").map(({ runId }) => runId);
  expect(begun).toHaveLength(3);
  expect(new Set(begun).size).toBe(3);
  expect(facts(await told(memoryJournal(journal.records)))).toEqual(facts(first));
});

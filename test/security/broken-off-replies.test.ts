import { expect, it } from "vitest";
import { agent, memoryJournal, type RunOptions, tool } from "../../src/index.ts";
import { WritError } from "../../src/error/writ-error.ts";
import type { Delta, Model } from "../../src/model/model.ts";

/** A call, and how its reply ends: whole, or broken off. */
type Part = readonly [at: string, end: "whole" | "broken"];

function modelOf(parts: readonly Part[]): Model {
  let asked = 0;
  return {
    id: "m",
    features: { tools: true },
    async *stream(): AsyncGenerator<Delta> {
      const [at, end] = parts[asked] ?? ["never", "whole"];
      asked += 1;
      yield { type: "call-start", id: `c${asked}`, name: "look" };
      yield { type: "call-end", id: `c${asked}`, arguments: { at } };
      if (end === "broken")
        throw new WritError("provider-unreachable", { provider: "p", url: "u", reason: "cut", advice: "" });
      yield { type: "end", finishReason: "tool-calls" };
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

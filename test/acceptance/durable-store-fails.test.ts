import { expect, it } from "vitest";
import { nodeHost } from "../../src/adapters/clock.ts";
import { memoryRuns, type RunJournal, type RunStore } from "../../src/durable.ts";
import { durableRunsWith } from "../../src/durable/durable-runs.ts";
import type { Warning } from "../../src/journal/host.ts";
import { agent } from "../../src/index.ts";

it("a run whose record a store does not take is left alone for a second, and its author hears why", async () => {
  const memory = memoryRuns();
  const failed: number[] = [];
  const claim: RunStore["claim"] = async (...which) => {
    const journal = await memory.claim(...which);
    if (journal === undefined) return undefined;
    const step: RunJournal["step"] = async (given) => {
      if (failed.length > 0) return journal.step(given);
      failed.push(performance.now());
      throw new Error("no space left");
    };
    return { ...journal, step };
  };
  const told: string[] = [];
  const warn = ({ text }: Warning): void => void told.push(text);
  const clerk = agent({ name: "clerk", model: () => "done" });
  const store = Object.assign(Object.create(memory) as RunStore, { claim });
  const runs = durableRunsWith({ store, agents: [clerk] }, { ...nodeHost, warn });
  await using _worker = runs.work();
  await runs.start(clerk, "Go", { id: "r" });
  expect((await runs.result("r")).output).toBe("done");
  const [failedAt = Infinity] = failed;
  expect(performance.now() - failedAt).toBeGreaterThan(900); // milliseconds
  expect(told.join()).toContain("no space left");
});

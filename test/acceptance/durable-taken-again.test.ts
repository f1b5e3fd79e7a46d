import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { durableRuns, memoryRuns, type RunJournal, type RunStore } from "../../src/durable.ts";
import { agent, tool } from "../../src/index.ts";
import { planned } from "./durable-place.ts";

/** A store in memory whose first journal has its question answered in the moment in which it waits, and is left only once the run was taken again. */
function answeredAtOnce(): RunStore {
  const memory = memoryRuns();
  const again = Promise.withResolvers<void>();
  let taken = 0;
  const wait =
    (journal: RunJournal): RunJournal["wait"] =>
    async (passed) => {
      await journal.wait(passed);
      for (const { runId, key, request } of await memory.questions())
        await memory.answer(runId, key, { approved: true, hash: request.hash });
      await again.promise;
      await setImmediate();
    };
  const claim: RunStore["claim"] = async (...which) => {
    const journal = await memory.claim(...which);
    if (journal === undefined) return undefined;
    taken += 1;
    if (taken === 1) return { ...journal, wait: wait(journal) };
    again.resolve();
    return journal;
  };
  return Object.assign(Object.create(memory) as RunStore, { claim });
}

it("a run that is answered in the moment in which it is left stays known to the worker that takes it again", async () => {
  const [paying, paid] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const pay = tool({
    name: "pay",
    description: "",
    inputSchema: { type: "object" },
    effect: "irreversible",
    async execute() {
      paying.resolve();
      await paid.promise;
      return "paid";
    },
  });
  const clerk = agent({
    name: "clerk",
    model: planned([{ name: "pay" }]),
    tools: [pay],
    policy: () => ({ verdict: "ask", rule: "money", reason: "money leaves" }),
  });
  const runs = durableRuns({ store: answeredAtOnce(), agents: [clerk] });
  await using worker = runs.work();
  await runs.start(clerk, "Pay", { id: "r" });
  await paying.promise;
  await sleep(50); // whoever had it before has left it by then
  const known = worker.runs;
  paid.resolve();
  expect(known).toEqual(["r"]);
  expect((await runs.result("r")).output).toBe("pay ok");
});

import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { durableRuns, memoryRuns, type RunStore } from "../../src/durable.ts";
import { agent } from "../../src/index.ts";

it("a store that is slow is not asked ever more by a worker", async () => {
  const memory = memoryRuns();
  const asked = { now: 0, most: 0 };
  let isSlow = false;
  async function slowly<Result>(work: () => Promise<Result>): Promise<Result> {
    if (!isSlow) return work();
    asked.now += 1;
    asked.most = Math.max(asked.most, asked.now);
    await sleep(1500);
    asked.now -= 1;
    return work();
  }
  const read: RunStore["read"] = (id) => slowly(() => memory.read(id));
  const expire: RunStore["expire"] = () => slowly(() => memory.expire());
  const [begun, ending] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const clerk = agent({
    name: "clerk",
    async model() {
      begun.resolve();
      await ending.promise;
      return "done";
    },
  });
  const store = Object.assign(Object.create(memory) as RunStore, { read, expire });
  const runs = durableRuns({ store, agents: [clerk] });
  await using _worker = runs.work();
  await runs.start(clerk, "Go", { id: "r" });
  await begun.promise;
  isSlow = true;
  await sleep(1200);
  isSlow = false;
  ending.resolve();
  expect(asked.most).toBeLessThanOrEqual(2); // how the run stands, and what is over
  expect((await runs.result("r")).output).toBe("done");
});

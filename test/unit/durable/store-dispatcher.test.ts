import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { storeDispatcher } from "../../../src/durable/store-dispatcher.ts";

it("A look that comes in whatever moment of the one before is not lost", async () => {
  const missed: number[] = [];
  for (let moments = 0; moments < 20; moments += 1) {
    let asked = 0;
    const serving = storeDispatcher.serve({
      agents: ["a"],
      concurrency: 1,
      runs: [],
      begin() {
        asked += 1;
        return Promise.resolve(undefined);
      },
      canGoOn: () => Promise.resolve(false),
      ready: () => Promise.resolve([]),
    });
    serving.look();
    for (let passed = 0; passed < moments; passed += 1) await Promise.resolve();
    const before = asked;
    serving.look();
    await setImmediate();
    if (asked === before) missed.push(moments);
    await serving.leave();
  }
  expect(missed).toEqual([]);
});

import { expect, it } from "vitest";
import { protocol } from "../../../src/durable/protocol.ts";
import { memoryRuns } from "../../../src/durable.ts";
import { cpuMsUntil } from "../../cpu-time.ts";

it("looks for work among the runs that have not ended", async () => {
  const store = memoryRuns();
  for (let place = 0; place < 10_000; place += 1) {
    await store.begin({ id: `${place}`, agent: "a", input: "", options: {}, protocol });
    const journal = await store.claim(["a"], `${place}`);
    await journal?.end({ outcome: { type: "failed", code: "run-broken", message: "" } });
  }
  const looks = async (): Promise<void> => {
    for (let look = 0; look < 1000; look += 1) {
      expect(await store.claim(["a"])).toBeUndefined();
      await store.expire();
      await store.questions();
    }
  };
  expect(await cpuMsUntil(200, looks)).toBeLessThan(200); // it was 1200
  for (const id of ["7", "3"]) await store.reopen(id);
  expect((await store.claim(["a"]))?.run.id).toBe("3");
});

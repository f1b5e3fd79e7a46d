import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { durableRuns, type RunStore } from "../../src/durable.ts";
import { agent, inMemorySessions, session } from "../../src/index.ts";
import type { ModelRequest } from "../../src/models.ts";
import { durablePlaces, storesIn } from "./durable-place.ts";

/** A session that another run has until it is let go, and a worker whose run stands in line for it. */
async function inLine(open: () => RunStore) {
  const kept = inMemorySessions();
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const first = agent({
    name: "first",
    async model() {
      begun.resolve();
      await gate.promise;
      return "first";
    },
  });
  const busy = first.run("Hi", { session: session(kept, "kim") });
  await begun.promise;
  const second = agent({
    name: "second",
    model: ({ messages }: Pick<ModelRequest, "messages">) => `told ${messages.length}`,
  });
  const begin = () => durableRuns({ store: open(), agents: [second], sessions: (id) => session(kept, id) });
  const end = async (): Promise<void> => {
    gate.resolve();
    await busy;
  };
  return { kept, second, begin, end };
}

describe.each(durablePlaces)("a run that stands in line for its session, in %s", (where) => {
  const open = storesIn(where);

  it("is given up at once by a worker that drains, and goes on elsewhere with its conversation", async () => {
    const { kept, second, begin, end } = await inLine(open);
    const runs = begin();
    const worker = runs.work();
    await runs.start(second, "And?", { id: "waits", session: "kim" });
    await expect.poll(() => worker.runs).toEqual(["waits"]);
    await sleep(100);
    const before = performance.now();
    await worker.drain();
    expect(performance.now() - before).toBeLessThan(3000);
    expect((await runs.show("waits"))?.status).toBe("ready");

    const next = begin();
    await using _working = next.work();
    await sleep(100);
    await end();
    expect((await next.result("waits")).output).toBe("told 3");
    expect((await kept.read("kim")).runs).toHaveLength(2);
  });
});

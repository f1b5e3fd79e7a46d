import { expect, it } from "vitest";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { agent, inMemorySessions, session } from "../../src/index.ts";
import { fakeTool } from "../../src/testing.ts";

it.each(["answered", "exhausted", "stopped by its time"])(
  "A run that was %s, and whose session did not keep it, replays as it stands in the store: as failed",
  async (end) => {
    const kept = inMemorySessions();
    const failing = { ...kept, append: () => Promise.reject(new Error("the disk is full")) };
    const isSlow = end === "stopped by its time";
    const look = fakeTool("look", () => (isSlow ? new Promise(() => undefined) : "seen"), { effect: "read" });
    const one = agent({
      name: "clerk",
      model: ({ messages }) =>
        end === "answered" && messages.at(-1)?.role === "tool" ? "Done." : { calls: [{ name: "look" }] },
      tools: [look],
      budget: { turns: 2, durationMs: isSlow ? 300 : 10_000 },
    });
    const runs = durableRuns({ store: memoryRuns(), agents: [one], sessions: (id) => session(failing, id) });
    await using _worker = runs.work();
    await runs.start(one, "Go", { id: "r", session: "kim" });
    const { outcome } = await runs.result("r");
    expect(outcome).toMatchObject({ type: "failed", code: "run-broken" });
    const again = await runs.replay("r").then(
      (result) => result.outcome,
      (error: unknown) => error,
    );
    const facts = await Array.fromAsync(runs.events("r"));
    expect(facts.at(-1)).toMatchObject({ type: "run-end", outcome });
    expect(again).toMatchObject({ code: "run-broken" });
  },
);

it("A run that is cancelled while its session is deleted ends as cancelled", async () => {
  const kept = inMemorySessions();
  const begun = Promise.withResolvers<void>();
  const slow = fakeTool(
    "slow",
    () => {
      begun.resolve();
      return new Promise(() => undefined);
    },
    { effect: "write" },
  );
  const one = agent({
    name: "clerk",
    model: () => ({ calls: [{ name: "slow" }] }),
    tools: [slow],
    policy: () => ({ verdict: "allow", rule: "free", reason: "" }),
  });
  const cancelling = new AbortController();
  const running = one.run("Go", { session: session(kept, "kim"), signal: cancelling.signal });
  await begun.promise;
  await kept.delete("kim");
  cancelling.abort("enough");
  expect((await running).outcome).toEqual({ type: "cancelled", reason: "enough" });
  expect(await kept.list()).toEqual([]);
});

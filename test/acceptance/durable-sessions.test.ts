import { it, expect } from "vitest";
import { durableRuns } from "../../src/durable.ts";
import { agent, inMemorySessions, session } from "../../src/index.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { fakeTool } from "../../src/testing.ts";
it("checks and follows a run of a session that is being carried out", async () => {
  using store = sqliteRuns(":memory:");
  const sessions = inMemorySessions();
  let free = (): void => undefined;
  const slow = fakeTool(
    "slow",
    () =>
      new Promise<string>((resolve) => {
        free = () => resolve("done");
      }),
    { effect: "read" },
  );
  const one = agent({
    name: "clerk",
    tools: [slow],
    model: ({ messages }) => (messages.at(-1)?.role === "tool" ? "Done." : { calls: [{ name: "slow" }] }),
  });
  const runs = durableRuns({ store, agents: [one], sessions: (id) => session(sessions, id) });
  await runs.start(one, "Go", { id: "r", session: "kim" });
  await using _worker = runs.work();
  await expect.poll(() => slow.calls.length).toBe(1);
  const first = runs.events("r").next();
  const timeout = (ms: number) => new Promise((r) => setTimeout(() => r("late"), ms));
  const a = await Promise.race([runs.check(), timeout(1500)]);
  const b = await Promise.race([first.then(({ value }) => (value as { type: string }).type), timeout(1500)]);
  free();
  expect([a, b]).toEqual([[], "run-start"]);
}, 10_000);

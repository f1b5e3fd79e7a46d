import { it, expect } from "vitest";
import { durableRuns } from "../../src/durable.ts";
import { agent, inMemorySessions, session } from "../../src/index.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
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

it("writes nothing into the session of a run that another process has taken over", async () => {
  using store = sqliteRuns(":memory:");
  const sessions = inMemorySessions();
  await using journal = await store.open("r");
  const moving = fakeTool(
    "move",
    async () => {
      await store.moveOut("r");
      return "done";
    },
    { effect: "read" },
  );
  const one = agent({
    name: "clerk",
    tools: [moving],
    model: scripted([{ calls: [{ name: "move" }] }, "Done."]),
  });
  const running = one.run("Go", { journal, runId: "r", session: session(sessions, "kim") });
  await expect(running).rejects.toMatchObject({ code: "run-taken" });
  expect((await sessions.read("kim")).runs).toEqual([]);
});

it("writes nothing into the session when it lost its run before its end was kept there", async () => {
  using store = sqliteRuns(":memory:");
  const sessions = inMemorySessions();
  await using journal = await store.open("r");
  const losing: typeof journal = {
    ...journal,
    async step(step) {
      if (step.key.startsWith("session/save")) await store.moveOut("r");
      return journal.step(step);
    },
  };
  const one = agent({ name: "clerk", model: scripted(["Done."]) });
  const running = one.run("Go", { journal: losing, runId: "r", session: session(sessions, "kim") });
  await expect(running).rejects.toMatchObject({ code: "run-taken" });
  expect((await sessions.read("kim")).runs).toEqual([]);
});

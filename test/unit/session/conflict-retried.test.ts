import { expect, it } from "vitest";
import { durableRuns, memoryRuns } from "../../../src/durable.ts";
import { agent, inMemorySessions, session } from "../../../src/index.ts";
import { fakeTool } from "../../../src/testing.ts";
import { planned } from "../../acceptance/durable-place.ts";

it("does not pay in a run that failed because its session had changed, however often it is tried", async () => {
  const store = inMemorySessions();
  const pay = fakeTool("pay", "paid", { effect: "irreversible" });
  const looked = Promise.withResolvers<string>();
  const look = fakeTool("look", () => looked.promise, { effect: "read" });
  const payer = agent({
    name: "payer",
    model: planned([{ name: "look" }], [{ name: "pay" }]),
    tools: [look, pay],
    policy: () => ({ verdict: "allow", rule: "pays", reason: "" }),
  });
  const runs = durableRuns({ store: memoryRuns(), agents: [payer], sessions: (id) => session(store, id) });
  await using _worker = runs.work();
  await runs.start(payer, "Pay A1", { id: "r", session: "kim" });
  await expect.poll(() => look.calls.length).toBe(1);
  const { claims: _claims, ...unclaimed } = store;
  const elsewhere = session(unclaimed, "kim"); // nothing keeps it out
  await agent({ name: "other", model: () => "It is paid." }).run("Pay A1", { session: elsewhere });
  looked.resolve("open");

  const conflict = { type: "failed", code: "session-conflict" };
  expect((await runs.result("r")).outcome).toMatchObject(conflict);
  await runs.retry("r");
  expect((await runs.result("r")).outcome).toMatchObject(conflict);
  expect(pay.calls).toHaveLength(0);
});

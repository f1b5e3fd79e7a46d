import { expect, it, vi } from "vitest";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { agent, type Policy } from "../../src/index.ts";
import { fakeTool } from "../../src/testing.ts";

it("a run whose records cannot be read fails, and its worker goes on with others", async () => {
  const asks: Policy = () => ({ verdict: "ask", rule: "money", reason: "money leaves" });
  const clerk = agent({
    name: "clerk",
    model: ({ messages }) =>
      messages.at(-1)?.role === "tool" ? "done" : { calls: [{ name: "pay", arguments: {} }] },
    tools: [fakeTool("pay", "paid", { effect: "irreversible" })],
    policy: asks,
  });
  const store = memoryRuns();
  const runs = durableRuns({ store, agents: [clerk] });
  await using _worker = runs.work();
  await runs.start(clerk, "Go", { id: "r" });
  await expect.poll(async () => (await runs.show("r"))?.status).toBe("waiting");
  const [question] = await runs.waiting("r");
  const claim = store.claim.bind(store);
  const worn = vi.spyOn(store, "claim").mockImplementation(async (...given) => {
    const journal = await claim(...given);
    return journal && Object.assign(journal, { find: () => JSON.parse("{ cut off") as never });
  });
  await runs.answer("r", question?.key ?? "", { approved: true, hash: question?.request.hash ?? "" });
  expect((await runs.result("r")).outcome).toMatchObject({ type: "failed" });
  worn.mockRestore();
  await runs.start(clerk, "Go", { id: "s" });
  await expect.poll(async () => (await runs.show("s"))?.status).toBe("waiting");
});

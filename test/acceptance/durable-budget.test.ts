import { expect, it } from "vitest";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { agent, type Policy } from "../../src/index.ts";
import { fakeTool } from "../../src/testing.ts";
import { planned } from "./durable-place.ts";

const asks: Policy = ({ tool }) => ({ verdict: tool === "pay" ? "ask" : "allow", rule: "money", reason: "" });

it("counts what agents inside calls spent before the run waited, as a run does that nobody left", async () => {
  const look = fakeTool("look", "seen", { effect: "read" });
  const reader = agent({ name: "reader", model: planned([{ name: "look" }]), tools: [look], policy: asks });
  const call = (name: string) => ({ name, arguments: { input: name } });
  const boss = agent({
    name: "boss",
    model: planned([call("reader"), { name: "pay" }, call("reader")]),
    tools: [reader.asTool(), fakeTool("pay", "paid", { effect: "irreversible" })],
    policy: asks,
    budget: { toolCalls: 4 }, // three of its own, and one inside
  });
  await boss.run("Go", { approve: () => true });
  expect(look.calls).toHaveLength(1);

  const runs = durableRuns({ store: memoryRuns(), agents: [boss] });
  await using _worker = runs.work();
  await runs.start(boss, "Go", { id: "r" });
  await expect.poll(async () => (await runs.show("r"))?.status).toBe("waiting");
  expect(look.calls).toHaveLength(2);
  const [question] = await runs.waiting("r");
  await runs.answer("r", question?.key ?? "", { approved: true, hash: question?.request.hash ?? "" });
  await runs.result("r");
  expect(look.calls).toHaveLength(2);
});

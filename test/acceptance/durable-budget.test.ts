import { expect, it } from "vitest";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { type Agent, agent, allow, ask, limit, type Policy, policy } from "../../src/index.ts";
import { account, inMemoryAccounts } from "../../src/policy.ts";
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

  await waitOnce(boss, () => look.calls.length);
  expect(look.calls).toHaveLength(2);
});

it("counts the calls of one tool inside calls before the run waited, where a policy bounds them", async () => {
  const look = fakeTool("look", "seen", { effect: "read" });
  const reader = agent({ name: "reader", model: planned([{ name: "look" }]), tools: [look] });
  const call = (name: string) => ({ name, arguments: { input: name } });
  const boss = agent({
    name: "boss",
    model: planned([call("reader"), { name: "pay" }, call("reader")]),
    tools: [reader.asTool(), look, fakeTool("pay", "paid", { effect: "irreversible" })],
    policy: policy({
      name: "looks once",
      rules: [ask("pay"), allow("reader", "look"), limit("look", { perRun: 1 })],
    }),
  });
  await boss.run("Go", { approve: () => true });
  expect(look.calls).toHaveLength(1);

  await waitOnce(boss, () => look.calls.length);
  expect(look.calls).toHaveLength(2);
});

it("books a call once that an agent inside waits in, however often the run goes on", async () => {
  const used = account({ store: inMemoryAccounts(), key: "kim", limits: { toolCalls: 100 }, per: "day" });
  const pay = fakeTool("pay", "paid", { effect: "irreversible" });
  const model = planned([{ name: "pay" }], [{ name: "pay" }]);
  const payer = agent({ name: "payer", model, tools: [pay], policy: asks });
  const boss = agent({
    name: "boss",
    account: used,
    model: planned([{ name: "payer", arguments: { input: "Pay" } }]),
    tools: [payer.asTool()],
    policy: asks,
  });
  const runs = durableRuns({ store: memoryRuns(), agents: [boss] });
  await using _worker = runs.work();
  await runs.start(boss, "Go", { id: "r" });
  for (const place of [1, 2]) {
    await expect.poll(async () => (await runs.waiting("r"))[0]?.request.turn).toBe(place);
    await expect.poll(async () => (await runs.show("r"))?.status).toBe("waiting");
    const [question] = await runs.waiting("r");
    await runs.answer("r", question?.key ?? "", { approved: true, hash: question?.request.hash ?? "" });
  }
  expect((await runs.result("r")).outcome.type).toBe("answered");
  expect(pay.calls).toHaveLength(2);
  expect((await used.used()).toolCalls).toBe(3);
});

/** Carries out a durable run that asks one question, after its first agent inside has looked, and is answered. */
async function waitOnce(boss: Agent<string, string>, looks: () => number): Promise<void> {
  const runs = durableRuns({ store: memoryRuns(), agents: [boss] });
  await using _worker = runs.work();
  await runs.start(boss, "Go", { id: "r" });
  await expect.poll(async () => (await runs.show("r"))?.status).toBe("waiting");
  expect(looks()).toBe(2);
  const [question] = await runs.waiting("r");
  await runs.answer("r", question?.key ?? "", { approved: true, hash: question?.request.hash ?? "" });
  await runs.result("r");
}

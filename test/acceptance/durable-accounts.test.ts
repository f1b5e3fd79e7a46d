import { describe, expect, it } from "vitest";
import { durableRuns } from "../../src/durable.ts";
import { agent, type AgentEvent, allow, ask, isFact, memoryJournal, policy } from "../../src/index.ts";
import { account, type Account, inMemoryAccounts } from "../../src/policy.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { durablePlaces, planned, storesIn } from "./durable-place.ts";

const pays = (to: string) => ({ name: "pay", arguments: { to } });

/** An agent whose account allows so many calls. */
function scene(rule = allow("pay")) {
  const store = inMemoryAccounts();
  const pay = fakeTool("pay", "paid", { effect: "irreversible" });
  const kim = (toolCalls: number): Account => account({ store, key: "kim", limits: { toolCalls } });
  const payer = (calls: number) =>
    agent({
      name: "payer",
      model: planned([pays("Ada"), pays("Ben"), pays("Cleo")]),
      tools: [pay],
      account: () => kim(calls),
      policy: policy({ name: "pays", rules: [rule] }),
    });
  return { pay, payer, used: async () => (await kim(0).used()).toolCalls };
}

describe.each(durablePlaces)("a run in %s that met the calls of an account", (where) => {
  const open = storesIn(where);

  it.each([allow("pay"), ask("pay")])("goes on once they are more (%o)", async (rule) => {
    const { pay, payer, used } = scene(rule);
    const agents = [payer(1)];
    const first = durableRuns({ store: open(), agents });
    let worker = first.work();
    await first.start(payer(1), "Pay", { id: "r" });
    if (rule.verdict === "ask") {
      await expect.poll(async () => (await first.waiting()).length).toBe(3);
      for (const { key, request } of await first.waiting())
        await first.answer("r", key, { approved: true, hash: request.hash });
    }
    expect((await first.result("r")).outcome).toMatchObject({ type: "exhausted", account: "kim" });
    await worker.drain();
    expect(pay.calls).toHaveLength(1);
    const replayed = await first.replay("r");
    expect(replayed.calls.map(({ status }) => status)).toEqual(["ok", "skipped", "skipped"]);
    expect(replayed.outcome).toMatchObject({ type: "exhausted", account: "kim" });

    const later = durableRuns({ store: open(), agents: [payer(10)] });
    worker = later.work();
    await later.retry("r");
    expect((await later.result("r")).outcome.type).toBe("answered");
    await worker.drain();
    expect(pay.calls.map((call) => (call as { readonly to: string }).to)).toEqual(["Ada", "Ben", "Cleo"]);
    expect(await used()).toBe(3);
    expect((await later.replay("r")).calls.map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
  });
});

it("is replayed as it was, and goes on, where its calls run at the same time or began while the model wrote", async () => {
  const store = inMemoryAccounts();
  const look = fakeTool("look", "seen", { effect: "read" });
  const calls = ["a", "b", "c"].map((what) => ({ name: "look", arguments: { what } }));
  const looker = (toolCalls: number) =>
    agent({
      name: "looker",
      model: scripted([{ calls }, "Seen."]),
      tools: [look],
      account: () => account({ store, key: "kim", limits: { toolCalls } }),
    });
  const journal = memoryJournal();
  const told: string[] = [];
  const note = (events: string[]) => (event: AgentEvent) => {
    if (isFact(event)) events.push(`${event.seq} ${event.type}`);
  };
  const { outcome } = await looker(2).run("Look", { journal, runId: "r", onEvent: note(told) });
  expect(outcome).toMatchObject({ type: "exhausted", field: "toolCalls", limit: 2, account: "kim" });
  expect(look.calls).toHaveLength(2);

  const again: string[] = [];
  const onEvent = note(again);
  const replay = memoryJournal(journal.records, { mode: "replay" });
  expect((await looker(9).run("Look", { journal: replay, runId: "r", onEvent })).outcome).toEqual(outcome);
  expect(again).toEqual(told);

  const later = looker(9).with({ model: scripted(["Seen."]) });
  const { text } = await later.run("Look", { journal: memoryJournal(journal.records), runId: "r" });
  expect([text, look.calls.length]).toEqual(["Seen.", 3]);
});

import { expect, it } from "vitest";
import { type JournalRecord, recordedJournal } from "../../src/doors.ts";
import { agent, tool } from "../../src/index.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { calling } from "./watching.ts";

it("records no beginning of a payment once the time of the run is over: a process that died then left it unknown", async () => {
  const kept: JournalRecord[] = [];
  const slow = tool({
    name: "slow",
    description: "Waits until it is stopped.",
    effect: "read",
    inputSchema: { type: "object" },
    execute: (_args, { signal }) =>
      new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("late"))),
  });
  const pay = fakeTool("pay", "paid", { effect: "irreversible" });
  const clerk = agent({
    name: "clerk",
    model: scripted([calling("slow", "pay")]),
    tools: [slow, pay],
    budget: { durationMs: 50 },
  });
  const journal = recordedJournal([], (record) => void kept.push(record));
  const { outcome } = await clerk.run("Pay.", { journal, approve: () => true });
  expect([outcome.type, pay.calls]).toEqual(["exhausted", []]);
  const ofPayment = kept.filter(({ key }) => key === "turn/1/call/1");
  expect(ofPayment.map(({ json = "it began" }) => json)).toEqual([expect.stringContaining('"cancelled"')]);
});

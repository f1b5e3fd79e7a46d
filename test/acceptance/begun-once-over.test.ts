import { expect, it } from "vitest";
import { type JournalRecord, recordedJournal } from "../../src/doors.ts";
import { agent, tool, WritError } from "../../src/index.ts";
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

it("says of a payment that an earlier process began that nobody knows, where the journal refuses to begin it again", async () => {
  const kept = new Map<string, JournalRecord>();
  const clerk = agent({
    name: "clerk",
    model: scripted([calling("pay")]),
    tools: [fakeTool("pay", "paid", { effect: "irreversible" })],
  });
  const died = recordedJournal([], (record) => {
    if (record.key.startsWith("turn/1/call/") && record.json !== undefined) throw new Error("the power went");
    kept.set(record.key, record);
  });
  await expect(clerk.run("Pay.", { journal: died, approve: () => true })).rejects.toThrow("the power went");
  const stop = new AbortController();
  const refused = recordedJournal([...kept.values()], ({ key }) => {
    if (!key.startsWith("turn/1/call/")) return;
    stop.abort("too dear");
    throw new WritError("run-ended", { id: "r", status: "cancelled" });
  });
  const { outcome, transcript } = await clerk.run("Pay.", {
    journal: refused,
    signal: stop.signal,
    approve: () => true,
  });
  expect(outcome.type).toBe("cancelled");
  expect(transcript.messages.at(-1)).toMatchObject({ role: "tool", status: "unknown" });
});

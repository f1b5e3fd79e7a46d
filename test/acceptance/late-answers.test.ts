import { expect, it } from "vitest";
import { agent, type AgentEvent, isFact, type Policy, tool } from "../../src/index.ts";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { nodeHost } from "../../src/adapters/clock.ts";
import { pastOf, recordedFacts } from "../../src/durable/follow.ts";
import { scripted } from "../../src/testing.ts";

const inputSchema = { type: "object", properties: {} } as const;
const never = tool({
  name: "look",
  description: "",
  inputSchema,
  effect: "read",
  execute: () => new Promise(() => undefined),
});
const pay = tool({
  name: "pay",
  description: "",
  inputSchema,
  effect: "irreversible",
  execute: () => "paid",
});
const policy: Policy = ({ tool: name }) => ({
  verdict: name === "pay" ? "ask" : "allow",
  rule: name,
  reason: "",
});
const calls = [
  { name: "look", arguments: {} },
  { name: "pay", arguments: {} },
];

it("tells the same in a replay when a question is answered too late for the run", async () => {
  const clerk = agent({
    name: "clerk",
    model: scripted([{ calls }]),
    tools: [never, pay],
    policy,
    budget: { durationMs: 700 },
  });
  const told: AgentEvent[] = [];
  const runs = durableRuns({
    store: memoryRuns(),
    agents: [clerk],
    onEvent: (event) => void told.push(event),
  });
  await using _worker = runs.work();
  await runs.start(clerk, "Pay.", { id: "r" });
  const [question] = await until(() => runs.waiting("r"));
  if (question === undefined) throw new Error("nothing is asked");
  await runs.answer("r", question.key, { approved: true, hash: question.request.hash });
  expect((await runs.result("r")).outcome.type).toBe("exhausted");
  const replayed: AgentEvent[] = [];
  for await (const event of runs.events("r")) replayed.push(event);
  expect(replayed.map(({ type }) => type)).toEqual(told.filter(isFact).map(({ type }) => type));
});

/** Looks again and again until there is something. */
async function until<Value>(look: () => Promise<readonly Value[]>): Promise<readonly Value[]> {
  for (;;) {
    const found = await look();
    if (found.length > 0) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

it("tells of no end of a call that is answered and still to be carried out", async () => {
  const clerk = agent({
    name: "clerk",
    model: scripted([{ calls: [{ name: "pay" }] }]),
    tools: [pay],
    policy,
  });
  const store = memoryRuns();
  const runs = durableRuns({ store, agents: [clerk] });
  const worker = runs.work();
  await runs.start(clerk, "Pay", { id: "r" });
  await expect.poll(() => runs.waiting("r"), { timeout: 60_000 }).toHaveLength(1);
  await expect.poll(async () => (await runs.show("r"))?.status, { timeout: 60_000 }).toBe("waiting");
  await worker.drain();
  const [question] = await runs.waiting("r");
  if (question === undefined) throw new Error("one question");
  await runs.answer("r", question.key, { approved: true, hash: question.request.hash });
  const past: string[] = [];
  const around = { store, agents: [clerk], host: nodeHost };
  for await (const { type } of pastOf("r", around)) past.push(type);
  expect(past).toContain("approval-answer");
  expect(past).not.toContain("tool-end");
  expect((await recordedFacts("r", around)).map(({ type }) => type)).not.toContain("tool-end");
});

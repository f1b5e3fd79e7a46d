import { expect, it } from "vitest";
import { nodeHost } from "../../../src/adapters/clock.ts";
import { memoryRuns } from "../../../src/durable.ts";
import { durableRunsWith } from "../../../src/durable/durable-runs.ts";
import { agent } from "../../../src/index.ts";
import { recordForm } from "../../../src/journal/record-form.ts";
import { fakeTool, scripted } from "../../../src/testing.ts";

const clerk = agent({ name: "clerk", model: () => "Done." });

it("tells whoever waits for runs that no worker takes, once for each of them", async () => {
  const told: string[] = [];
  let now = 0;
  const host = {
    ...nodeHost,
    now: () => now,
    warn: ({ code, text }: { code: string; text: string }) => told.push(`${code} ${text}`),
  };
  const store = memoryRuns();
  const runs = durableRunsWith(
    { store, agents: [] },
    { ...host, timer: (_ms, fire) => nodeHost.timer(1, fire) },
  );
  await runs.start(clerk, "Go", { id: "r" });
  const ended = runs.result("r");
  for (const at of [0, 9_000, 11_000, 30_000]) {
    now = at;
    await new Promise((resolve) => setTimeout(resolve, 30));
    if (at === 9_000) expect(told).toEqual([]);
  }
  expect(told).toEqual([expect.stringMatching(/^WRIT_RUN_UNTAKEN .*"clerk".*work\(\)/)]);
  const worker = durableRunsWith({ store, agents: [clerk] }, nodeHost).work();
  expect((await ended).output).toBe("Done.");
  await worker.drain();
});

it("tells nothing of a run that waited for a person and goes on just now", async () => {
  const told: string[] = [];
  let now = 0;
  const payer = agent({
    name: "payer",
    model: scripted([{ calls: [{ name: "pay" }] }, "Paid."]),
    tools: [fakeTool("pay", "paid")],
    policy: () => ({ verdict: "ask", rule: "money", reason: "" }),
  });
  const store = memoryRuns();
  const warn = ({ code }: { code: string }): unknown => told.push(code);
  const timer: typeof nodeHost.timer = (_ms, fire) => nodeHost.timer(1, fire);
  const runs = durableRunsWith({ store }, { ...nodeHost, now: () => now, warn, timer });
  const others = durableRunsWith({ store, agents: [payer] }, nodeHost);
  const worker = others.work();
  await runs.start(payer, "Go", { id: "r" });
  const ended = runs.result("r");
  while ((await runs.waiting("r")).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  now = 100_000;
  await new Promise((resolve) => setTimeout(resolve, 30)); // it is looked at, while it waits
  const [question] = await runs.waiting("r");
  const { key = "", request } = question ?? {};
  await runs.answer("r", key, { approved: true, hash: request?.hash ?? "" });
  expect((await ended).output).toBe("Paid.");
  expect(told).toEqual([]);
  await worker.drain();
});

it("tells of a run of a later version that this version leaves it, also beside a worker", async () => {
  const told: string[] = [];
  let now = 0;
  const store = memoryRuns();
  await store.begin({ id: "r", agent: "clerk", input: "Go", options: {}, protocol: recordForm + 1 });
  const warn = ({ code, text }: { code: string; text: string }): unknown => told.push(`${code} ${text}`);
  const timer: typeof nodeHost.timer = (_ms, fire) => nodeHost.timer(1, fire);
  const runs = durableRunsWith({ store, agents: [clerk] }, { ...nodeHost, now: () => now, warn, timer });
  const worker = durableRunsWith({ store, agents: [clerk] }, nodeHost).work();
  const over = new AbortController();
  const ended = runs.result("r", { signal: over.signal });
  await new Promise((resolve) => setTimeout(resolve, 30));
  now = 11_000;
  await expect.poll(() => told).toEqual([expect.stringMatching(/^WRIT_RUN_UNTAKEN .*"r".*form 3.*later/s)]);
  over.abort();
  await expect(ended).rejects.toThrow();
  await worker.drain();
});

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { agent, type Budget } from "../../src/index.ts";
import type { Tools } from "../../src/tools.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { fakeTool } from "../../src/testing.ts";

const pay = fakeTool("pay", "paid", { effect: "irreversible" });

/** The agent as one version of a program has it. Its model decides by the conversation alone. */
const clerk = (changed: { readonly tools?: Tools; readonly budget?: Budget } = {}) =>
  agent({
    name: "clerk",
    model: ({ messages }) => (messages.at(-1)?.role === "tool" ? "Paid." : { calls: [{ name: "pay" }] }),
    tools: [pay],
    policy: () => ({ verdict: "ask", rule: "asks", reason: "a person decides" }),
    ...changed,
  });

it("goes on after a deploy that changed what it was meant to, and says before it what it did not", async () => {
  using store = sqliteRuns(join(mkdtempSync(join(tmpdir(), "writ-deploys-")), "runs.db"));
  const before = durableRuns({ store, agents: [clerk()] });
  await before.start(clerk(), "Pay Ada", { id: "r" });
  const worker = before.work();
  await expect.poll(() => before.waiting("r")).toHaveLength(1);
  await worker.drain();
  expect(await before.check()).toEqual([]);
  expect(await durableRuns({ store, agents: [clerk({ budget: { turns: 20 } })] }).check()).toEqual([]);

  const deployed = clerk({ tools: [pay, fakeTool("mail", "sent")] });
  const stranded = await durableRuns({ store, agents: [deployed] }).check();
  expect(stranded).toMatchObject([
    { run: { id: "r", status: "waiting" }, error: { code: "journal-mismatch" } },
  ]);
  expect(stranded[0]?.error.message).toContain("its tools changed");

  const accepting = durableRuns({ store, agents: [deployed], accept: ["tools"] });
  expect(await accepting.check()).toEqual([]);
  expect(pay.calls).toEqual([]);
  const [question] = await accepting.waiting("r");
  await accepting.answer("r", question?.key ?? "", { approved: true, hash: question?.request.hash ?? "" });
  await using _worker = accepting.work();
  expect(await accepting.result("r")).toMatchObject({ outcome: { type: "answered" }, output: "Paid." });
  expect(pay.calls).toHaveLength(1);
});

it("refuses to accept a part that there is not", () => {
  using store = sqliteRuns(":memory:");
  expect(() => durableRuns({ store, accept: ["tolls" as "tools"] })).toThrow(/`accept\[0\]` must be one of/);
});

it("has its worker listen to the store no more when it was drained", async () => {
  const store = memoryRuns();
  const watch = store.watch.bind(store);
  let listening = 0;
  store.watch = (heard) => {
    listening += 1;
    const stop = watch(heard);
    return () => {
      listening -= 1;
      stop();
    };
  };
  const worker = durableRuns({ store, agents: [clerk()] }).work();
  expect(listening).toBeGreaterThan(0);
  await worker.drain();
  expect(listening).toBe(0);
});

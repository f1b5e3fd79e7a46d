import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { agent, type Policy, tool } from "../../src/index.ts";
import {
  durableRuns,
  type DurableRuns,
  memoryRuns,
  type RunStore,
  type RunWorker,
  type Settlement,
} from "../../src/durable.ts";
import type { ModelRequest } from "../../src/models.ts";
import { postgresRuns } from "../../src/postgres.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { postgresMissing, type PostgresServer, startPostgres } from "../postgres-server.ts";

let log: string[] = [];
/** What a payment does now: it ends, or its process dies in it. */
let paying: "ends" | "dies" = "ends";
const free: Policy = () => ({ verdict: "allow", rule: "free", reason: "" });
const pay = tool({
  name: "pay",
  description: "",
  inputSchema: { type: "object", properties: { to: { type: "string" } } },
  effect: "irreversible",
  reconcile: "person",
  async execute({ to }: { to?: string }) {
    log.push(`pay ${to}`);
    if (paying === "dies") await new Promise(() => undefined);
    return `paid ${to}`;
  },
});
const look = tool({
  name: "look",
  description: "",
  inputSchema: { type: "object" },
  effect: "read",
  execute: () => void log.push("look"),
});
/** A result as its tool gave it, without the mark around it. */
const plain = (text: string): string =>
  text.startsWith('{"tool":') ? String((JSON.parse(text) as { value?: unknown }).value) : text;
const model = ({ messages }: Pick<ModelRequest, "messages">) => {
  const told = messages.flatMap((message) => (message.role === "tool" ? [message] : []));
  if (told.length > 0)
    return told.map(({ name, status, text }) => `${name} ${status}: ${plain(text)}`).join("; ");
  return { calls: [{ name: "look" }, { name: "pay", arguments: { to: "Ada" } }] };
};
const payer = agent({ name: "payer", model, tools: [look, pay], policy: free });
const boss = agent({
  name: "boss",
  model: ({ messages }) => {
    const told = messages.flatMap((message) => (message.role === "tool" ? [message.text] : []));
    return told[0] ?? { calls: [{ name: "payer", arguments: { input: "Pay" } }] };
  },
  tools: [payer.asTool()],
  policy: free,
});

type OpenStore = RunStore & { readonly close?: () => unknown };
const folder = mkdtempSync(join(tmpdir(), "writ-settle-"));
let server: PostgresServer | undefined;
let place = 0;
let cleanUp: (() => unknown)[] = [];
beforeAll(async () => {
  if (postgresMissing() === undefined) server = await startPostgres();
});
beforeEach(() => {
  [log, paying] = [[], "ends"];
});
afterEach(async () => {
  for (const each of cleanUp.toReversed()) await each();
  cleanUp = [];
});
afterAll(() => {
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

function work(runs: DurableRuns): RunWorker {
  const worker = runs.work();
  cleanUp.push(() => worker.drain({ graceMs: 0 }));
  return worker;
}

/**
 * Moves a run to another store while a payment is at work: it is as if its process had died there, since nothing that it does is recorded any more. There a
 * worker goes on.
 */
async function diesInPayment(runs: DurableRuns, to: DurableRuns, goesOn: () => unknown): Promise<void> {
  paying = "dies";
  const before = log.length;
  await goesOn();
  await expect.poll(() => log.slice(before)).toContain("pay Ada");
  await to.import(await runs.export("r"));
  paying = "ends";
  work(to);
}

describe.each([
  { where: "memory", open: (): OpenStore => memoryRuns() },
  { where: "a SQLite file", open: (): OpenStore => sqliteRuns(join(folder, `runs-${(place += 1)}.db`)) },
  {
    where: "PostgreSQL",
    open: (): OpenStore => postgresRuns(server?.url, { schema: `settle ${(place += 1)}` }),
  },
])("a call that was at work when its process died, in $where", ({ where, open }) => {
  beforeEach(({ skip }) => skip(where === "PostgreSQL" && server === undefined, "PostgreSQL is not here"));
  function newRuns(who: typeof payer): DurableRuns {
    const store = open();
    cleanUp.push(() => store.close?.());
    return durableRuns({ store, agents: [who] });
  }

  /** A run that waits to be settled, and the key of its question. */
  async function unsettled(who: typeof payer = payer): Promise<readonly [DurableRuns, string]> {
    const [before, runs] = [newRuns(who), newRuns(who)];
    await before.start(who, "Pay Ada", { id: "r" });
    await diesInPayment(before, runs, () => work(before));
    await expect.poll(() => runs.show("r")).toMatchObject({ status: "waiting" });
    const [question] = await runs.waiting("r");
    return [runs, question?.key ?? ""];
  }

  it.each([
    {
      settled: { happened: true, value: "paid 17" },
      told: "pay ok: paid 17",
      paid: 1,
    },
    {
      settled: { happened: true },
      told: "pay ok: Tool 'pay' did this before the program stopped. Its result is not known.",
      paid: 1,
    },
    { settled: { happened: false }, told: "pay ok: paid Ada", paid: 2 },
    {
      settled: { happened: "unknown" },
      told: "pay unknown: Tool 'pay' was at work when the program stopped. Its effect may have happened.",
      paid: 1,
    },
  ] as readonly { settled: Settlement; told: string; paid: number }[])(
    "is settled by a person as $settled, once, and the run goes on from there",
    async ({ settled, told, paid }) => {
      const [runs, key] = await unsettled();
      expect(key).toBe("turn/1/call/1/settle/1");
      expect(await runs.waiting("r")).toMatchObject([
        { request: { tool: "pay", arguments: { to: "Ada" }, unsettled: true, rule: "unsettled" } },
      ]);
      const attempts = Array.from({ length: 5 }, () =>
        runs.settle("r", "turn/1/call/1", { ...settled, by: "kim" }),
      );
      const ended = await Promise.allSettled(attempts);
      expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(ended.find(({ status }) => status === "rejected")).toMatchObject({
        reason: { code: "question-answered", data: { by: "kim" } },
      });
      const { output } = await runs.result("r");
      expect(output).toContain(told);
      expect(log.filter((line) => line === "pay Ada")).toHaveLength(paid);
      expect(log.filter((line) => line === "look")).toHaveLength(1);
      const before = [...log];
      expect((await runs.replay("r")).outcome).toMatchObject({ type: "answered", content: output });
      expect(log).toEqual(before);
      for (const value of [Promise.resolve("paid"), { at: new Map() }] as never[])
        await expect(runs.settle("r", "turn/1/call/1", { happened: true, value })).rejects.toMatchObject({
          code: "definition-invalid",
        });
      await expect(runs.settle("r", "turn/1/call/1", settled)).rejects.toMatchObject({
        code: "question-answered",
      });
    },
  );

  it("that runs again and dies again is asked about again, and never runs by itself", async () => {
    const [before] = await unsettled();
    const runs = newRuns(payer);
    await diesInPayment(before, runs, () => before.settle("r", "turn/1/call/1", { happened: false }));
    await expect.poll(() => runs.waiting("r")).toMatchObject([{ key: "turn/1/call/1/settle/2" }]);
    await runs.settle("r", "turn/1/call/1", { happened: true, value: "paid in the end" });
    expect((await runs.result("r")).output).toContain("pay ok: paid in the end");
    expect(log.filter((line) => line === "pay Ada")).toHaveLength(2);
  });

  it("of a run inside is settled by its place in the outermost one", async () => {
    const [runs, key] = await unsettled(boss);
    expect(key).toMatch(/^turn\/1\/call\/0\/payer~.*\/turn\/1\/call\/1\/settle\/1$/);
    await runs.settle("r", key, { happened: true, value: "paid inside" });
    expect((await runs.result("r")).output).toContain("paid inside");
  });

  it("is settled where it went, and here that is said", async () => {
    const [runs, key] = await unsettled();
    const text = await runs.export("r");
    await expect(runs.settle("r", key, { happened: false })).rejects.toMatchObject({ code: "run-moved" });
    await runs.import(text);
    await runs.settle("r", key, { happened: true, value: "paid Ada" });
    expect((await runs.result("r")).output).toContain("pay ok: paid Ada");
  });

  it("is not approved, denied or settled in another way than it waits, and a cancel withdraws it", async () => {
    const [runs, key] = await unsettled();
    const [question] = await runs.waiting("r");
    const hash = question?.request.hash ?? "";
    await expect(runs.answer("r", key, { approved: true, hash })).rejects.toMatchObject({
      code: "question-other",
    });
    await expect(runs.settle("r", "turn/1/call/0", { happened: false })).rejects.toMatchObject({
      code: "call-not-unknown",
    });
    await expect(runs.settle("nobody", "turn/1/call/1", { happened: false })).rejects.toMatchObject({
      code: "run-missing",
    });
    for (const wrong of [{}, { happened: "yes" }, undefined])
      await expect(runs.settle("r", "turn/1/call/1", wrong as Settlement)).rejects.toMatchObject({
        code: "definition-invalid",
      });
    await runs.cancel("r");
    await expect(runs.settle("r", "turn/1/call/1", { happened: false })).rejects.toMatchObject({
      code: "call-not-unknown",
    });
    expect(log.filter((line) => line === "pay Ada")).toHaveLength(1);
  });
});

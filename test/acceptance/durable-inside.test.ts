import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agent, type Agent, type AgentEvent, isFact, type Policy, tool, WritError } from "../../src/index.ts";
import { subagents } from "../../src/compose.ts";
import { type DurableRuns, durableRuns, type RunStore } from "../../src/durable.ts";
import type { PlainReply } from "../../src/models.ts";
import { durablePlaces, planned, storesIn } from "./durable-place.ts";

let log: string[] = [];
beforeEach(() => (log = []));

const inputSchema = { type: "object", properties: { to: { type: "string" } } } as const;
const acting = (name: string, effect: "read" | "irreversible", work: () => unknown = () => undefined) =>
  tool({
    name,
    description: "",
    inputSchema,
    effect,
    execute: async () => {
      log.push(name);
      await work();
      return `${name} done`;
    },
  });
const look = acting("look", "read");
const pay = acting("pay", "irreversible");
const asks: Policy = ({ tool: name }) => ({
  verdict: name === "pay" ? "ask" : "allow",
  rule: name,
  reason: "",
});

const payer = agent({
  name: "payer",
  model: planned([{ name: "look" }], [{ name: "pay" }]),
  tools: [look, pay],
  policy: asks,
});
const reader = agent({ name: "reader", model: planned([{ name: "look" }]), tools: [look], policy: asks });
const clerk = agent({
  name: "clerk",
  model: planned([{ name: "spawn_subagent", arguments: { subagent: "reader", prompt: "x" } }]),
  tools: [subagents([reader, payer])],
  policy: asks,
});
/** Two agents beside each other, of which one waits, and then one that has an agent inside itself. */
const boss = agent({
  name: "boss",
  model: planned(
    [
      { name: "reader", arguments: { input: "a" } },
      { name: "payer", arguments: { input: "b" } },
    ],
    [{ name: "clerk", arguments: { input: "c" } }],
  ),
  tools: [reader.asTool(), payer.asTool(), clerk.asTool()],
  policy: asks,
  hooks: [{ name: "count", afterToolCall: () => void log.push("hook") }],
});

const timeless = (events: readonly AgentEvent[]): readonly AgentEvent[] =>
  events.map((event) => ({ ...event, at: 0 }));
const byRun = (events: readonly AgentEvent[]): ReadonlyMap<string, readonly AgentEvent[]> =>
  Map.groupBy(timeless(events), ({ runId }) => runId);
const shown = ({ agent: name, type }: AgentEvent): string => `${name} ${type}`;

describe.each(durablePlaces)("facts of runs inside a run in %s", (where) => {
  const open = storesIn(where);
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });
  const inProcess = (store: RunStore, ...agents: readonly Agent[]): DurableRuns =>
    durableRuns({ store, agents });
  const work = (runs: DurableRuns): void => {
    const worker = runs.work();
    closing.push(() => worker.drain({ graceMs: 0 }));
  };
  const approve = async (runs: DurableRuns): Promise<void> => {
    await expect.poll(async () => (await runs.waiting("r")).length).toBe(1);
    const [question] = await runs.waiting("r");
    await runs.answer("r", question?.key ?? "", { approved: true, hash: question?.request.hash ?? "" });
  };
  const all = (runs: DurableRuns, after = {}): Promise<AgentEvent[]> =>
    Array.fromAsync(runs.events("r", { inside: true, after }));

  it("are told as they happen, waits too, and again from the records, each once by run and `seq`", async () => {
    const [office, page] = [inProcess(open(), boss), inProcess(open(), boss)];
    await office.start(boss, "Go", { id: "r" });
    const told: AgentEvent[] = [];
    const following = (async () => {
      for await (const event of page.events("r", { inside: true })) told.push(event);
    })();
    work(office);
    const asked = (): boolean =>
      told.some(({ agent: name, type }) => name === "payer" && type === "approval-request");
    await expect.poll(asked).toBe(true);
    expect(told.map(shown)).toContain("reader tool-end"); // beside the one that waits
    expect(told.map(shown)).not.toContain("payer run-end");
    await approve(page);
    await following;

    for (const [, facts] of byRun(told)) {
      expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_fact, place) => place + 1));
      expect(facts.at(-1)).toMatchObject({ type: "run-end", outcome: { type: "answered" } });
    }
    const agents = [...byRun(told).values()].map(([first]) => first?.agent ?? "");
    expect(agents.toSorted((one, other) => one.localeCompare(other))).toEqual([
      "boss",
      "clerk",
      "payer",
      "reader",
      "reader",
    ]);
    await page.result("r");
    const did = [...log];
    expect(did.toSorted()).toEqual(["hook", "hook", "hook", "look", "look", "look", "pay"]);
    const again = await all(inProcess(open(), boss));
    expect(byRun(again)).toEqual(byRun(told));
    expect(log).toEqual(did); // neither a tool nor a hook
  });

  it("stand behind the beginning of their call and before its end, and are left out unless they are wanted", async () => {
    const runs = inProcess(open(), boss);
    await runs.start(boss, "Go", { id: "r" });
    work(runs);
    await approve(runs);
    await runs.result("r");
    const facts = await all(runs);
    const place = (wanted: (event: AgentEvent) => boolean): number => facts.findIndex(wanted);
    for (const [id, own] of byRun(facts)) {
      const parent = own[0]?.parentRunId;
      if (parent === undefined) continue;
      const begins = place(({ type, runId }) => type === "tool-start" && runId === parent);
      const ends = place((event) => event.type === "delegation-end" && event.delegation.runId === id);
      const places = facts.flatMap(({ runId }, index) => (runId === id ? [index] : []));
      expect(begins).toBeLessThan(Math.min(...places));
      expect(Math.max(...places)).toBeLessThan(ends);
    }
    const own = await Array.fromAsync(runs.events("r"));
    expect(timeless(own)).toEqual(byRun(facts).get("r"));
  });

  it("go on behind what a reader knows of each run", async () => {
    const runs = inProcess(open(), boss);
    await runs.start(boss, "Go", { id: "r" });
    work(runs);
    const known: AgentEvent[] = [];
    for await (const event of runs.events("r", { inside: true })) {
      known.push(event);
      if (event.agent === "payer" && event.type === "approval-request") break;
    }
    await approve(runs);
    await runs.result("r");
    const after = Object.fromEntries(known.map(({ runId, seq }) => [runId, seq]));
    const rest = await all(runs, after);
    expect(byRun([...known, ...rest])).toEqual(byRun(await all(runs)));
    expect(rest.map(shown)).not.toContain("payer approval-request");
  });

  it.each([
    [
      "in a tool",
      () => agent({ name: "slow", model: planned([{ name: "hang" }]), tools: [hanging], policy: asks }),
    ],
    [
      "while its model is silent",
      () => agent({ name: "slow", model: () => new Promise<string>(() => undefined) }),
    ],
    [
      "with an agent inside it",
      () => {
        const silent = agent({ name: "silent", model: () => new Promise<string>(() => undefined) });
        const model = planned([{ name: "look" }], [{ name: "silent", arguments: { input: "x" } }]);
        return agent({ name: "slow", model, tools: [look, silent.asTool()], policy: asks });
      },
    ],
  ])("are told as they were of an agent that was stopped with its call %s", async (_where, slow) => {
    const impatient = agent({
      name: "impatient",
      model: planned([{ name: "slow", arguments: { input: "x" } }], [{ name: "look" }]),
      tools: [slow().asTool({ timeoutMs: 400 }), look],
      policy: asks,
    });
    const live: AgentEvent[] = [];
    const onEvent = (event: AgentEvent): void => void (isFact(event) && live.push(event));
    const runs = durableRuns({ store: open(), agents: [impatient], onEvent });
    await runs.start(impatient, "Go", { id: "r" });
    work(runs);
    expect(await runs.result("r")).toMatchObject({ output: "slow timeout, look ok" });
    expect(byRun(await all(runs))).toEqual(byRun(live));
    expect(live.filter(({ type }) => type === "run-end").length).toBe(byRun(live).size);
  });

  it("are told as they were of an agent whose request was about to be made again when the time of the run was over", async () => {
    const reason = "too many requests";
    const refused = new WritError(
      "provider-failed",
      { provider: "p", model: "m", reason },
      { retryable: true },
    );
    const busy = agent({
      name: "busy",
      model: () => Promise.reject(refused),
      retry: { firstDelayMs: 60_000, maxDelayMs: 60_000 },
    });
    const hasty = agent({
      name: "hasty",
      model: planned([{ name: "busy", arguments: { input: "x" } }]),
      tools: [busy.asTool()],
      policy: asks,
      budget: { durationMs: 400 },
    });
    const live: AgentEvent[] = [];
    const onEvent = (event: AgentEvent): void => void (isFact(event) && live.push(event));
    const runs = durableRuns({ store: open(), agents: [hasty], onEvent });
    await runs.start(hasty, "Go", { id: "r" });
    work(runs);
    expect(await runs.result("r")).toMatchObject({ outcome: { type: "exhausted", field: "durationMs" } });
    expect(live.map(shown)).toContain("busy retry-start");
    expect(byRun(await all(runs))).toEqual(byRun(live));
  });

  it("tell the result of a call that was made before a crash, though another agent has met the bound of both meanwhile", async () => {
    let isOpen = false;
    const until = async (holds: () => boolean): Promise<void> => {
      while (!holds()) await new Promise((resolve) => void setTimeout(resolve, 5));
    };
    const wait = acting("wait", "read", () => until(() => isOpen));
    const afterPay = planned([{ name: "wait" }, { name: "wait" }]);
    const first = agent({
      name: "first",
      model: (request) => until(() => log.includes("pay")).then(() => afterPay(request)),
      tools: [wait],
    });
    const pays = planned([{ name: "pay" }]);
    const second = agent({
      name: "second",
      model: (request) => until(() => isOpen || !log.includes("pay")).then(() => pays(request)),
      tools: [pay],
      policy: () => ({ verdict: "allow", rule: "free", reason: "" }),
    });
    const both = agent({
      name: "both",
      model: planned([
        { name: "first", arguments: { input: "x" } },
        { name: "second", arguments: { input: "x" } },
      ]),
      tools: [first.asTool(), second.asTool()],
      budget: { toolCalls: 4 },
    });
    const [dying, next] = [inProcess(open(), both), inProcess(open(), both)];
    await dying.start(both, "Go", { id: "r" });
    const worker = dying.work();
    await expect.poll(() => log).toContain("wait");
    await worker.drain({ graceMs: 0 });
    isOpen = true;
    work(next);
    await next.result("r");
    const ends = (await all(next)).filter((event) => event.type === "tool-end");
    expect(ends.filter(({ name }) => name === "pay")).toMatchObject([{ result: { status: "ok" } }]);
    expect(log.filter((name) => name === "pay")).toHaveLength(1);
  });

  it.each([{ toolCalls: 6 }, { tokens: 550 }])(
    "are told as they were of an agent that met a bound which another one had used up: %o",
    async (budget) => {
      const live: AgentEvent[] = [];
      const paying =
        (model: ReturnType<typeof planned>) =>
        (request: Parameters<typeof model>[0]): PlainReply => {
          const said = model(request);
          const usage = { inputTokens: 100, outputTokens: 1 };
          return typeof said === "string" ? { text: said, usage } : { ...said, usage };
        };
      const policy: Policy = () => ({ verdict: "allow", rule: "free", reason: "" });
      const wait = acting("wait", "read", async () => {
        while (!live.map(shown).includes("first run-end"))
          await new Promise((resolve) => void setTimeout(resolve, 5));
      });
      const looks = paying(planned([{ name: "look" }], [{ name: "look" }], [{ name: "look" }]));
      const first = agent({ name: "first", model: looks, tools: [look], policy });
      const waits = paying(planned([{ name: "wait" }], [{ name: "look" }]));
      const second = agent({ name: "second", model: waits, tools: [wait, look], policy });
      const calls = [second, first].map(({ name }) => ({ name, arguments: { input: "x" } }));
      const both = agent({
        name: "both",
        model: paying(planned(calls)),
        tools: [first.asTool(), second.asTool()],
        policy,
        budget,
      });
      const onEvent = (event: AgentEvent): void => void (isFact(event) && live.push(event));
      const runs = durableRuns({ store: open(), agents: [both], onEvent });
      await runs.start(both, "Go", { id: "r" });
      work(runs);
      await runs.result("r");
      expect(live.findLast(({ agent: name }) => name === "second")).toMatchObject({
        outcome: { type: "exhausted" },
      });
      expect(byRun(await all(runs))).toEqual(byRun(live));
    },
  );
});

const hanging = acting("hang", "read", () => new Promise(() => undefined));

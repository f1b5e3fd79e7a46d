import { afterEach, describe, expect, it } from "vitest";
import { durableRuns, type RunStore, type RunWorker } from "../../src/durable.ts";
import {
  agent,
  type AgentEvent,
  inMemorySessions,
  isFact,
  type Policy,
  session,
  tool,
} from "../../src/index.ts";
import { durablePlaces, planned, storesIn } from "./durable-place.ts";

const none = { type: "object" } as const;
const policy: Policy = ({ tool: name }) => ({
  verdict: name === "pay" ? "ask" : "allow",
  rule: "",
  reason: "",
});

describe.each(durablePlaces)("a run that another process cancels, in %s", (where) => {
  const openStore = storesIn(where);
  const workers: RunWorker[] = [];
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.drain({ graceMs: 100 })));
  });

  /** What is told where it is carried out, of calls and of its end, when its first call has it cancelled before it ends. */
  async function told(...calls: readonly string[]): Promise<readonly unknown[]> {
    const elsewhere = durableRuns({ store: openStore() });
    const look = tool({
      name: "look",
      description: "",
      inputSchema: none,
      effect: "read",
      async execute() {
        await elsewhere.cancel("r", "too dear");
        return "seen";
      },
    });
    const pay = tool({
      name: "pay",
      description: "",
      inputSchema: none,
      effect: "write",
      execute: () => "paid",
    });
    const model = planned(calls.map((name) => ({ name })));
    const clerk = agent({ name: "clerk", model, tools: [look, pay], policy });
    const events: AgentEvent[] = [];
    const here = durableRuns({
      store: openStore(),
      agents: [clerk],
      onEvent: (event) => void events.push(event),
    });
    workers.push(here.work());
    await here.start(clerk, "Go", { id: "r" });
    await expect.poll(() => events.at(-1)?.type).toBe("run-end");
    return events.filter(isFact).flatMap((event): readonly unknown[] => {
      if (event.type === "tool-end") return [event.name];
      return event.type === "run-end" ? [event.outcome] : [];
    });
  }

  it("tells so, with the ends of its calls, also where a record is refused before it hears of that", async () => {
    expect(await told("look")).toEqual(["look", { type: "cancelled", reason: "too dear" }]);
  });

  it("tells so where a question is open", async () => {
    expect(await told("look", "pay")).toEqual(["look", "pay", { type: "cancelled", reason: "too dear" }]);
  });

  it("tells, and its session too, what an agent inside had done by then, as its records do", async () => {
    const elsewhere = durableRuns({ store: openStore() });
    const pay = tool({
      name: "pay",
      description: "",
      inputSchema: none,
      effect: "irreversible",
      async execute() {
        await elsewhere.cancel("r", "too dear");
        return "paid";
      },
    });
    const payer = agent({ name: "payer", model: planned([{ name: "pay" }]), tools: [pay] });
    const boss = agent({
      name: "boss",
      model: planned([{ name: "payer", arguments: { input: "x" } }]),
      tools: [payer.asTool()],
    });
    const kept = inMemorySessions();
    const events: AgentEvent[] = [];
    const here = durableRuns({
      store: openStore(),
      agents: [boss],
      sessions: (id) => session(kept, id),
      onEvent: (event) => void events.push(event),
    });
    workers.push(here.work());
    await here.start(boss, "Go", { id: "r", session: "kim" });
    const resultIn = (told: readonly AgentEvent[]): unknown =>
      told.flatMap((event) => (event.type === "tool-end" && event.runId === "r" ? [event.result] : []))[0];
    await expect.poll(() => events.some(({ type, runId }) => type === "run-end" && runId === "r")).toBe(true);
    // A worker that hears of the cancel before the tool has returned tells of it as unknown.
    const named = expect.stringMatching(/^- pay \{\}: (?:ok, "paid"|unknown)/m) as string;
    expect(resultIn(events)).toMatchObject({ status: "unknown", text: named });
    const recorded = await Array.fromAsync(here.events("r"));
    expect(resultIn(recorded)).toMatchObject({ status: "unknown", text: named });
    await expect
      .poll(async () => JSON.stringify((await kept.read("kim")).runs))
      .toMatch(/- pay \{\}: (?:ok, \\"paid\\"|unknown)/);
  });

  it("leaves nothing behind where it is erased in the same moment", async () => {
    const store = openStore();
    const cancel: RunStore["cancel"] = async (id, reason) => {
      const run = await store.cancel(id, reason);
      await store.erase({ id });
      return run;
    };
    const clerk = agent({ name: "clerk", model: planned() });
    const kept = inMemorySessions();
    const runs = durableRuns({
      store: Object.assign(Object.create(store) as RunStore, { cancel }),
      agents: [clerk],
      sessions: (id) => session(kept, id),
    });
    await runs.start(clerk, "Go", { id: "r", session: "kim" });
    await runs.cancel("r");
    expect([await runs.show("r"), await kept.list()]).toEqual([undefined, []]);
  });
});

import { describe, expect, it } from "vitest";
import { durableRuns, type RunStore } from "../../src/durable.ts";
import { agent, type AgentEvent, inMemorySessions, type Policy, session } from "../../src/index.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { durablePlaces, storesIn } from "./durable-place.ts";

const free: Policy = () => ({ verdict: "allow", rule: "free", reason: "" });

/** The store, and the number of records that it was asked for. */
function counted(store: RunStore): { readonly store: RunStore; readonly given: () => number } {
  let count = 0;
  const counting = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name !== "records") return typeof value === "function" ? value.bind(target) : value;
      return async (...asked: Parameters<RunStore["records"]>) => {
        const records = await target.records(...asked);
        count += records.length;
        return records;
      };
    },
  });
  return { store: counting, given: () => count };
}

describe.each(durablePlaces)("a run that is followed, in %s", (where) => {
  const openStore = storesIn(where);

  it("is read by what is new alone: as many records as there are", async () => {
    const turns = 60;
    const model = scripted([...Array.from({ length: turns }, () => ({ calls: [{ name: "look" }] })), "done"]);
    const clerk = agent({
      name: "clerk",
      model,
      tools: [fakeTool("look", "seen", { effect: "read" })],
      policy: free,
      budget: { turns: 100, toolCalls: 100, repeats: 100 },
    });
    const { store, given } = counted(openStore());
    const reader = durableRuns({ store, agents: [clerk] });
    const runs = durableRuns({ store: openStore(), agents: [clerk] });
    await runs.start(clerk, "Go", { id: "r" });
    const facts: AgentEvent[] = [];
    const reading = (async () => {
      for await (const fact of reader.events("r")) facts.push(fact);
    })();
    await expect.poll(() => given()).toBe(0);
    const worker = runs.work();
    await reading;
    await worker.drain();
    expect(facts.at(-1)).toMatchObject({ type: "run-end", outcome: { type: "answered" } });
    const all = (await openStore().records("r")).length;
    expect(all).toBeGreaterThan(2 * turns);
    expect(given()).toBeLessThanOrEqual(all);
  });

  it("gives the records behind one, those that were only begun with their results", async () => {
    const store = openStore();
    await using journal = await store.open("r");
    const keysAfter = async (after?: string) => (await store.records("r", after)).map(({ key }) => key);
    const step = (key: string) => journal.step({ key, run: async () => key });
    await step("a");
    let pay = (_text: string): void => undefined;
    const paying = journal.step({
      key: "paid",
      run: () => new Promise<string>((resolve) => (pay = resolve)),
      lost: async () => "lost",
    });
    await expect.poll(() => keysAfter("a")).toEqual(["paid"]);
    await step("b");
    expect(await keysAfter("b")).toEqual([]);
    pay("paid");
    await paying;
    expect(await keysAfter("b")).toEqual(["paid"]);
    expect(await keysAfter("a")).toEqual(["b", "paid"]);
    expect(await keysAfter("paid")).toEqual([]);
    expect(await keysAfter()).toEqual(["a", "b", "paid"]);
    expect(await keysAfter("another")).toEqual(["a", "b", "paid"]);
  });

  it("misses none that were kept at once, whoever kept them", async () => {
    const [store, other] = [openStore(), openStore()];
    await using journal = await store.open("r");
    const [count, seen] = [40, new Set<string>()];
    let last: string | undefined;
    let isOver = false;
    const reading = (async () => {
      for (;;) {
        const wasOver = isOver;
        for (const { key, json } of await other.records("r", last)) {
          seen.add(key);
          if (json !== undefined) last = key;
        }
        if (wasOver) return;
      }
    })();
    for (let round = 0; round < count; round += 1) {
      const name = `go ${round}`;
      const asked = { key: `ask ${round}`, signal: name, request: { waitsFor: { signal: name } } };
      await Promise.all([
        journal.ask?.(asked),
        other.signal("r", { name, value: round, id: name }),
        journal.step({ key: `one ${round}`, run: async () => 1 }),
        journal.step({ key: `two ${round}`, run: async () => 2 }),
      ]);
    }
    isOver = true;
    await reading;
    expect([...seen].toSorted()).toEqual((await store.records("r")).map(({ key }) => key).toSorted());
  });

  it.each(["before it ends", "after its end"])(
    "tells the end of one that could not begin, to a reader %s",
    async (when) => {
      const clerk = agent({ name: "clerk", model: () => "Done." });
      const sessions = inMemorySessions();
      const given = { store: openStore(), agents: [clerk] };
      const runs = durableRuns({ ...given, sessions: (id) => session(sessions, id) });
      const said = ["Hi", "Hello", "Pay"].map((text, place) => ({
        role: place === 1 ? ("assistant" as const) : ("user" as const),
        parts: [{ type: "text" as const, text }],
      }));
      await durableRuns(given).start(clerk, said, { id: "r", session: "s" }); // who keeps no sessions does not know that this one has the conversation
      const read = () => Array.fromAsync(runs.events("r", { signal: AbortSignal.timeout(20_000) }));
      const early = when === "before it ends" ? read() : undefined;
      const worker = runs.work();
      const { outcome } = await runs.result("r");
      expect(outcome).toMatchObject({ type: "failed", code: "input-invalid" });
      const told = await (early ?? read());
      await worker.drain();
      expect(told).toMatchObject([{ type: "run-end", runId: "r", seq: 1, outcome }]);
      expect(await Array.fromAsync(runs.events("r", { after: 1 }))).toEqual([]);
    },
  );
});

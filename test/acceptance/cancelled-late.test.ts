import { afterEach, describe, expect, it } from "vitest";
import { durableRuns, type RunJournal, type RunStore, type RunWorker } from "../../src/durable.ts";
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

const asks: Policy = ({ tool: name }) => ({
  verdict: name === "pay" ? "ask" : "allow",
  rule: "",
  reason: "",
});
const make = (name: string, effect: "read" | "irreversible") =>
  tool({ name, description: "", inputSchema: { type: "object" }, effect, execute: () => `${name} done` });

const parcel = tool({
  name: "parcel",
  description: "",
  inputSchema: { type: "object" },
  effect: "read",
  execute: async (_nothing, { waitFor }) => waitFor("here"),
});

/** The store, whose journals do something before they keep a record, or give a run up. */
function before(
  store: RunStore,
  act: () => Promise<unknown>,
  { place, isTime = () => true }: { readonly place: string; readonly isTime?: () => boolean },
): RunStore {
  let hasActed = false;
  const acting = async (at: string): Promise<void> => {
    if (at !== place || hasActed || !isTime()) return;
    hasActed = true;
    await act();
  };
  const wrapped = (journal: RunJournal): RunJournal => ({
    ...journal,
    step: async (step) => {
      await acting(step.key);
      return journal.step(step);
    },
    all: async (steps) => {
      for (const { key } of steps) await acting(key);
      return journal.all(steps);
    },
    wait: async (passed) => {
      await acting("wait");
      return journal.wait(passed);
    },
  });
  const claim: RunStore["claim"] = async (...which) => {
    const journal = await store.claim(...which);
    return journal && wrapped(journal);
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has all else from the store
  return Object.assign(Object.create(store) as RunStore, { claim });
}

describe.each(durablePlaces)("a run that is cancelled while its end is kept, in %s", (where) => {
  const openStore = storesIn(where);
  const workers: RunWorker[] = [];
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.drain({ graceMs: 100 })));
  });

  async function cancelledAt(place: string, ...calls: readonly string[]) {
    const elsewhere = durableRuns({ store: openStore() });
    const store = before(openStore(), () => elsewhere.cancel("r", "too dear"), { place });
    const clerk = agent({
      name: "clerk",
      model: planned(calls.map((name) => ({ name }))),
      tools: [make("look", "read"), make("note", "irreversible"), make("pay", "irreversible"), parcel],
      policy: asks,
    });
    const kept = inMemorySessions();
    const events: AgentEvent[] = [];
    const here = durableRuns({
      store,
      agents: [clerk],
      sessions: (id) => session(kept, id),
      onEvent: (event) => void events.push(event),
    });
    workers.push(here.work());
    await here.start(clerk, "Go", { id: "r", session: "kim" });
    await expect.poll(async () => (await elsewhere.show("r"))?.status).toBe("cancelled");
    const told = (): unknown[] =>
      events.filter(isFact).flatMap((event): unknown[] => {
        if (event.type === "tool-end") return [`${event.name} ${event.result.status}`];
        return event.type === "run-end" ? [event.outcome.type] : [];
      });
    const inSession = async (): Promise<unknown> =>
      (await kept.read("kim")).runs.map(({ outcome }) => outcome.type);
    return { told, inSession };
  }

  it("is told as cancelled where it answered", async () => {
    const { told } = await cancelledAt("end", "look");
    await expect.poll(told).toEqual(["look ok", "cancelled"]);
  });

  it("says of a call that it kept from beginning that it was cancelled", async () => {
    const { told } = await cancelledAt("turn/1/call/1", "look", "note");
    await expect.poll(told).toEqual(["look ok", "note cancelled", "cancelled"]);
  });

  it("is told to its end, and to its session, where it came to a question", async () => {
    const { told, inSession } = await cancelledAt("wait", "note", "pay");
    await expect.poll(told).toEqual(["note ok", "suspended", "note ok", "pay cancelled", "cancelled"]);
    await expect.poll(inSession).toEqual(["cancelled"]);
  });

  it("is told so where a tool of it waits, too", async () => {
    const { told, inSession } = await cancelledAt("end/1", "note", "parcel");
    await expect.poll(told).toEqual(["note ok", "suspended", "note ok", "parcel cancelled", "cancelled"]);
    await expect.poll(inSession).toEqual(["cancelled"]);
  });

  it.each(["turn/1/model", "turn/1/call/0", "turn/2/model"])(
    "is told whole, and to its session, where a worker goes on with it and is at %s of its past",
    async (place) => {
      const elsewhere = durableRuns({ store: openStore() });
      const events: AgentEvent[] = [];
      const isPast = (): boolean => events.some(({ type }) => type === "run-end");
      const store = before(openStore(), () => elsewhere.cancel("r", "too dear"), { place, isTime: isPast });
      const clerk = agent({
        name: "clerk",
        model: planned([{ name: "note" }], [{ name: "pay" }]),
        tools: [make("note", "irreversible"), make("pay", "irreversible")],
        policy: asks,
      });
      const kept = inMemorySessions();
      const here = durableRuns({
        store,
        agents: [clerk],
        sessions: (id) => session(kept, id),
        onEvent: (event) => void events.push(event),
      });
      workers.push(here.work());
      await here.start(clerk, "Go", { id: "r", session: "kim" });
      const waits = async () => (await here.waiting("r"))[0];
      await expect.poll(waits).toBeDefined();
      await expect.poll(isPast).toBe(true);
      const { key = "", request } = (await waits()) ?? {};
      await here.answer("r", key, { approved: true, hash: request?.hash ?? "" });
      await expect.poll(async () => (await kept.read("kim")).runs.length).toBe(1);
      const whole = (await Array.fromAsync(here.events("r")))
        .filter(isFact)
        .map(({ seq, type }) => [seq, type]);
      const told = (): unknown => {
        const last = events.findLastIndex(({ type }) => type === "run-start");
        return events
          .slice(last)
          .filter(isFact)
          .map(({ seq, type }) => [seq, type]);
      };
      await expect.poll(told).toEqual(whole);
      const words = JSON.stringify((await kept.read("kim")).runs);
      expect(words).toContain("note done");
    },
  );
});

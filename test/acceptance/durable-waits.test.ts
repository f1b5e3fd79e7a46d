import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { type DurableRuns, durableRuns, type RunStore, type RunWorker } from "../../src/durable.ts";
import { agent, type Policy, tool } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";
import { durablePlaces, planned, type PlannedCall, storesIn } from "./durable-place.ts";

let log: string[] = [];
const free: Policy = () => ({ verdict: "allow", rule: "free", reason: "" });
const none = { type: "object" } as const;
/** Orders, then waits until it is said that the order was shipped. */
const order = tool({
  name: "order",
  description: "",
  inputSchema: { type: "object", properties: { what: { type: "string" } } },
  effect: "write",
  retry: "keyed",
  async execute({ what }, { idempotencyKey, waitFor }) {
    log.push(`order ${JSON.stringify(what)} ${idempotencyKey.slice(0, 8)}`);
    const shipped = await waitFor("shipped", { schema: z.object({ by: z.string() }) });
    log.push(`shipped by ${shipped.by}`);
    return `shipped by ${shipped.by}`;
  },
});
const patient = tool({
  name: "patient",
  description: "",
  inputSchema: none,
  effect: "read",
  async execute(_nothing, { waitFor }) {
    const said = await waitFor("word", { within: "50ms" });
    log.push(`heard ${JSON.stringify(said)}`);
    return said === undefined ? "undefined" : "a word";
  },
});
const nap = tool({
  name: "nap",
  description: "",
  inputSchema: none,
  effect: "none",
  async execute(_nothing, { sleepUntil }) {
    log.push("lies down");
    await sleepUntil(Date.now() + 300);
    await sleepUntil(new Date(0)); // long past
    log.push("gets up");
    return "rested";
  },
});
const both = tool({
  name: "both",
  description: "",
  inputSchema: none,
  effect: "none",
  async execute(_nothing, { waitFor }) {
    const heard = await Promise.all([waitFor("one"), waitFor("two"), waitFor("one")]).catch(
      (error: unknown) => {
        log.push("caught");
        throw error;
      },
    );
    return heard.map((each) => JSON.stringify(each)).join(" ");
  },
});
const pay = tool({
  name: "pay",
  description: "",
  inputSchema: none,
  effect: "irreversible",
  async execute(_nothing, { waitFor }) {
    log.push("pay");
    return waitFor("receipt");
  },
});
/** A result as its tool gave it, without the mark around it. */
const plain = (text: string): string =>
  text.startsWith('{"tool":') ? String((JSON.parse(text) as { value?: unknown }).value) : text;
const clerkOf = (...calls: (readonly PlannedCall[])[]) =>
  agent({
    name: "clerk",
    model: (request) => {
      const reply = planned(...calls)(request);
      if (typeof reply !== "string") return reply;
      return request.messages
        .flatMap((message) => (message.role === "tool" ? [`${message.status} ${plain(message.text)}`] : []))
        .join("; ");
    },
    tools: [order, patient, nap, both, pay],
    policy: free,
  });
const buyer = clerkOf([{ name: "order", arguments: { what: "tea" } }]);

beforeEach(() => {
  log = [];
});

describe.each(durablePlaces)("a tool that waits in a durable run, in %s", (where) => {
  const openStore = storesIn(where);
  const workers: RunWorker[] = [];
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.drain({ graceMs: 100 })));
  });
  function place(who: typeof buyer, store: RunStore = openStore()) {
    const runs = durableRuns({ store, agents: [who] });
    const work = (): RunWorker => {
      const worker = runs.work();
      workers.push(worker);
      return worker;
    };
    return { runs, store, work };
  }
  const suspended = async (runs: DurableRuns, id = "r", count = 1) =>
    expect
      .poll(async () => [(await runs.show(id))?.status, (await runs.waiting(id)).length])
      .toEqual(["waiting", count]);

  it("holds no process, is listed, and goes on with a signal of another one, once [Z8]", async () => {
    const { runs, work } = place(buyer);
    const worker = work();
    await runs.start(buyer, "Buy tea", { id: "r" });
    await suspended(runs);
    await expect.poll(() => worker.runs).toEqual([]);
    await worker.drain();
    const other = place(buyer);
    const [question] = await other.runs.waiting("r");
    expect(question).toMatchObject({
      key: "turn/1/call/0/wait/shipped/1",
      request: {
        tool: "order",
        waitsFor: { signal: "shipped", schema: { type: "object", required: ["by"] } },
      },
    });
    await other.runs.signal("r", { name: "shipped", value: { by: "post" } });
    await expect(
      other.runs.answer("r", question?.key ?? "", { approved: true, hash: question?.request.hash ?? "" }),
    ).rejects.toMatchObject({ code: "question-answered" });
    other.work();
    expect(await other.runs.result("r")).toMatchObject({ output: "ok shipped by post" });
    expect(log).toEqual([log[0], log[0], "shipped by post"]); // it began again, with the same key
  });

  it("sleeps until a time with parts of a millisecond, and not until one that no date can be", async () => {
    const naps = [
      ["doze", () => Date.now() + 100.25],
      ["forever", () => Infinity],
      ["unsaid", () => null as unknown as number],
      ["written", () => "0" as unknown as number],
    ] as const;
    const tools = naps.map(([name, until]) =>
      tool({
        name,
        description: "",
        inputSchema: none,
        effect: "none",
        async execute(_nothing, { sleepUntil }) {
          await sleepUntil(until());
          return "rested";
        },
      }),
    );
    const model = planned(naps.map(([name]) => ({ name })));
    const who = agent({ name: "clerk", model, tools, policy: free });
    const { runs, work } = place(who);
    work();
    await runs.start(who, "Go", { id: "r" });
    expect((await runs.result("r")).output).toBe("doze ok, forever error, unsaid error, written error");
  });

  it("is listed with a time that a date can be, however long it waits", async () => {
    const long = tool({
      name: "long",
      description: "",
      inputSchema: none,
      effect: "none",
      execute: async (_nothing, { waitFor }) => void (await waitFor("word", { within: "999999999d" })),
    });
    const who = agent({ name: "clerk", model: planned([{ name: "long" }]), tools: [long], policy: free });
    const { runs, work } = place(who);
    work();
    await runs.start(who, "Go", { id: "r" });
    await suspended(runs);
    const [wait] = await runs.waiting("r");
    expect(new Date(wait?.until ?? 0).toISOString()).toMatch(/^\+0\d{5}-/); // of five digits is the year
  });

  it("refuses an answer of another kind, and a signal that does not fit", async () => {
    const { runs, work } = place(buyer);
    work();
    await runs.start(buyer, "Buy tea", { id: "r" });
    await suspended(runs);
    const [{ key, request } = { key: "", request: { hash: "" } }] = await runs.waiting("r");
    await expect(runs.answer("r", key, { approved: true, hash: request.hash })).rejects.toMatchObject({
      code: "question-other",
    });
    await expect(runs.signal("r", { name: "shipped", value: { by: 1 } })).rejects.toMatchObject({
      code: "signal-invalid",
    });
    await expect(runs.signal("nobody", { name: "shipped", value: 1 })).rejects.toMatchObject({
      code: "run-missing",
    });
    for (const value of [Promise.resolve({ by: "ship" }), new Map(), { rows: new Set() }] as never[])
      await expect(runs.signal("r", { name: "other", value })).rejects.toMatchObject({
        code: "definition-invalid",
        message: expect.stringContaining("`value` is not JSON: it has a"),
      });
    await expect(runs.signal("r", { name: "", value: 1 })).rejects.toMatchObject({
      code: "definition-invalid",
    });
    expect(await runs.waiting("r")).toHaveLength(1);
    await runs.signal("r", { name: "other", value: 10n as never });
    await runs.signal("r", { name: "shipped", value: { by: "ship" } });
    expect((await runs.result("r")).output).toBe("ok shipped by ship");
    await expect(runs.signal("r", { name: "shipped", value: { by: "ship" } })).rejects.toMatchObject({
      code: "run-ended",
    });
  });

  it("keeps signals that come before anything waits, in their order, each id once, also while the run is moved", async () => {
    const who = clerkOf([{ name: "both" }], [{ name: "order" }]);
    const { runs, work } = place(who);
    await runs.start(who, "Go", { id: "r" });
    await runs.signal("r", { name: "one", value: "a", id: "hook-1" });
    await runs.signal("r", { name: "one", value: "a", id: "hook-1" });
    await runs.signal("r", { name: "one", value: "b" });
    await runs.import(await runs.export("r"));
    work();
    await suspended(runs);
    expect(log).toEqual(["caught"]);
    await runs.signal("r", { name: "one", value: "late", id: "hook-1" });
    await runs.signal("r", { name: "two", value: "x", id: "hook-2" });
    await suspended(runs);
    expect((await runs.waiting("r"))[0]?.request).toMatchObject({ tool: "order" });
    await runs.signal("r", { name: "shipped", value: { by: "post" }, id: "hook-2" }); // which came before
    expect(await runs.waiting("r")).toHaveLength(1);
    await runs.signal("r", { name: "shipped", value: { by: "post" } });
    expect((await runs.result("r")).output).toBe('ok "a" "x" "b"; ok shipped by post');
  });

  it("takes a signal that comes a second time for the same, also where what waits by then has another schema", async () => {
    const steps = tool({
      name: "steps",
      description: "",
      inputSchema: none,
      effect: "none",
      async execute(_nothing, { waitFor }) {
        const { by } = await waitFor("step", { schema: z.object({ by: z.string() }) });
        const { at } = await waitFor("step", { schema: z.object({ at: z.number() }) });
        return `${by} ${at}`;
      },
    });
    const model = planned([{ name: "steps" }]);
    const who = agent({ name: "clerk", model, tools: [steps], policy: free });
    const { runs, work } = place(who);
    work();
    await runs.start(who, "Go", { id: "r" });
    await suspended(runs);
    const first = { name: "step", value: { by: "post" }, id: "hook-1" };
    await runs.signal("r", first);
    await expect.poll(async () => (await runs.waiting("r"))[0]?.key).toBe("turn/1/call/0/wait/step/2");
    await runs.signal("r", first); // the webhook comes again
    await expect(runs.signal("r", { ...first, id: "hook-2" })).rejects.toMatchObject({
      code: "signal-invalid",
    });
    await runs.signal("r", { name: "step", value: { at: 3 }, id: "hook-2" });
    expect((await runs.result("r")).output).toBe("steps ok");
  });

  it("gives nothing when the time is over, and sleeps until its time, which counts from the first try", async () => {
    const who = clerkOf([{ name: "patient" }, { name: "nap" }]);
    const { runs, work } = place(who);
    const first = work();
    await runs.start(who, "Go", { id: "r" });
    await expect.poll(() => log).toContain("heard undefined");
    await first.drain();
    work();
    expect((await runs.result("r")).output).toBe("ok undefined; ok rested");
    expect(log.filter((each) => each === "heard undefined")).toHaveLength(1); // what was recorded is not done again
    expect(log.at(-1)).toBe("gets up");
    const facts = await Array.fromAsync(runs.events("r"));
    expect(facts.filter(({ type }) => type === "tool-end")).toHaveLength(2);
    expect(await runs.replay("r")).toMatchObject({ output: "ok undefined; ok rested" });
  });

  it("waits inside an agent that is a tool, and is withdrawn by a cancel", async () => {
    const boss = agent({
      name: "boss",
      model: planned([{ name: "clerk", arguments: { input: "Buy" } }]),
      tools: [buyer.asTool()],
      policy: free,
    });
    const runs = durableRuns({ store: openStore(), agents: [boss] });
    workers.push(runs.work());
    await runs.start(boss, "Go", { id: "r" });
    await runs.start(boss, "Go", { id: "gone" });
    await suspended(runs);
    await suspended(runs, "gone");
    await runs.signal("r", { name: "shipped", value: { by: "post" } });
    expect((await runs.result("r")).output).toBe("clerk ok");
    await runs.cancel("gone");
    await expect(runs.signal("gone", { name: "shipped", value: { by: "post" } })).rejects.toMatchObject({
      code: "run-ended",
    });
    expect(await runs.waiting()).toEqual([]);
  });

  it("loses no signal that comes while its question is kept, and gives it once", async () => {
    const [store, other] = [openStore(), openStore()];
    for (let round = 0; round < 20; round += 1) {
      const id = `race-${round}`;
      await using journal = await store.open(id);
      const asked = { key: "k", signal: "go", request: { waitsFor: { signal: "go" } } };
      const [kept] = await Promise.all([
        journal.ask?.(asked),
        other.signal(id, { name: "go", value: round, id: "s" }),
      ]);
      if (kept !== undefined && !("answer" in kept)) expect(kept).toEqual({ waitsAt: "k" });
      expect(await journal.ask?.(asked)).toEqual({ answer: { value: round } });
      expect(await journal.ask?.({ ...asked, key: "l" })).toEqual({ waitsAt: "l" });
    }
  });

  it("asks at once, and the questions stand in the order in which they came", async () => {
    await using journal = await openStore().open("r");
    const keys = Array.from({ length: 30 }, (_, index) => `k${index}`);
    await Promise.all(
      keys.map(async (key) => journal.ask?.({ key, signal: "go", request: { waitsFor: { signal: "go" } } })),
    );
    expect((await openStore().questions("r")).map(({ key }) => key)).toEqual(keys);
  });

  it("begins while its model still writes, and waits at the place of its call", async () => {
    const model = scripted([{ calls: [{ name: "both" }] }, "done"]);
    const who = agent({ name: "clerk", model, tools: [both], policy: free });
    const runs = durableRuns({ store: openStore(), agents: [who], onEvent: () => undefined });
    workers.push(runs.work());
    await runs.start(who, "Go", { id: "r" });
    await suspended(runs, "r", 3);
    expect((await runs.waiting("r")).map(({ key }) => key)).toEqual([
      "turn/1/call/0/wait/one/1",
      "turn/1/call/0/wait/two/1",
      "turn/1/call/0/wait/one/2",
    ]);
    for (const name of ["one", "one", "two"]) await runs.signal("r", { name, value: name });
    expect((await runs.result("r")).output).toBe("done");
    expect(log.filter((each) => each === "caught").length).toBeGreaterThan(0);
  });

  it("is refused to a tool that may not begin again", async () => {
    const who = clerkOf([{ name: "pay" }]);
    const { runs, work } = place(who);
    work();
    await runs.start(who, "Go", { id: "r" });
    expect((await runs.result("r")).output).toMatch(/^error .*Tool "pay" waits.*`retry`/s);
    expect(log).toEqual(["pay"]);
  });
});

describe("a tool that waits in a run without a store", () => {
  it("waits in the process, and what it waits takes nothing of its own time", async () => {
    const slow = tool({
      name: "nap",
      description: "",
      inputSchema: none,
      effect: "none",
      timeoutMs: 1_000,
      execute: (_nothing, { sleepUntil }) => sleepUntil(Date.now() + 1_500),
    });
    const who = agent({ name: "clerk", model: planned([{ name: "nap" }]), tools: [slow], policy: free });
    expect(await who("Go")).toBe("nap ok");
  });

  it("is given signals by `onWait` of the run, held against the schema", async () => {
    const asked: unknown[] = [];
    const onWait = ({ name, tool: by, schema }: { name: string; tool: string; schema?: object }) => {
      asked.push([name, by, schema !== undefined]);
      return { by: "hand" };
    };
    expect(await buyer("Buy", { onWait })).toBe("ok shipped by hand");
    expect(asked).toEqual([["shipped", "order", true]]);
    expect(await buyer("Buy", { onWait: () => ({ by: 1 }) })).toMatch(/^error .*"shipped"/s);
    expect(await buyer("Buy", { onWait: () => ({ by: new Map() }) as never })).toMatch(
      /^error .*it has a Map/s,
    );
    const boss = agent({
      name: "boss",
      model: planned([{ name: "clerk", arguments: { input: "" } }]),
      tools: [buyer.asTool()],
      policy: free,
    });
    expect(await boss("Buy", { onWait })).toBe("clerk ok");
  });

  it("ends by its time, by the end of the run, and where nobody can signal it, at once", async () => {
    expect(await clerkOf([{ name: "patient" }])("Go")).toBe("ok undefined");
    const { outcome } = await buyer.run("Buy", {
      onWait: () => new Promise(() => undefined),
      signal: AbortSignal.timeout(50),
    });
    expect(outcome.type).toBe("cancelled");
    expect(await buyer("Buy")).toMatch(/^error .*`onWait`/s);
    await expect(buyer.run("Buy", { onWait: 1 as never })).rejects.toMatchObject({
      code: "definition-invalid",
    });
  });

  it("is called directly too", async () => {
    const { callTool } = await import("../../src/doors.ts");
    expect(await callTool(nap, {})).toMatchObject({ status: "ok" });
  });

  it("is cancelled while it waits, also where its call has a time of its own", async () => {
    const { callTool } = await import("../../src/doors.ts");
    const signal = AbortSignal.timeout(50);
    expect(await callTool(nap, {}, { signal, timeoutMs: 5_000 })).toMatchObject({ status: "cancelled" });
    expect(log).not.toContain("gets up");
  });
});

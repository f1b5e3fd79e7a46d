import { describe, expect, it } from "vitest";
import { agent, memoryJournal, session, tool } from "../../src/index.ts";
import type { SessionStore } from "../../src/session.ts";
import { scripted, type ScriptedModel } from "../../src/testing.ts";

const inputSchema = { type: "object", properties: {} } as const;
const payCall = { calls: [{ name: "pay", arguments: {} }] };
const usage = { inputTokens: 0, outputTokens: 0 };

/** An agent that pays once and answers. `paying` goes on until `finish` is called. */
function slowPayer(): {
  readonly payer: ReturnType<typeof agent>;
  readonly model: ScriptedModel;
  readonly paid: () => number;
  readonly begun: Promise<void>;
  readonly finish: () => void;
} {
  let count = 0;
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const pay = tool({
    name: "pay",
    description: "",
    effect: "irreversible",
    inputSchema,
    async execute() {
      count += 1;
      begun.resolve();
      await end.promise;
      return "paid";
    },
  });
  const model = scripted([payCall, "I paid."]);
  const payer = agent({ name: "payer", model, tools: [pay] });
  return { payer, model, paid: () => count, begun: begun.promise, finish: end.resolve };
}

const code = (expected: string, data: object = { id: "s" }): unknown =>
  expect.objectContaining({ code: expected, data: expect.objectContaining(data) });

/** Registers what runs of one session at once may expect of a store. `open` gives a store that is empty. */
export function sessionRunsContract(name: string, open: () => SessionStore): void {
  describe(`runs of one session at once: ${name}`, () => {
    it("go one after another: the later one is told what the first did before it does anything [C42]", async () => {
      const store = open();
      const [one, two] = [slowPayer(), slowPayer()];
      const first = one.payer.run("Pay", { session: session(store, "s") });
      const second = two.payer.run("Pay", { session: session(store, "s") });
      await one.begun;
      two.finish();
      await new Promise((resolve) => void setTimeout(resolve, 20));
      expect([one.paid(), two.paid(), two.model.requests.length]).toEqual([1, 0, 0]);
      one.finish();
      expect([(await first).text, (await second).text]).toEqual(["I paid.", "I paid."]);
      expect(JSON.stringify(two.model.requests[0]?.messages)).toMatch(/pay \{\}: ok/);
      const { version, runs } = await store.read("s");
      expect([version, runs.map(({ messages }) => messages.length)]).toEqual([2, [4, 4]]);
    });

    it("begin in the order of their coming, and do not keep other sessions waiting", async () => {
      const store = open();
      const order: string[] = [];
      const talker = agent({
        name: "talker",
        model: ({ messages }) => {
          order.push(JSON.stringify(messages.at(-1)).match(/run \d/)?.[0] ?? "");
          return "yes";
        },
      });
      const slow = slowPayer();
      const held = slow.payer.run("Pay", { session: session(store, "s") });
      await slow.begun;
      const waiting = [1, 2, 3].map((each) => talker.run(`run ${each}`, { session: session(store, "s") }));
      await talker.run("run 4", { session: session(store, "t") });
      slow.finish();
      await Promise.all([held, ...waiting]);
      expect(order).toEqual(["run 4", "run 1", "run 2", "run 3"]);
    });

    it("keep out who comes while one that waited is at work", async () => {
      const within = { session: session(open(), "s") };
      const asked: string[] = [];
      const talker = (name: string) => {
        const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
        const { promise: end, resolve: finish } = Promise.withResolvers<string>();
        const model = async (): Promise<string> => {
          asked.push(name);
          begin();
          return end;
        };
        return { running: () => agent({ name, model }).run("Go", within), begun, finish };
      };
      const [one, two, three] = [talker("one"), talker("two"), talker("three")];
      const first = one.running();
      await one.begun;
      const second = two.running();
      one.finish("1");
      await first;
      await two.begun;
      const third = three.running();
      await new Promise((resolve) => void setTimeout(resolve, 20));
      expect(asked).toEqual(["one", "two"]);
      two.finish("2");
      three.finish("3");
      expect([(await second).text, (await third).text]).toEqual(["2", "3"]);
    });

    it("are refused at once where the author wants that, before they do anything", async () => {
      const store = open();
      const [one, two] = [slowPayer(), slowPayer()];
      const first = one.payer.run("Pay", { session: session(store, "s") });
      await one.begun;
      const refusing = session(store, "s", { whenBusy: "refuse" });
      await expect(two.payer.run("Pay", { session: refusing })).rejects.toEqual(code("session-busy"));
      expect([two.paid(), two.model.requests.length]).toEqual([0, 0]);
      one.finish();
      await first;
      two.finish();
      expect((await two.payer.run("Pay", { session: refusing })).outcome.type).toBe("answered");
    });

    it("stop waiting when they are cancelled or their time is over, and keep nobody behind them waiting", async () => {
      const store = open();
      const one = slowPayer();
      const first = one.payer.run("Pay", { session: session(store, "s") });
      await one.begun;
      const talker = agent({ name: "talker", model: () => "yes" });
      const stop = new AbortController();
      const cancelled = talker.run("Hi", { session: session(store, "s"), signal: stop.signal });
      const late = talker.with({ budget: { durationMs: 20 } }).run("Hi", { session: session(store, "s") });
      const last = talker.run("Hi", { session: session(store, "s") });
      stop.abort("enough");
      expect((await cancelled).outcome).toMatchObject({ type: "cancelled", reason: "enough" });
      expect((await late).outcome).toMatchObject({ type: "exhausted", field: "durationMs" });
      one.finish();
      expect([(await first).text, (await last).text]).toEqual(["I paid.", "yes"]);
      expect((await store.read("s")).runs).toHaveLength(2);
    });

    it("are refused when one is inside the other, which would wait for itself", async () => {
      const store = open();
      const talk = session(store, "s");
      const inner = agent({ name: "inner", model: scripted(["yes", "yes"]) });
      const errors: unknown[] = [];
      const tried = (run: () => Promise<unknown>): Promise<unknown> =>
        run().catch((error) => errors.push(error));
      const ask = tool({
        name: "ask",
        description: "",
        inputSchema,
        async execute(_args, context) {
          await tried(() => inner.run("Hi", { session: talk }));
          await tried(() => inner.run("Hi", { session: session(store, "s"), parent: context.run }));
          return (await inner.run("Hi", { session: session(store, "other") })).text;
        },
      });
      const hooks = [
        { afterTurn: () => tried(() => inner.run("Hi", { session: talk })).then(() => undefined) },
      ];
      const model = scripted([{ calls: [{ name: "ask", arguments: {} }] }, "done"]);
      const outer = agent({ name: "outer", model, tools: [ask], hooks });
      expect((await outer.run("Ask", { session: talk })).text).toBe("done");
      expect(errors).toEqual([code("session-inside"), code("session-inside"), code("session-inside")]);
      expect((await inner.run("Hi", { session: talk })).text).toBe("yes");
    });

    it("let the next one begin however the one before ended", async () => {
      const store = open();
      const broken = agent({ name: "broken", model: scripted([new Error("503")]) });
      await expect(broken.run("Hi", { session: session(store, "s") })).rejects.toThrow();
      const left = slowPayer();
      left.finish();
      for await (const event of left.payer.stream("Pay", { session: session(store, "s") }))
        if (event.type === "tool-start") break;
      const talker = agent({ name: "talker", model: () => "yes" });
      expect((await talker.run("Hi", { session: session(store, "s") })).text).toBe("yes");
      expect((await store.read("s")).runs).toHaveLength(3);
    });

    it("are told before their first call with an effect that a program changed the session meanwhile [C42]", async () => {
      const store = open();
      await store.create("s");
      const one = slowPayer();
      const meddling = agent({
        name: "payer",
        model: async () => {
          const { version } = await store.read("s");
          await store.update("s", { messages: [], runs: [], summary: "short" }, version);
          return payCall;
        },
        tools: [tool({ name: "pay", description: "", inputSchema, execute: () => one.finish() })],
      });
      await expect(meddling.run("Pay", { session: session(store, "s") })).rejects.toEqual(
        code("session-conflict", { id: "s", expected: 0, found: 1 }),
      );
      expect(one.paid()).toBe(0);
      const { runs } = await store.read("s");
      expect(runs[0]?.messages.at(-1)).toMatchObject({ role: "tool", status: "skipped" });
    });

    it("are kept with what they did when the session was changed after that", async () => {
      const store = open();
      await store.create("s");
      const one = slowPayer();
      const running = one.payer.run("Pay", { session: session(store, "s") });
      await one.begun;
      const outcome = { type: "answered", content: "b", finishReason: "stop" } as const;
      const other = { runId: "b", agent: "b", skill: "b", outcome, usage, messages: [] };
      await store.append("s", other, 0);
      one.finish();
      expect((await running).text).toBe("I paid.");
      const { version, runs } = await store.read("s");
      expect([version, runs.map(({ agent: by }) => by)]).toEqual([2, ["b", "payer"]]);
      expect(runs[1]?.acts).toMatchObject([{ tool: "pay", status: "ok" }]);
    });

    it("replay without another effect, also beside a run that was kept meanwhile", async () => {
      const store = open();
      const one = slowPayer();
      one.finish();
      const journal = memoryJournal();
      await one.payer.run("Pay", { journal, session: session(store, "s"), runId: "r" });
      const talker = agent({ name: "talker", model: () => "yes" });
      await talker.run("Hi", { session: session(store, "s") });
      const unsaved = journal.records.filter(({ key }) => !key.startsWith("session/") && key !== "end");
      for (const records of [
        journal.records,
        [...unsaved, ...journal.records.filter(({ key }) => key === "session")],
      ]) {
        const again = memoryJournal(records);
        const { text } = await one.payer.run("Pay", {
          journal: again,
          session: session(store, "s"),
          runId: "r",
        });
        expect(text).toBe("I paid.");
      }
      expect(one.paid()).toBe(1);
      expect((await store.read("s")).runs).toHaveLength(2);
    });
  });
}

/** Registers what a claim of a store may be expected to be. */
export function sessionClaimsContract(name: string, open: () => SessionStore): void {
  describe(`claims of a session store: ${name}`, () => {
    it("belong to one owner until they are released by it, whether or not there is such a session", async () => {
      const { claims } = open();
      if (claims === undefined) throw new Error("the store has no claims");
      expect(await claims.take("s", "a", { forMs: 60_000 })).toBe("a");
      expect(await claims.take("s", "b", { forMs: 60_000 })).toBe("a");
      expect(await claims.take("s", "a", { forMs: 60_000 })).toBe("a");
      expect(await claims.take("__proto__", "b", { forMs: 60_000 })).toBe("b");
      await claims.release("s", "b");
      expect(await claims.take("s", "b", { forMs: 60_000 })).toBe("a");
      await claims.release("s", "a");
      expect(await claims.take("s", "b", { forMs: 60_000 })).toBe("b");
    });
  });
}

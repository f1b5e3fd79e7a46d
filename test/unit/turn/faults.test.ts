import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, type AgentEvent, memoryJournal, skill, tool } from "../../../src/index.ts";
import type { Delta } from "../../../src/model/model.ts";
import { fakeTool, scripted } from "../../../src/testing.ts";

const pay = (paid: number[]): ReturnType<typeof tool> =>
  tool({
    name: "pay",
    description: "",
    inputSchema: z.object({ amount: z.number() }),
    execute: ({ amount }) => paid.push(amount),
  });

describe("faults that were found once", () => {
  it("lets a policy judge what the tool would get, however the model wrote it", async () => {
    const paid: number[] = [];
    const calls = [
      { amount: 500 },
      [{ amount: 500 }],
      '"{\\"amount\\":500}"',
      { amount: "500" },
      { amount: 5 },
    ].map((given) => ({ name: "pay", arguments: given }));
    const a = agent({
      name: "a",
      model: scripted([{ calls }, "done"]),
      tools: [pay(paid)],
      policy: (call) => {
        const { amount } = call.arguments as { amount: number };
        return { verdict: amount > 100 ? "deny" : "allow", rule: "limit", reason: "too much" };
      },
    });
    await a.run("x");
    expect(paid).toEqual([5]);
  });

  it("takes whatever is not clearly yes for no", async () => {
    const odd = [
      () => Promise.resolve({ verdict: "deny" }),
      () => ({ verdict: "Deny" }),
      () => undefined,
      () => {
        throw new Error("no");
      },
    ];
    for (const policy of odd) {
      const paid: number[] = [];
      await agent({
        name: "a",
        model: scripted([{ calls: [{ name: "pay", arguments: { amount: 1 } }] }, "done"]),
        tools: [pay(paid)],
        policy: policy as never,
      }).run("x");
      expect(paid).toEqual([]);
    }
  });

  it("survives a tool that cancels its own run, and one that throws while it does", async () => {
    for (const after of [
      () => "value",
      () => {
        throw new Error("late");
      },
    ]) {
      const controller = new AbortController();
      const own = fakeTool("own", async () => {
        controller.abort(new Error("enough"));
        return after();
      });
      const result = await agent({
        name: "a",
        model: scripted([{ calls: [{ name: "own" }] }]),
        tools: [own],
      }).run("x", { signal: controller.signal });
      expect(result.outcome).toEqual({ type: "cancelled", reason: "enough" });
    }
  });

  it("ends when a person, a schema or a plain skill never answers", async () => {
    const never = (): Promise<never> => new Promise(() => undefined);
    const slow = z.object({ n: z.number() }).refine(never);
    const call = { calls: [{ name: "t", arguments: { n: 1 } }] };
    const make = (about: object): ReturnType<typeof tool> =>
      tool({
        name: "t",
        description: "",
        inputSchema: z.object({ n: z.number() }),
        execute: () => ({ n: 1 }),
        ...about,
      });
    const budget = { durationMs: 40 };
    const asking = agent({
      name: "a",
      model: scripted([call]),
      tools: [make({})],
      budget,
      policy: () => ({ verdict: "ask", rule: "r", reason: "r" }),
    });
    expect(await asking.run("x", { approve: never })).toMatchObject({ outcome: { field: "durationMs" } });
    const input = agent({ name: "a", model: scripted([call]), tools: [make({ inputSchema: slow })], budget });
    expect(await input.run("x")).toMatchObject({ outcome: { field: "durationMs" } });
    const output = agent({
      name: "a",
      model: scripted([call, "done"]),
      tools: [make({ outputSchema: slow, timeoutMs: 20 })],
    });
    expect((await output.run("x")).transcript.messages.at(-2)).toMatchObject({ status: "timeout" });
    const plain = agent({
      name: "a",
      skills: [skill({ name: "s", description: "", execute: never })],
      budget,
    });
    expect(await plain.run("x")).toMatchObject({ outcome: { type: "exhausted", field: "durationMs" } });
    expect(
      await plain.with({ budget: { durationMs: 5000 } }).run("x", { signal: AbortSignal.timeout(20) }),
    ).toMatchObject({ outcome: { type: "cancelled" } });
  });

  it("never takes a late value for a success, also when the tool held up the thread", async () => {
    const block = tool({
      name: "block",
      description: "",
      inputSchema: z.object({}),
      timeoutMs: 10,
      execute: () => {
        const until = Date.now() + 40;
        while (Date.now() < until);
        return "late";
      },
    });
    const result = await agent({
      name: "a",
      model: scripted([{ calls: [{ name: "block" }] }, "done"]),
      tools: [block],
    }).run("x");
    expect(result.transcript.messages.at(-2)).toMatchObject({ status: "timeout" });
  });

  it("starts nothing early in a turn that must answer, nor after an unknown tool that ends the run", async () => {
    const look = (seen: number[]): ReturnType<typeof tool> =>
      tool({
        name: "look",
        description: "",
        inputSchema: z.object({}),
        effect: "read",
        execute: () => seen.push(1),
      });
    const seen: number[] = [];
    await agent({
      name: "a",
      model: scripted([{ calls: [{ name: "look" }] }]),
      tools: [look(seen)],
      budget: { turns: 1 },
      lastTurn: "answer",
    }).run("x");
    await agent({
      name: "a",
      model: scripted([{ calls: [{ name: "nope" }, { name: "look" }] }]),
      tools: [look(seen)],
      endOn: ["unknown-tool"],
    }).run("x");
    expect(seen).toEqual([]);
  });

  it("gives each run its own idempotency keys, also to calls that start early", async () => {
    const keys: string[] = [];
    const look = tool({
      name: "look",
      description: "",
      inputSchema: z.object({}),
      effect: "read",
      execute: (_args, context) => keys.push(context.idempotencyKey),
    });
    const steps = [{ calls: [{ name: "look" }] }, "done"];
    for (const journal of [undefined, memoryJournal()]) {
      await agent({ name: "a", model: scripted(steps), tools: [look] }).run("x", { journal });
    }
    expect(new Set(keys).size).toBe(2);
  });

  it("tells nothing after run-end, and names calls alike in deltas and facts", async () => {
    async function* deaf(): AsyncGenerator<Delta> {
      yield { type: "call-start", id: "", name: "my_tool" };
      yield { type: "call-delta", id: "", text: "{" };
      for (let count = 0; count < 200; count += 1) {
        await sleep(1);
        yield { type: "text-delta", text: "x" };
      }
    }
    const a = agent({ name: "a", model: deaf, tools: [fakeTool("my.tool", 1)] });
    const events: AgentEvent[] = [];
    for await (const event of a.stream("x", { signal: AbortSignal.timeout(30) })) events.push(event);
    expect(events.at(-1)?.type).toBe("run-end");
    expect(events.find((event) => event.type === "call-delta")).toMatchObject({
      callId: "call_1_0",
      name: "my.tool",
    });
  });

  it("gives a result also when an exclusive key cannot be told", async () => {
    const broken = tool({
      name: "broken",
      description: "",
      inputSchema: z.object({}),
      effect: "read",
      exclusive: () => {
        throw new Error("no key");
      },
      execute: () => "ran",
    });
    const result = await agent({
      name: "a",
      model: scripted([{ calls: [{ name: "broken" }] }, "done"]),
      tools: [broken],
    }).run("x");
    expect(result).toMatchObject({ text: "done" });
    expect(result.transcript.messages.at(-2)).toMatchObject({
      status: "error",
      text: "Tool 'broken' failed: no key",
    });
  });

  it("knows no price that is not a number of dollars", async () => {
    for (const price of [Number.NaN, -1, Infinity]) {
      const a = agent({
        name: "a",
        model: scripted([{ calls: [{ name: "t" }] }]),
        tools: [fakeTool("t", 1)],
        budget: { costUsd: 0.01, price: () => price, turns: 20 },
      });
      expect(await a.run("x")).toMatchObject({ outcome: { field: "costUsd" }, turns: 1 });
    }
  });

  it("takes half a reply for no answer, a filtered one for a refusal, and a text as it is", async () => {
    async function* half(): AsyncGenerator<Delta> {
      yield { type: "text-delta", text: "half an ans" };
    }
    await expect(agent({ name: "a", model: half })("x")).rejects.toMatchObject({ code: "reply-invalid" });
    await expect(
      agent({ name: "a", model: scripted([{ text: "half", finishReason: "error" }]) })("x"),
    ).rejects.toMatchObject({ code: "provider-failed" });
    const filtered = agent({ name: "a", model: scripted([{ text: "", finishReason: "content-filter" }]) });
    expect(await filtered.run("x")).toMatchObject({ outcome: { type: "refused" }, turns: 1 });
    for (const text of ["1.50", "1e3", '"q"']) {
      expect(await agent({ name: "a", model: scripted([text]), output: z.string() })("x")).toBe(text);
    }
  });

  it("replays a plain skill only for the same input", async () => {
    const shout = agent({
      name: "a",
      skills: [
        skill({
          name: "s",
          description: "",
          execute: (text) => (text === "none" ? undefined : `got ${String(text)}`),
        }),
      ],
    });
    const journal = memoryJournal();
    expect(await shout.run("one", { journal })).toMatchObject({ output: "got one" });
    await expect(shout.run("two", { journal })).rejects.toMatchObject({ code: "journal-mismatch" });
    expect(await shout.run("none", { journal: memoryJournal() })).toMatchObject({
      outcome: { type: "answered" },
      output: null,
    });
  });
});

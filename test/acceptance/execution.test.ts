import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  agent,
  type AgentEvent,
  memoryJournal,
  type RunOptions,
  tool,
  type TypedTool,
} from "../../src/index.ts";
import type { Delta } from "../../src/model/model.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import type { JsonObject } from "../../src/util/json.ts";

/** A clock for what began and ended in which order. */
function diary(): { readonly entries: string[]; note: (entry: string) => void } {
  const entries: string[] = [];
  return { entries, note: (entry) => entries.push(entry) };
}

function waiting(
  name: string,
  ms: number,
  about: { note?: (entry: string) => void; effect?: "read" | "write"; exclusive?: boolean } = {},
): TypedTool<object, string> {
  return tool({
    name,
    description: "",
    inputSchema: z.object({}),
    effect: about.effect,
    exclusive: about.exclusive,
    execute: async () => {
      about.note?.(`${name} begins`);
      await sleep(ms);
      about.note?.(`${name} ends`);
      return name;
    },
  });
}

const calls = (...names: readonly string[]): { calls: { name: string; arguments: JsonObject }[] } => ({
  calls: names.map((name) => ({ name, arguments: {} })),
});

async function eventsOf(stream: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe("the probes that peers fail", () => {
  it("runs the calls of a turn beside each other and gives results in the order of the calls", async () => {
    const { entries, note } = diary();
    const tools = [waiting("slow", 60, { note }), waiting("quick", 5, { note })];
    const model = scripted([calls("slow", "quick"), "done"]);
    const events = await eventsOf(agent({ name: "a", model, tools, markResults: false }).stream("go"));
    expect(entries).toEqual(["slow begins", "quick begins", "quick ends", "slow ends"]);
    expect(model.requests[1]?.messages.slice(2)).toMatchObject([{ text: "slow" }, { text: "quick" }]);
    expect(events.filter((event) => event.type === "tool-end").map((event) => event.name)).toEqual([
      "slow",
      "quick",
    ]);
  });

  it("keeps to the number of calls at a time, and to exclusive tools", async () => {
    const { entries, note } = diary();
    const limited = agent({
      name: "a",
      model: scripted([calls("x", "y"), "done"]),
      tools: [waiting("x", 10, { note }), waiting("y", 5, { note })],
      concurrency: 1,
    });
    await limited("go");
    const inTurn = ["x begins", "x ends", "y begins", "y ends"];
    expect(entries).toEqual(inTurn);
    expect(() => limited.with({ concurrency: 1.5 })).toThrow("`concurrency` must be a whole number");
    const exclusive = diary();
    const one = waiting("one", 10, { note: exclusive.note, exclusive: true });
    await agent({ name: "a", model: scripted([calls("one", "one"), "done"]), tools: [one] })("go");
    expect(exclusive.entries).toEqual(["one begins", "one ends", "one begins", "one ends"]);
    const byKey = diary();
    const write = tool({
      name: "write",
      description: "",
      inputSchema: z.object({ path: z.string() }),
      exclusive: ({ path }) => path,
      execute: async ({ path }) => {
        byKey.note(`${path}+`);
        await sleep(10);
        byKey.note(`${path}-`);
      },
    });
    const paths = ["a", "b", "a"].map((path) => ({ name: "write", arguments: { path } }));
    await agent({ name: "a", model: scripted([{ calls: paths }, "done"]), tools: [write] })("go");
    expect(byKey.entries.slice(0, 2)).toEqual(["a+", "b+"]);
    expect(byKey.entries.indexOf("a-")).toBeLessThan(byKey.entries.lastIndexOf("a+"));
  });

  it("starts calls that only look while the model still writes, and no others", async () => {
    const { entries, note } = diary();
    const tools = [
      waiting("look", 5, { note, effect: "read" }),
      waiting("change", 5, { note, effect: "write" }),
      waiting("unsaid", 5, { note }),
    ];
    async function* reply(): AsyncGenerator<Delta> {
      for (const name of ["look", "change", "unsaid"]) {
        yield { type: "call-start", id: name, name };
        yield { type: "call-end", id: name, arguments: {} };
      }
      await sleep(40);
      note("model ends");
      yield { type: "end", finishReason: "tool-calls" };
    }
    let asked = 0;
    const events = await eventsOf(
      agent({ name: "a", tools, model: () => (asked++ === 0 ? reply() : "done") }).stream("go"),
    );
    expect(entries.slice(0, 3)).toEqual(["look begins", "look ends", "model ends"]);
    expect(entries.filter((entry) => entry === "look begins")).toHaveLength(1);
    const order = events
      .map((event) => event.type)
      .filter((type) => ["message-end", "tool-start", "tool-end"].includes(type));
    expect(order).toEqual([
      "message-end",
      ...Array.from({ length: 3 }, () => ["tool-start", "tool-end"]).flat(),
      "message-end",
    ]);
  });

  it("never runs a call whose arguments were cut off, in the middle or at the token limit [T4.3]", async () => {
    const danger = tool({
      name: "danger",
      description: "",
      inputSchema: z.object({ path: z.string().optional() }),
      execute: () => ran.push(1),
    });
    const ran: number[] = [];
    const model = scripted([
      { calls: [{ name: "danger", arguments: '{"path":"/tmp/x' }] },
      { calls: [{ name: "danger", arguments: "{}" }], finishReason: "length" },
      [
        { type: "call-start", id: "1", name: "danger" },
        { type: "call-delta", id: "1", text: "{}" },
        { type: "end", finishReason: "stop" },
      ],
      "done",
    ]);
    const result = await agent({ name: "a", model, tools: [danger] }).run("go");
    expect(ran).toEqual([]);
    const results = result.transcript.messages.filter((message) => message.role === "tool");
    expect(results.map((message) => message.status)).toEqual(["invalid", "invalid", "invalid"]);
  });

  it("does not say of a call that looked while the model wrote that it did not run, where the reply was cut behind it", async () => {
    const ran: unknown[] = [];
    const look = tool({
      name: "look",
      description: "",
      inputSchema: { type: "object", properties: { at: { type: "number" } } },
      effect: "read",
      execute: ({ at }) => ran.push(at),
    });
    const cut = [1, 2].map((at) => ({ name: "look", arguments: { at } }));
    const model = scripted([{ calls: cut, finishReason: "length" }, "done"]);
    const journal = memoryJournal();
    const looking = agent({ name: "a", model, tools: [look] });
    const { calls } = await looking.run("go", { journal });
    expect(calls.map(({ status }) => status)).toEqual(["ok", "ok"]);
    expect(ran).toEqual([1, 2]);
    const replayed = await looking.run("go", { journal: memoryJournal(journal.records, { mode: "replay" }) });
    expect(replayed.calls).toEqual(calls);
    const unsaid = looking.with({
      model: scripted([{ calls: cut, finishReason: "length" }, "done"]),
      tools: [{ ...look, effect: "undeclared" }],
    });
    expect((await unsaid.run("go")).calls.map(({ status }) => status)).toEqual(["ok", "invalid"]);
    expect(ran).toEqual([1, 2, 1]);
  });

  it("does not let a result pass that does not match its schema [G1.2, H8.3]", async () => {
    const bad = tool({
      name: "bad",
      description: "",
      inputSchema: z.object({}),
      outputSchema: z.number(),
      execute: () => "seven" as unknown as number,
    });
    const model = scripted([calls("bad"), "done"]);
    await agent({ name: "a", model, tools: [bad] })("go");
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({
      status: "error",
      text: "Tool 'bad' failed: its result does not match its output schema.",
    });
  });

  it("reports a tool that throws anything at all, and shows results by one rule [C13, C14]", async () => {
    const values: [unknown, string][] = [
      [null, "null"],
      [undefined, "null"],
      [true, "true"],
      [1.5, "1.5"],
      ["text", "text"],
      [{ a: [1] }, '{"a":[1]}'],
      [12n, "12"],
    ];
    const tools = values.map(([value], index) => fakeTool(`t${index}`, () => value));
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    const odd = [
      fakeTool("cyclic", cyclic),
      fakeTool("throws", () => {
        // oxlint-disable-next-line typescript/only-throw-error -- what careless tools do
        throw "just text";
      }),
    ];
    const model = scripted([calls(...tools.map((made) => made.name), "cyclic", "throws"), "done"]);
    await agent({ name: "a", model, tools: [...tools, ...odd], markResults: false })("go");
    const results = model.requests[1]?.messages.slice(2) ?? [];
    expect(results.slice(0, values.length).map((message) => message.role === "tool" && message.text)).toEqual(
      values.map(([, text]) => text),
    );
    expect(results.slice(values.length)).toMatchObject([
      { status: "error", text: "Tool 'cyclic' ran, but its result is not JSON." },
      { status: "error", text: "Tool 'throws' failed: just text" },
    ]);
  });
});

describe("stopping", () => {
  it("cancels: the model and running tools get the signal, open calls are settled [C30]", async () => {
    const controller = new AbortController();
    let told = false;
    const long = tool({
      name: "long",
      description: "",
      inputSchema: z.object({}),
      execute: (_args, { signal }) => {
        signal.addEventListener("abort", () => (told = true));
        setTimeout(() => controller.abort(new Error("enough")), 10);
        return sleep(5_000);
      },
    });
    const a = agent({ name: "a", model: scripted([calls("long", "long")]), tools: [long] });
    const result = await a.run("go", { signal: controller.signal });
    expect(result.outcome).toEqual({ type: "cancelled", reason: "enough" });
    expect(told).toBe(true);
    expect(result.transcript.messages.slice(3)).toMatchObject([
      { status: "cancelled" },
      { status: "cancelled" },
    ]);
    expect(await a.run("go", { signal: AbortSignal.abort(new Error("before")) })).toMatchObject({
      outcome: { type: "cancelled", reason: "before" },
      turns: 0,
    });
    await expect(a("go", { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "run-cancelled" });
    const gone = Object.assign(new Error("the client has gone"), { type: "request.aborted" });
    expect((await a.run("go", { signal: AbortSignal.abort(gone) })).outcome).toEqual({
      type: "cancelled",
      reason: "the client has gone",
    });
  });

  it("ends even when model and tools ignore the signal [C30]", async () => {
    const deaf = agent({ name: "a", model: () => new Promise<string>(() => undefined) });
    const result = await deaf.run("go", { signal: AbortSignal.timeout(30) });
    expect(result.outcome.type).toBe("cancelled");
  });

  it("leaving the stream early aborts what runs [L6]", async () => {
    let aborted: unknown;
    const { promise: stopped, resolve } = Promise.withResolvers<void>();
    async function* endless(signal: AbortSignal): AsyncGenerator<Delta> {
      signal.addEventListener("abort", () => {
        aborted = signal.reason;
        resolve();
      });
      for (;;) {
        yield { type: "text-delta", text: "and " };
        await sleep(1);
      }
    }
    const a = agent({ name: "a", model: (_request, { signal }) => endless(signal) });
    for await (const event of a.stream("go")) if (event.type === "text-delta") break;
    await stopped;
    expect(aborted).toMatchObject({ type: "cancelled" });
  });

  it("ends a model that does not listen to its signal at what it writes next, once the run is stopped", async () => {
    const { promise: left, resolve } = Promise.withResolvers<void>();
    let written = 0;
    async function* endless(): AsyncGenerator<Delta> {
      try {
        for (; ; written += 1) yield { type: "text-delta", text: await sleep(1).then(() => "and ") };
      } finally {
        resolve();
      }
    }
    const a = agent({ name: "a", model: endless });
    for await (const event of a.stream("go")) if (event.type === "text-delta") break;
    await left;
    expect(written).toBeLessThan(10);
  });

  it("tells the end before it throws, and every start has its end, when the world fails [L6]", async () => {
    const a = agent({
      name: "a",
      model: scripted([calls("t"), new Error("provider is down")]),
      tools: [fakeTool("t", 1)],
    });
    const events: AgentEvent[] = [];
    const failure = await (async () => {
      for await (const event of a.stream("go")) events.push(event);
    })().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "provider-failed" });
    expect(events.at(-1)).toMatchObject({
      type: "run-end",
      outcome: { type: "failed", code: "provider-failed" },
    });
    for (const kind of ["turn", "tool", "run"]) {
      const count = (what: string): number =>
        events.filter((event) => event.type === `${kind}-${what}`).length;
      expect(count("start"), kind).toBe(count("end"));
    }
  });
});

describe("policy", () => {
  it("asks a person, and takes silence and failure for no", async () => {
    const run = async (options?: RunOptions): Promise<unknown> => {
      const write = fakeTool("write", "written");
      const a = agent({
        name: "a",
        model: scripted([calls("write"), "done"]),
        tools: [write],
        policy: (call) => ({
          verdict: call.tool === "write" ? "ask" : "allow",
          rule: "writes",
          reason: "it writes",
        }),
      });
      return (await a.run("go", options)).transcript.messages.at(-2);
    };
    expect(await run({ approve: () => true })).toMatchObject({ status: "ok" });
    expect(await run({ approve: () => ({ approved: false, reason: "not today" }) })).toMatchObject({
      status: "denied",
      text: "Tool 'write' was denied: not today",
    });
    expect(await run()).toMatchObject({ status: "denied", text: expect.stringContaining("nobody to ask") });
    expect(await run({ approve: () => Promise.reject(new Error("no terminal")) })).toMatchObject({
      status: "denied",
      text: expect.stringContaining("no terminal"),
    });
  });

  it("denies with the rule that decided, and what would have allowed it", async () => {
    const a = agent({
      name: "a",
      model: scripted([calls("write"), "done"]),
      tools: [fakeTool("write", "written")],
      policy: () => ({ verdict: "deny", rule: "no-writes", reason: "writing is off", remedy: "turn it on" }),
    });
    const events = await eventsOf(a.stream("go"));
    expect(events.find((event) => event.type === "call-decided")).toMatchObject({
      decision: { verdict: "deny", rule: "no-writes", remedy: "turn it on" },
    });
    expect(events.some((event) => event.type === "tool-start")).toBe(false);
  });
});

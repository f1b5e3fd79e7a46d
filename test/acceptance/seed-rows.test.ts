import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { ollama } from "../../src/adapters/model/ollama.ts";
import { agent, type Message, type Model, skill, tool } from "../../src/index.ts";
import type { ModelRequest } from "../../src/models.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import type { JsonObject } from "../../src/util/json.ts";
import { add, multiply } from "./calculator.ts";

const call = (name: string, args: JsonObject = {}): { name: string; arguments: JsonObject } => ({
  name,
  arguments: args,
});

/** What the model was told of the calls of its last reply. */
function resultsIn(request: ModelRequest | undefined): readonly Message[] {
  const messages = request?.messages ?? [];
  return messages.slice(messages.findLastIndex((message) => message.role === "assistant") + 1);
}

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe("agent and model", () => {
  it("is a function from typed input to typed output, with all it needs in one definition [A1.1, A1.2, A1.3]", async () => {
    const model = scripted([{ calls: [call("add", { a: 3, b: 5 })] }, '{"sum": 8}']);
    const asked: string[] = [];
    const summing = agent({
      name: "summing",
      instructions: "Add what you are given.",
      model,
      skills: [skill({ name: "sum", description: "Adds", tools: [add] })],
      budget: { turns: 2 },
      hooks: [{ beforeToolCall: ({ tool: name }) => void asked.push(name) }],
      input: z.object({ numbers: z.array(z.number()) }),
      output: z.object({ sum: z.number() }),
    });
    expect(await summing({ numbers: [3, 5] })).toEqual({ sum: 8 });
    expect([summing.name, asked]).toEqual(["summing", ["add"]]);
    expect(JSON.stringify(model.requests[0]?.messages[0])).toContain("Add what you are given.");
    await expect(summing({ numbers: ["x"] as never })).rejects.toMatchObject({ code: "input-invalid" });
  });

  it("case 6: model settings are plain data with the usual defaults, and a stand-in makes the name irrelevant [A2.2, A2.3, A5.1]", async () => {
    vi.stubEnv("OLLAMA_HOST", undefined);
    const asked: { url: string; body: JsonObject }[] = [];
    const pretend: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      asked.push({ url: request.url, body: (await request.json()) as JsonObject });
      return Response.json({
        message: { role: "assistant", content: "hi" },
        done: true,
        done_reason: "stop",
      });
    };
    const define = (model: Model): ReturnType<typeof agent> => agent({ name: "a", model });
    await define(ollama("qwen2.5:7b", { fetch: pretend }))("hello");
    await define(ollama("qwen2.5:7b", { host: "gpu", port: 1234, temperature: 0.1, fetch: pretend }))(
      "hello",
    );
    expect(asked).toMatchObject([
      {
        url: "http://localhost:11434/api/chat",
        body: { model: "qwen2.5:7b", options: { temperature: 0.7 } },
      },
      { url: "http://gpu:1234/api/chat", body: { model: "qwen2.5:7b", options: { temperature: 0.1 } } },
    ]);
    const named = agent({ name: "a", model: "ollama/no-such-model" });
    expect(named.modelId).toBe("ollama/no-such-model");
    expect(await named.with({ model: () => "42" })("question")).toBe("42");
  });

  it("lets a decorator around any model see every request and reply [H18]", async () => {
    const seen: string[] = [];
    const noting = (inner: Model): Model => ({
      ...inner,
      async *stream(request, options) {
        seen.push(`${request.messages.length} messages`);
        for await (const delta of inner.stream(request, options)) {
          if (delta.type === "text-delta") seen.push(delta.text);
          if (delta.type === "call-start") seen.push(`call ${delta.name}`);
          yield delta;
        }
      },
    });
    const model = noting(scripted([{ calls: [call("add", { a: 1, b: 2 })] }, "3"]));
    expect(await agent({ name: "a", model, tools: [add] })("1 + 2")).toBe("3");
    expect(seen).toEqual(["1 messages", "call add", "3 messages", "3"]);
  });
});

describe("tools", () => {
  it("needs no types: a name, a description and a function of what the model sent [T1.1, T1.2]", async () => {
    const sum = tool({
      name: "add",
      description: "Add two numbers",
      inputSchema: { type: "object" },
      execute: (args) => {
        const { a, b } = args as { a: number; b: number };
        return a + b;
      },
    });
    const model = scripted([{ calls: [call("add", { a: 1, b: 2, note: "unasked" })] }, "3"]);
    await agent({ name: "a", model, tools: [sum] }).run("1 + 2");
    expect(model.requests[0]?.tools).toMatchObject([{ name: "add", description: "Add two numbers" }]);
    expect(resultsIn(model.requests[1])).toMatchObject([{ status: "ok", value: 3 }]);
  });

  it("takes a number that comes as text, fills a missing default, and refuses a missing key by its name [T6, T2.1, T2.2]", async () => {
    const seen: unknown[] = [];
    const search = tool({
      name: "search",
      description: "Search the web",
      inputSchema: z.object({
        query: z.string(),
        maxResults: z.number().default(10),
        weight: z.number().optional(),
      }),
      execute: (args) => seen.push(args),
    });
    const model = scripted([
      { calls: [call("search", { query: "x", maxResults: "5", weight: 3 }), call("search", { query: "y" })] },
      { calls: [call("search", { maxResults: 5 })] },
      "done",
    ]);
    await agent({ name: "a", model, tools: [search] }).run("go");
    expect(seen).toEqual([
      { query: "x", maxResults: 5, weight: 3 },
      { query: "y", maxResults: 10 },
    ]);
    expect(resultsIn(model.requests[2])).toMatchObject([
      { status: "invalid", text: expect.stringContaining("query") },
    ]);
  });

  it("are listed by skills as handles; a name is looked up at once, and a wrong one fails [T3.1]", async () => {
    const compute = skill({ name: "compute", description: "Works out sums", tools: [add, [multiply]] });
    const model = scripted([{ calls: [call("multiply", { a: 8, b: 2 })] }, "16"]);
    const calculator = agent({ name: "a", model, skills: [compute] });
    expect(calculator.skills).toEqual([{ name: "compute", type: "agentic", tools: ["add", "multiply"] }]);
    await calculator.run("8 * 2");
    expect(resultsIn(model.requests[1])).toMatchObject([{ status: "ok", value: 16 }]);
    const named = (name: string): (() => unknown) => {
      const skills = [skill({ name: "compute", description: "", tools: [name] })];
      return () => agent({ name: "a", model, tools: [add], skills }).skills;
    };
    expect(named("add")()).toMatchObject([{ tools: ["add"] }]);
    expect(named("ad")).toThrow(expect.objectContaining({ code: "tool-unknown" }));
  });

  it("shows schemas as they are meant: open without types, closed with them; a variant must be what it says [T5]", async () => {
    const move = tool({
      name: "move",
      description: "",
      inputSchema: z.object({
        to: z.discriminatedUnion("type", [
          z.object({ type: z.literal("room"), name: z.string() }),
          z.object({ type: z.literal("point"), x: z.number() }),
        ]),
      }),
      execute: () => "moved",
    });
    const model = scripted([
      {
        calls: [
          call("move", { to: { type: "point", x: 1 } }),
          call("move", { to: { type: "point", name: "hall" } }),
          call("free", { anything: [1] }),
        ],
      },
      "done",
    ]);
    const free = fakeTool("free", "ok");
    await agent({ name: "a", model, tools: [move, free] }).run("go");
    expect(model.requests[0]?.tools.map(({ inputSchema }) => inputSchema["additionalProperties"])).toEqual([
      false,
      true,
    ]);
    expect(resultsIn(model.requests[1])).toMatchObject([
      { status: "ok" },
      { status: "invalid" },
      { status: "ok" },
    ]);
    expect(free.calls).toEqual([{ anything: [1] }]);
    const untyped = { name: "untyped", description: "", inputSchema: { city: z.string() } as never };
    expect(() => tool({ ...untyped, execute: () => 1 })).toThrow(
      expect.objectContaining({ code: "schema-invalid", message: expect.stringContaining('"untyped"') }),
    );
  });

  it("have checked names; a model is named with its provider [H9.1]", () => {
    for (const name of ["", "two words", "ü", "1st", "x".repeat(65), "a:b", "/b"]) {
      const invalid = expect.objectContaining({ code: "name-invalid" }) as Error;
      expect(() => fakeTool(name, 1), name).toThrow(invalid);
      expect(() => skill({ name, description: "", tools: [] }), name).toThrow(invalid);
      expect(() => agent({ name, model: () => "" }), name).toThrow(invalid);
    }
    expect(fakeTool("server/tool", 1).name).toBe("server/tool"); // as MCP has it
    expect(() => skill({ name: "a/b", description: "", tools: [] })).toThrow(
      expect.objectContaining({ code: "name-invalid" }),
    );
    expect(() => agent({ name: "a", model: "gpt-4" as never })).toThrow(
      expect.objectContaining({ code: "model-name-invalid" }),
    );
  });
});

describe("skills and the loop", () => {
  it("is agentic as soon as tools are listed, none of them too; otherwise a function, and no model is asked [K1.1, K1.2]", async () => {
    const model = scripted(["written by the model"]);
    const skills = [
      skill({ name: "write", description: "Writes", tools: [] }),
      skill({ name: "upper", description: "Upper case", execute: (text) => String(text).toUpperCase() }),
    ];
    const both = agent({ name: "a", model, skills });
    expect((await both.run("x", { skill: "upper" })).text).toBe("X");
    expect(model.requests).toHaveLength(0);
    expect((await both.run("x", { skill: "write" })).text).toBe("written by the model");
    expect(model.requests).toMatchObject([{ tools: [] }]);
    expect(both.skills.map(({ type }) => type)).toEqual(["agentic", "plain"]);
  });

  it("ends after 8 turns when nothing else is said, before the ninth model call [B1.1, B-turns.1, B-turns.2]", async () => {
    const model = scripted([({ messages }) => ({ calls: [call("count", { n: messages.length })] })]);
    const count = fakeTool("count", (args: unknown) => args);
    const result = await agent({ name: "endless", model, tools: [count] }).run("go");
    expect(result.outcome).toMatchObject({ type: "exhausted", field: "turns", limit: 8 });
    expect([model.requests.length, count.calls.length]).toEqual([8, 8]);
    await expect(agent({ name: "endless", model, tools: [count] })("go")).rejects.toMatchObject({
      code: "budget-exhausted",
      message: "Agent 'endless' exceeded budget of 8 turns",
    });
  });

  it("runs 32 calls when nothing else is said, and none after them in the same reply [B-toolCalls]", async () => {
    const count = fakeTool("count", (args: unknown) => args);
    const calls = Array.from({ length: 34 }, (_, n) => call("count", { n }));
    const result = await agent({ name: "a", model: scripted([{ calls }]), tools: [count] }).run("go");
    expect(result.outcome).toMatchObject({ type: "exhausted", field: "toolCalls", limit: 32 });
    expect(count.calls).toHaveLength(32);
  });

  it("ends after five minutes when nothing else is said [B-duration]", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    let ended = false;
    const waiting = agent({ name: "a", model: () => new Promise<string>(() => undefined) }).run("go");
    void waiting.then(() => (ended = true));
    await vi.advanceTimersByTimeAsync(299_999);
    expect(ended).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await waiting).toMatchObject({
      outcome: { type: "exhausted", field: "durationMs", limit: 300_000 },
    });
  });

  it("asks again after a reply that is empty, blank or only reasoning, and gives up when three more were no better [L4]", async () => {
    const thought = [
      { type: "reasoning-delta", text: "Hm." },
      { type: "end", finishReason: "stop" },
    ] as const;
    const model = scripted([" \n", thought, "Here."]);
    const patient = agent({ name: "a", model });
    expect(await patient("go")).toBe("Here.");
    expect(JSON.stringify(resultsIn(model.requests[1]))).toContain("empty");
    const silent = await patient.with({ model: scripted([""]) }).run("go");
    expect(silent).toMatchObject({ turns: 4, outcome: { type: "failed", code: "protocol-violated" } });
  });

  it("tells each finished call with name, arguments and result, in the order of the calls [O1.1]", async () => {
    let finished = 0;
    const double = fakeTool("double", async ({ n }: { n: number }) => {
      await new Promise((resolve) => setTimeout(resolve, 10 / n));
      finished += 1;
      return 2 * n;
    });
    const model = scripted([{ calls: [call("double", { n: 1 }), call("double", { n: 2 })] }, "done"]);
    const given = new Map<string, unknown>();
    const told: unknown[] = [];
    for await (const event of agent({ name: "a", model, tools: [double] }).stream("go")) {
      if (event.type === "tool-start") given.set(event.callId, event.arguments);
      if (event.type !== "tool-end") continue;
      expect(finished).toBeGreaterThan(told.length);
      told.push([event.name, given.get(event.callId), event.result.value]);
    }
    expect(told).toEqual([
      ["double", { n: 1 }, 2],
      ["double", { n: 2 }, 4],
    ]);
  });
});

describe("testing without a model", () => {
  it("a function that always answers stands in for the model [A2.3, TEST-mock.1]", async () => {
    const reached = vi.spyOn(globalThis, "fetch").mockRejectedValue(new Error("no server is here"));
    const lookup = fakeTool("lookup", "data");
    const asked: ModelRequest[] = [];
    const real = agent({
      name: "test-agent",
      model: "ollama/unused",
      skills: [skill({ name: "answer", description: "Give an answer", tools: [lookup] })],
      retry: false,
    });
    const mocked = real.with({
      model: (request) => {
        asked.push(request);
        return "42";
      },
    });
    expect(await mocked("question")).toBe("42");
    expect(asked.map(({ tools }) => tools.map(({ name }) => name))).toEqual([["lookup"]]);
    expect([lookup.calls, reached.mock.calls]).toEqual([[], []]);
    await expect(real("question")).rejects.toMatchObject({ code: "provider-failed" });
    expect(reached).toHaveBeenCalled(); // the stand-in was what kept it from being asked
  });

  it("a counter plays several steps [TEST-multi-step.1]", async () => {
    let count = 0;
    const lookup = fakeTool("lookup", "data");
    const model = (): string | { calls: { name: string; arguments: JsonObject }[] } => {
      count += 1;
      return count === 1 ? { calls: [call("lookup", { query: "test" })] } : "Final answer based on lookup";
    };
    expect(await agent({ name: "a", model, tools: [lookup] })("question")).toBe(
      "Final answer based on lookup",
    );
    expect([count, lookup.calls]).toEqual([2, [{ query: "test" }]]);
  });

  it("what the model was sent can be captured [TEST-captured.1]", async () => {
    const captured: ModelRequest[] = [];
    const model = (request: ModelRequest): string => {
      captured.push(request);
      return "done";
    };
    await agent({ name: "a", instructions: "Look first.", model, tools: [fakeTool("lookup", "data")] })(
      "input",
    );
    expect(captured).toHaveLength(1);
    expect(captured[0]?.tools).toMatchObject([{ name: "lookup" }]);
    expect(captured[0]?.messages[0]).toMatchObject({
      role: "system",
      text: expect.stringContaining("Look first."),
    });
    expect(captured[0]?.messages[1]).toEqual({ role: "user", parts: [{ type: "text", text: "input" }] });
  });

  it("a script keeps its requests, says what is left, and fails when asked too often; tools keep their calls [C21, TEST-scripted]", async () => {
    const model = scripted([{ calls: [call("lookup", { q: "x" })] }, "done"], { whenDone: "throw" });
    const lookup = fakeTool("lookup", ({ q }: { q: string }) => `about ${q}`);
    const asking = agent({
      name: "a",
      model,
      tools: [lookup, fakeTool("fixed", { n: 1 })],
      markResults: false,
    });
    expect(model.remaining()).toBe(2);
    expect(await asking("go")).toBe("done");
    expect([model.remaining(), model.requests.length]).toEqual([0, 2]);
    expect(lookup.calls).toEqual([{ q: "x" }]);
    expect(resultsIn(model.requests[1])).toMatchObject([{ text: "about x" }]);
    await expect(asking("again")).rejects.toMatchObject({
      cause: { message: "the script has 2 steps and was asked once more" },
    });
  });
});

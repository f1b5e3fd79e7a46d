import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Delta } from "../../src/models.ts";
import { WritError } from "../../src/error/writ-error.ts";
import { agent, type AgentEvent, knowledge, llm, skill, tool } from "../../src/index.ts";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { telemetry } from "../../src/otel.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { until } from "../server/scene.ts";
import { attributesOf, inSpan, register, sums, told, tree } from "./collect.ts";

beforeAll(register);
beforeEach(async () => {
  told();
  await sums();
});

const free = () => ({ verdict: "allow" as const, rule: "free", reason: "the word is xyzzy" });
const asks = () => ({ verdict: "ask" as const, rule: "money", reason: "money leaves" });
const pays = () =>
  scripted([{ text: "I pay", calls: [{ name: "pay", arguments: { to: "xyzzy" } }] }, "Paid xyzzy."]);

describe("telemetry", () => {
  it("says whose the tokens are with which a skill was chosen", async () => {
    const skills = ["one", "two"].map((name) => skill({ name, description: "", execute: () => name }));
    const model = scripted([JSON.stringify({ skillName: "two", confidence: 1 })]);
    await agent({ name: "chooser", model, skills, onEvent: telemetry() }).run("go");
    const points = await attributesOf("gen_ai.client.token.usage");
    expect(points).toHaveLength(2);
    for (const each of points)
      expect(each).toMatchObject({ "gen_ai.agent.name": "chooser", "gen_ai.operation.name": "chat" });
  });

  it("measures the tokens of a tool's own questions to the model, and their price", async () => {
    const usage = { inputTokens: 100, outputTokens: 7 };
    const asking = tool({
      name: "ask",
      description: "",
      effect: "none",
      inputSchema: { type: "object" },
      needs: [llm],
      execute: (_input, context) => context.llm("Whom?"),
    });
    const model = scripted([
      { calls: [{ name: "ask" }], usage },
      { text: "Kim", usage: { inputTokens: 30, outputTokens: 2 } },
      { text: "Done.", usage },
    ]);
    const events: AgentEvent[] = [];
    const budget = { price: () => 0.5 };
    const own = { model, tools: [asking], grants: [llm], budget };
    const clerk = agent({ name: "clerk", ...own, onEvent: telemetry() });
    const ended = await clerk.run("go", { onEvent: (event) => void events.push(event) });
    expect(ended.usage).toEqual({ inputTokens: 230, outputTokens: 16 });
    const end = events.find(({ type }) => type === "tool-end");
    expect(end).toMatchObject({ usage: { inputTokens: 30, outputTokens: 2 }, costUsd: 0.5 });
    expect(await sums()).toMatchObject({ "writ.cost": 1.5, "gen_ai.client.token.usage": 6 });
  });

  it("names the provider of a request, and the model asked, as the conventions do, on spans and in what is measured", async () => {
    for (const [id, provider, model] of [
      ["openai/gpt-5-mini", "openai", "gpt-5-mini"],
      ["google/gemini-3-pro", "gcp.gemini", "gemini-3-pro"],
      ["mistral/mistral-large", "mistral_ai", "mistral-large"],
      ["openrouter/z-ai/glm-5", "openrouter", "z-ai/glm-5"],
      ["ollama/qwen2.5:7b", "ollama", "qwen2.5:7b"],
      ["xai.responses/grok-5", "x_ai", "grok-5"], // of the AI SDK
      ["google.vertex.chat/gemini-3-pro", "gcp.vertex_ai", "gemini-3-pro"],
      ["amazon-bedrock/nova", "aws.bedrock", "nova"],
      ["azure.responses/mine", "azure.ai.openai", "mine"],
      ["our/own", undefined, "our/own"],
    ] as const) {
      await agent({ name: "a", model: scripted(["Yes."], { id }), onEvent: telemetry() }).run("go");
      const named = { "gen_ai.request.model": model, ...(provider && { "gen_ai.provider.name": provider }) };
      const asked = told().find(({ name }) => name === `chat ${model}`)?.attributes ?? {};
      expect(asked).toMatchObject(named);
      expect("gen_ai.provider.name" in asked).toBe(provider !== undefined);
      const points = await attributesOf("gen_ai.client.token.usage");
      expect(points).toHaveLength(2);
      for (const each of points) expect(each).toMatchObject(named);
    }
  });

  it("tells of a run, its turns, requests and calls, with decisions, sources and tokens, and nothing of content [O4]", async () => {
    const payer = agent({
      name: "payer",
      model: pays(),
      tools: [fakeTool("pay", "xyzzy")],
      policy: free,
      budget: { price: () => 0.25 },
      onEvent: telemetry(),
    });
    await inSpan("request", () => payer.run("Pay xyzzy"));
    const spans = told();
    expect(tree(spans)).toEqual([
      "request",
      ["invoke_agent payer", ["turn", ["chat scripted", "execute_tool pay"], "turn", ["chat scripted"]]],
    ]);
    const of = (name: string) => spans.find((span) => span.name === name)?.attributes;
    expect(of("invoke_agent payer")).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "payer",
      "writ.outcome": "answered",
      "writ.turns": 2,
    });
    expect(of("execute_tool pay")).toMatchObject({
      "gen_ai.tool.name": "pay",
      "gen_ai.tool.type": "function",
      "writ.decision.verdict": "allow",
      "writ.decision.rule": "free",
      "writ.label.integrity": "untrusted",
      "writ.label.sources": ["tool/pay"],
      "writ.result.status": "ok",
    });
    expect(of("chat scripted")).toMatchObject({
      "gen_ai.request.model": "scripted",
      "gen_ai.response.finish_reasons": ["tool_calls"],
      "writ.cost.usd": 0.25,
    });
    expect(of("chat scripted")).not.toHaveProperty("gen_ai.provider.name"); // nobody knows that of a model of one's own
    expect(of("chat scripted")?.["gen_ai.usage.output_tokens"]).toBeGreaterThan(0);
    expect(JSON.stringify(spans.map(({ attributes, events }) => [attributes, events]))).not.toContain(
      "xyzzy",
    );
    expect(await sums()).toMatchObject({
      "gen_ai.invoke_agent.duration": 1,
      "gen_ai.client.operation.duration": 2,
      "gen_ai.client.token.usage": 4,
      "gen_ai.execute_tool.duration": 1,
      "writ.cost": 0.5,
      "writ.decisions": 1,
    });
  });

  it.each([{ content: "false" }, { contents: true }, null])("takes no options like %j", (options) => {
    expect(() => telemetry(options as never)).toThrow(
      expect.objectContaining({ code: "definition-invalid" }),
    );
  });

  it("puts content on spans where it is wanted", async () => {
    const onEvent = telemetry({ content: true });
    const tools = [fakeTool("pay", "xyzzy")];
    await agent({ name: "payer", model: pays(), tools, policy: free, onEvent }).run("Pay");
    const attributes = Object.assign(
      {},
      ...told()
        .toReversed()
        .map((span) => span.attributes),
    ) as Record<string, string>;
    expect(attributes["gen_ai.tool.call.arguments"]).toBe('{"to":"xyzzy"}');
    expect(attributes["gen_ai.tool.call.result"]).toBe("xyzzy");
    expect(attributes["writ.decision.reason"]).toContain("xyzzy");
    expect(JSON.parse(attributes["gen_ai.input.messages"] ?? "")).toEqual([
      { role: "user", parts: [{ type: "text", content: "Pay" }] },
    ]);
    expect(JSON.parse(attributes["gen_ai.output.messages"] ?? "")).toMatchObject([
      {
        role: "assistant",
        parts: [
          { type: "text", content: "I pay" },
          { type: "tool_call", name: "pay" },
        ],
      },
    ]);
  });

  it("hangs an agent inside on the call that began it, told once although both are listened to", async () => {
    const onEvent = telemetry();
    const clerk = agent({ name: "clerk", model: () => "Done.", onEvent });
    const boss = agent({
      name: "boss",
      model: scripted([{ calls: [{ name: "clerk", arguments: { input: "a" } }] }, "Good."]),
      tools: [clerk.asTool()],
      onEvent,
    });
    await boss.run("Go");
    expect(tree(told())).toEqual([
      "invoke_agent boss",
      [
        "turn",
        ["chat scripted", "execute_tool clerk", ["invoke_agent clerk", ["turn", ["chat function"]]]],
        "turn",
        ["chat scripted"],
      ],
    ]);
  });

  it("tells of knowledge as of other calls: the decision, and that it could not be read", async () => {
    const gone = knowledge({
      name: "prices",
      description: "Prices",
      load: () => Promise.reject(new Error("gone")),
    });
    await agent({
      name: "shop",
      model: scripted([{ calls: [{ name: "prices" }] }, "Sorry."]),
      tools: [gone],
      policy: free,
      onEvent: telemetry(),
    }).run("Go");
    expect(told().find(({ name }) => name === "execute_tool prices")).toMatchObject({
      status: { code: 2 },
      attributes: {
        "error.type": "error",
        "gen_ai.tool.type": "datastore",
        "gen_ai.tool.call.id": expect.any(String),
        "writ.decision.rule": "free",
        "writ.result.status": "error",
      },
    });
  });

  it("tells of refusals, failures and requests that are made again", async () => {
    let asked = 0;
    const onEvent = telemetry();
    const broken = tool({
      name: "broken",
      description: "",
      inputSchema: { type: "object" },
      effect: "read",
      execute: () => Promise.reject(new Error("xyzzy")),
    });
    const model = () => {
      asked += 1;
      if (asked === 1)
        throw new WritError(
          "provider-failed",
          { provider: "p", model: "m", reason: "busy" },
          { retryable: true },
        );
      return asked === 2
        ? {
            calls: [
              { name: "broken", arguments: {} },
              { name: "pay", arguments: {} },
            ],
          }
        : "Sorry.";
    };
    await agent({
      name: "a",
      model,
      tools: [broken, fakeTool("pay", "x")],
      policy: ({ tool: name }) => ({
        verdict: name === "pay" ? "deny" : "allow",
        rule: "no-pay",
        reason: "no",
      }),
      retry: { attempts: 2, firstDelayMs: 1 },
      onEvent,
    }).run("Go");
    const spans = told();
    const of = (name: string) => spans.find((span) => span.name === name);
    expect(of("turn")?.events.map(({ name, attributes }) => [name, attributes?.["attempt"]])).toEqual([
      ["writ.retry", 1],
    ]);
    expect(await sums()).toMatchObject({ "writ.retries": 1, "writ.decisions": 2 });
    expect(of("execute_tool broken")).toMatchObject({
      status: { code: 2 },
      attributes: { "error.type": "error" },
    });
    expect(of("execute_tool pay")).toMatchObject({
      status: { code: 0 },
      attributes: { "writ.decision.verdict": "deny", "writ.result.status": "denied" },
    });
    const failed = agent({
      name: "f",
      model: () => Promise.reject(new Error("gone")),
      retry: false,
      onEvent,
    });
    await failed.run("Go").catch(() => undefined);
    expect(told().find(({ name }) => name === "invoke_agent f")).toMatchObject({
      status: { code: 2 },
      attributes: { "writ.outcome": "failed", "error.type": expect.any(String) },
    });
  });
});

describe("telemetry of a request", () => {
  const chat = () => told().find(({ name }) => name.startsWith("chat"));

  it.each([
    [
      "provider-refused-key",
      new WritError("provider-refused-key", { provider: "p", model: "m", reason: "no", where: "w" }),
    ],
    ["provider-failed", new WritError("provider-failed", { provider: "p", model: "m", reason: "busy" })],
    ["provider-failed", new Error("gone")],
  ] as const)("without a reply has the type of its error: %s", async (code, error) => {
    const run = agent({ name: "f", model: () => Promise.reject(error), retry: false, onEvent: telemetry() });
    await run.run("Go").catch(() => undefined);
    const span = chat();
    expect(span).toMatchObject({ status: { code: 2 }, attributes: { "error.type": code } });
    expect(span?.attributes).not.toHaveProperty("gen_ai.response.finish_reasons");
    expect(await attributesOf("gen_ai.client.operation.duration")).toMatchObject([{ "error.type": code }]);
  });

  it.each([
    ["that failed", false],
    ["made again, that failed too", { attempts: 2, firstDelayMs: 50 }],
  ] as const)("%s has the time that it took, and the turn around it no less", async (_what, retry) => {
    const model = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      throw new WritError(
        "provider-failed",
        { provider: "p", model: "m", reason: "busy" },
        { retryable: true },
      );
    };
    await agent({ name: "f", model, retry, onEvent: telemetry() })
      .run("Go")
      .catch(() => undefined);
    const spans = told();
    const msOf = (name: string): number => {
      const [seconds = 0, nanoseconds = 0] = spans.find((span) => span.name === name)?.duration ?? [];
      return seconds * 1000 + nanoseconds / 1e6;
    };
    const asked = spans.find(({ name }) => name.startsWith("chat"))?.name ?? "";
    expect(msOf(asked)).toBeGreaterThanOrEqual(19);
    expect(msOf("turn")).toBeGreaterThanOrEqual(msOf(asked) + (retry === false ? 0 : 50));
  });

  it("that is cancelled says so", async () => {
    const model = () => new Promise<string>(() => undefined);
    const signal = AbortSignal.timeout(5);
    await agent({ name: "f", model, onEvent: telemetry() }).run("Go", { signal });
    expect(chat()).toMatchObject({ status: { code: 2 }, attributes: { "error.type": "cancelled" } });
  });

  it("has the provider's own word for the end of its reply, and messages that of the conventions", async () => {
    const ends = [
      { finishReason: "tool-calls", response: { finishReason: "tool_use" } },
      { finishReason: "stop", response: { finishReason: "end_turn" } },
    ] as const;
    let asked = 0;
    const model = async function* (): AsyncGenerator<Delta> {
      const end = ends[asked++] ?? ends[1];
      if (asked === 1) yield { type: "call-start", id: "1", name: "pay" };
      if (asked === 1) yield { type: "call-end", id: "1", arguments: {} };
      if (asked === 2) yield { type: "text-delta", text: "Paid." };
      yield { type: "end", ...end };
    };
    const tools = [fakeTool("pay", "paid")];
    await agent({ name: "f", model, tools, policy: free, onEvent: telemetry({ content: true }) }).run("Go");
    const chats = told().filter(({ name }) => name.startsWith("chat"));
    expect(chats.map(({ attributes }) => attributes["gen_ai.response.finish_reasons"])).toEqual([
      ["tool_use"],
      ["end_turn"],
    ]);
    expect(chats.map(({ attributes }) => attributes["gen_ai.output.messages"])).toEqual([
      expect.stringContaining('"finish_reason":"tool_call"'),
      expect.stringContaining('"finish_reason":"stop"'),
    ]);
  });
});

describe("telemetry of a run that waits", () => {
  it.each([
    { approved: true, status: "ok" },
    { approved: false, status: "denied" },
  ])(
    "tells of nothing twice, links to what was before, and says who answered: $approved",
    async ({ approved, status }) => {
      const payer = agent({
        name: "payer",
        model: ({ messages }) =>
          messages.some(({ role }) => role === "tool")
            ? "Done."
            : { calls: [{ name: "pay", arguments: { to: "Ada" } }] },
        tools: [fakeTool("pay", "paid")],
        policy: asks,
      });
      const store = memoryRuns();
      const runs = durableRuns({ store, agents: [payer], onEvent: telemetry() });
      const worker = runs.work();
      await runs.start(payer, "Pay Ada", { id: "r" });
      const question = await until(
        async () => (await runs.show("r"))?.status === "waiting" && (await runs.waiting())[0],
      );
      const before = told();
      expect(tree(before)).toEqual([
        "invoke_agent payer",
        ["turn", ["chat function", "approval pay"]], // the call has not begun
      ]);
      const { key, request } = question;
      await runs.answer("r", key, { approved, hash: request.hash, by: "kim" });
      await runs.result("r");
      await worker.drain();
      const after = told();
      expect(tree(after)).toEqual([
        "invoke_agent payer",
        // A refusal that came meanwhile is told with what followed it.
        approved
          ? ["turn", ["execute_tool pay"], "turn", ["chat function"]]
          : ["turn", ["execute_tool pay", "chat function"]],
      ]);
      const first = before.find(({ name }) => name === "invoke_agent payer");
      const second = after.find(({ name }) => name === "invoke_agent payer");
      expect(second?.links.map(({ context }) => context.spanId)).toEqual([first?.spanContext().spanId]);
      expect([first, second].map((span) => span?.attributes["writ.outcome"])).toEqual([
        "suspended",
        "answered",
      ]);
      expect(after.find(({ name }) => name === "execute_tool pay")?.attributes).toMatchObject({
        "writ.result.status": status,
        "writ.decision.rule": "money",
        "writ.approval.approved": approved,
        "writ.approval.by": "kim",
      });
      expect(await sums()).toMatchObject({ "gen_ai.client.operation.duration": 2 });
    },
  );

  it("hangs an agent inside that waited on the call that began it, where it goes on too", async () => {
    const payer = agent({
      name: "payer",
      model: scripted([{ calls: [{ name: "pay", arguments: {} }] }, "Paid."]),
      tools: [fakeTool("pay", "paid")],
      policy: asks,
    });
    const model = scripted([{ calls: [{ name: "payer", arguments: { input: "Pay" } }] }, "Good."]);
    const boss = agent({ name: "boss", model, tools: [payer.asTool()] });
    const store = memoryRuns();
    const runs = durableRuns({ store, agents: [boss], onEvent: telemetry() });
    const worker = runs.work();
    await runs.start(boss, "Go", { id: "r" });
    const { key, request } = await until(
      async () => (await runs.show("r"))?.status === "waiting" && (await runs.waiting())[0],
    );
    told();
    await runs.answer("r", key, { approved: true, hash: request.hash });
    await runs.result("r");
    await worker.drain();
    const after = told();
    const turns = after.filter(({ name }) => name === "turn");
    expect(turns.map(({ attributes }) => attributes["writ.turn"])).toEqual([1, 2, 1, 2]);
    expect(tree(after)).toEqual([
      "invoke_agent boss",
      [
        "turn",
        [
          "execute_tool payer",
          ["invoke_agent payer", ["turn", ["execute_tool pay"], "turn", ["chat scripted"]]],
        ],
        "turn",
        ["chat scripted"],
      ],
    ]);
  });
});

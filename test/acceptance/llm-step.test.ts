import { afterEach, describe, expect, it, vi } from "vitest";
import { chooseModel, lookAround } from "../../src/adapters/find-model.ts";
import { decide, llmStatus, llmStep } from "../../src/adapters/lower-doors.ts";
import { userMessage } from "../../src/message/message.ts";
import type { Model } from "../../src/model/model.ts";
import { scripted } from "../../src/model/scripted.ts";
import { startOllama } from "../contract/ollama-server.ts";

const catalog = [{ name: "get_weather", describe: "Weather for a city", params: ["city"] }];
const withoutTools = { features: { tools: false } };

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("one step of a model", () => {
  const usage = { inputTokens: 20, outputTokens: 5 };

  it("decides for a tool or for the end, over a catalogue of plain data [Y1.1]", async () => {
    const model = scripted([
      { calls: [{ name: "get_weather", arguments: { city: "Lima" } }], usage },
      { text: "Sunny in Lima.", usage },
    ]);
    const request = { model, prompt: "Weather in Lima?", catalog };
    expect(await llmStep({ ...request, context: "" })).toEqual({
      kind: "tool",
      name: "get_weather",
      args: { city: "Lima" },
      tokens: 25,
    });
    const context = " [get_weather => weather in Lima: sunny]";
    expect(await llmStep({ ...request, context })).toEqual({
      kind: "final",
      text: "Sunny in Lima.",
      tokens: 25,
    });
    const [first, second] = model.requests;
    expect(first?.tools).toMatchObject([
      { name: "get_weather", description: "Weather for a city", inputSchema: { properties: { city: {} } } },
    ]);
    expect(first?.messages.at(-1)).toEqual(userMessage("Weather in Lima?"));
    expect(second?.messages[0]).toEqual(first?.messages[0]);
    const sent = JSON.stringify(second?.messages.at(-1));
    expect(sent).toContain("Weather in Lima?");
    expect(sent).toContain("[get_weather => weather in Lima: sunny]");
  });

  it("decides alike with a model that has no native calls, known before or found out [Y1.3]", async () => {
    const action = '{"thought": "look", "action": {"tool": "get_weather", "args": {"city": "Lima"}}}';
    const final = '{"final": {"content": "Sunny."}}';
    const decisions = [
      { kind: "tool", name: "get_weather", args: { city: "Lima" } },
      { kind: "final", text: "Sunny." },
    ];
    const known = scripted([action, final], withoutTools);
    expect(await llmStep({ model: known, prompt: "?", catalog })).toMatchObject(decisions[0] as object);
    expect(await llmStep({ model: known, prompt: "?", catalog })).toMatchObject(decisions[1] as object);
    expect(known.requests.every(({ tools }) => tools.length === 0)).toBe(true);
    expect(JSON.stringify(known.requests[0]?.messages[0])).toContain("get_weather");

    const server = await startOllama({
      script: [
        { type: "failure", failure: "no-tools" },
        { type: "reply", parts: [{ type: "text", pieces: [action] }] },
        { type: "reply", parts: [{ type: "text", pieces: [final] }] },
      ],
      installed: [{ name: "m", capabilities: ["completion"] }],
    });
    vi.stubEnv("OLLAMA_HOST", server.url);
    try {
      expect(await llmStep({ model: "ollama/m", prompt: "?", catalog })).toMatchObject(
        decisions[0] as object,
      );
    } finally {
      await server.close();
    }
  });

  it("makes one decision of a reply with several calls, and counts tokens where nobody did [Y1.2]", async () => {
    const calls = ["Lima", "Paris"].map((city) => ({ name: "get_weather", arguments: { city } }));
    const step = await llmStep({ model: scripted([{ text: "Both.", calls }]), prompt: "?", catalog });
    expect(step).toMatchObject({ kind: "tool", args: { city: "Lima" } });
    expect(step.tokens).toBeGreaterThan(10);
  });

  it("gives a name that is not in the catalogue to the program, which decides", async () => {
    const model = scripted([{ calls: [{ name: "delete_database" }] }]);
    expect(await llmStep({ model, prompt: "?", catalog })).toMatchObject({
      kind: "tool",
      name: "delete_database",
      args: {},
    });
  });

  it("asks again when a reply decides nothing, adds up the tokens, and gives up after three", async () => {
    const unread = { calls: [{ id: "c", name: "get_weather", arguments: '{"city": ' }], usage };
    const listed = { calls: [{ id: "c", name: "get_weather", arguments: ["Lima"] }], usage };
    const model = scripted([unread, listed, { text: "Sunny.", usage }]);
    expect(await llmStep({ model, prompt: "?", catalog })).toEqual({
      kind: "final",
      text: "Sunny.",
      tokens: 75,
    });
    expect(JSON.stringify(model.requests[1]?.messages)).toContain("cannot be read");
    expect(JSON.stringify(model.requests[2]?.messages)).toContain("must be an object");
    const prose = scripted(["It may rain."], withoutTools);
    await expect(llmStep({ model: prose, prompt: "?", catalog })).rejects.toMatchObject({
      code: "protocol-violated",
      data: { driver: "json", count: 3 },
    });
    expect(prose.requests).toHaveLength(3);
    const filtered = scripted([{ text: "", finishReason: "content-filter" }]);
    await expect(llmStep({ model: filtered, prompt: "?", catalog })).rejects.toMatchObject({
      code: "run-refused",
    });
  });

  it("with an empty catalogue is the answer, even of a model that wants to call [Y23]", async () => {
    const greedy = { text: "One moment.", calls: [{ name: "get_weather", arguments: { city: "Lima" } }] };
    const persuaded = scripted([greedy, "Sunny."]);
    expect(await llmStep({ model: persuaded, prompt: "?", catalog: [] })).toMatchObject({
      kind: "final",
      text: "Sunny.",
    });
    expect(persuaded.requests.map(({ tools, toolChoice }) => [tools, toolChoice])).toEqual([
      [[], "none"],
      [[], "none"],
    ]);
    const stubborn = scripted([greedy]);
    expect(await llmStep({ model: stubborn, prompt: "?", catalog: [] })).toMatchObject({
      kind: "final",
      text: "One moment.",
    });
    const silent = scripted([{ calls: greedy.calls }]);
    await expect(llmStep({ model: silent, prompt: "?", catalog: [] })).rejects.toMatchObject({
      code: "protocol-violated",
    });
    const prose = scripted(["It is sunny."], withoutTools);
    expect(await llmStep({ model: prose, prompt: "?", catalog: [] })).toMatchObject({
      kind: "final",
      text: "It is sunny.",
    });
    const action = '{"action": {"tool": "get_weather", "args": {}}}';
    const json = scripted([action, '{"final": {"content": "Sunny."}}'], withoutTools);
    expect(await llmStep({ model: json, prompt: "?", catalog: [] })).toMatchObject({
      kind: "final",
      text: "Sunny.",
    });
  });

  it("refuses a catalogue with names that cannot be called, or stand twice", async () => {
    const model = scripted([], { whenDone: "throw" });
    const entry = { name: "get weather", describe: "", params: [] };
    await expect(llmStep({ model, prompt: "?", catalog: [entry] })).rejects.toMatchObject({
      code: "name-invalid",
    });
    await expect(llmStep({ model, prompt: "?", catalog: [...catalog, ...catalog] })).rejects.toMatchObject({
      code: "name-taken",
    });
  });

  it("is stopped by its signal, with the signal's reason", async () => {
    const reason = new Error("enough");
    const hanging: Model = {
      ...scripted([]),
      async *stream() {
        yield { type: "text-delta", text: "…" };
        await new Promise(() => undefined);
      },
    };
    const stop = new AbortController();
    const step = llmStep({ model: hanging, prompt: "?", catalog, signal: stop.signal });
    setTimeout(() => stop.abort(reason), 5);
    await expect(step).rejects.toBe(reason);
    await expect(llmStep({ model: hanging, prompt: "?", catalog, signal: stop.signal })).rejects.toBe(reason);
  });
});

describe("which model", () => {
  it("no provider gives the fixed answer at no tokens [Y9.1]", async () => {
    vi.stubEnv("WRIT_MODEL", "");
    expect(await llmStep({ prompt: "Weather?", catalog, context: "" })).toEqual({
      kind: "final",
      text: "[no llm provider]",
      tokens: 0,
    });
    expect(llmStatus()).toEqual({ available: false, source: "none" });
  });

  it("the environment names the model and its host, the program neither; an argument comes first [Y16]", async () => {
    const server = await startOllama({
      script: [{ type: "reply", parts: [{ type: "text", pieces: ["From the environment."] }] }],
      installed: [{ name: "tiny" }],
    });
    vi.stubEnv("WRIT_MODEL", " ollama/tiny ");
    vi.stubEnv("OLLAMA_HOST", server.url);
    try {
      expect(llmStatus()).toEqual({ available: true, model: "ollama/tiny", source: "WRIT_MODEL" });
      const told = chooseModel(await lookAround()); // what `writ doctor` prints
      expect(told).toMatchObject({ name: "ollama/tiny", why: "WRIT_MODEL names it" });
      expect(await llmStep({ prompt: "?", catalog: [] })).toMatchObject({ text: "From the environment." });
      expect(server.bodies).toMatchObject([{ model: "tiny" }]);
      const given = scripted(["Given."]);
      expect(llmStatus({ model: given })).toEqual({ available: true, model: "scripted", source: "argument" });
      expect(await llmStep({ model: given, prompt: "?", catalog: [] })).toMatchObject({ text: "Given." });
      expect(server.bodies).toHaveLength(1);
    } finally {
      await server.close();
    }
    vi.stubEnv("WRIT_MODEL", "tiny");
    await expect(llmStep({ prompt: "?", catalog: [] })).rejects.toMatchObject({ code: "model-name-invalid" });
  });
});

describe("a decision between options", () => {
  const options = ["Deploy now!", "wait", "roll back"];

  it("gives one option byte for byte, however the model says it [Y18]", async () => {
    const said: (string | { calls: { name: string; arguments: { option: string } }[] })[] = [
      { calls: [{ name: "choose", arguments: { option: "wait" } }] },
      "Deploy now!",
      "  deploy now ",
      'I would say "Roll back."',
      '{"option": "WAIT"}',
    ];
    const chosen = await Promise.all(
      said.map(
        async (reply) => (await decide({ model: scripted([reply]), question: "What now?", options })).option,
      ),
    );
    expect(chosen).toEqual(["wait", "Deploy now!", "Deploy now!", "roll back", "wait"]);
    const forced = scripted(["wait"]);
    await decide({ model: forced, question: "What now?", context: "Tests pass.", options });
    expect(forced.requests[0]).toMatchObject({
      toolChoice: { tool: "choose" },
      tools: [{ inputSchema: { properties: { option: { enum: options } } } }],
    });
    const held = scripted(['{"option":"wait"}'], { features: { tools: false, format: "schema" } });
    await decide({ model: held, question: "What now?", options });
    expect(held.requests[0]).toMatchObject({ tools: [], format: { type: "schema" } });
  });

  it("asks once more with what was wrong, then gives no option and says why [Y18]", async () => {
    const usage = { inputTokens: 10, outputTokens: 2 };
    const mended = scripted([
      { text: "Perhaps wait, perhaps roll back.", usage },
      { text: "wait", usage },
    ]);
    expect(await decide({ model: mended, question: "?", options })).toEqual({ option: "wait", tokens: 24 });
    expect(JSON.stringify(mended.requests[1]?.messages.at(-1))).toContain("none of the options");
    const called = { calls: [{ name: "choose", arguments: { option: "panic" } }], usage };
    const never = scripted([called]);
    expect(await decide({ model: never, question: "?", options })).toEqual({
      option: undefined,
      tokens: 24,
      notice: 'the model chose nothing: "panic" is none of the options.',
    });
    expect(never.requests[1]?.messages.at(-1)).toMatchObject({ role: "tool", status: "invalid" });
    vi.stubEnv("WRIT_MODEL", "");
    expect(await decide({ question: "?", options })).toEqual({
      option: undefined,
      tokens: 0,
      notice: "[no llm provider]",
    });
    for (const wrong of [["only"], ["a", "a"], ["a", " "]])
      await expect(decide({ model: never, question: "?", options: wrong })).rejects.toMatchObject({
        code: "definition-invalid",
      });
  });
});

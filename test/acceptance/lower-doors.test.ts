import { describe, expect, it } from "vitest";
import { z } from "zod";
import { call, callTool, chatStream } from "../../src/adapters/lower-doors.ts";
import { aiSdk } from "../../src/adapters/model/ai-sdk.ts";
import { userMessage } from "../../src/message/message.ts";
import { chatWith } from "../../src/model/chat.ts";
import type { Model } from "../../src/model/model.ts";
import { scripted } from "../../src/model/scripted.ts";
import { fakeTool } from "../../src/tool/fake-tool.ts";
import { tool } from "../../src/tool/tool.ts";

const question = userMessage("What's the weather like in London?");

/** The tool of the second seed page as plain data: nothing here can be run. */
const weatherTool = {
  name: "get_weather",
  description: "Get current weather for a location",
  inputSchema: { type: "object", properties: { location: { type: "string" } }, required: ["location"] },
};

/** The tool of the fifth seed page. */
const getWeather = tool({
  name: "get_weather",
  description: "Weather for a city",
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => `weather in ${city}: sunny`,
});

describe("chat without a loop", () => {
  it("case 47: the weather of London in one round trip, the call carried out by the caller [H1.1, H2.1, H5.1, H7.1]", async () => {
    const model = scripted([
      { calls: [{ id: "call_123", name: "get_weather", arguments: { location: "London" } }] },
      "The weather in London is currently 18°C and partly cloudy.",
    ]);
    const first = await chatWith(model, { messages: question, tools: [weatherTool] });
    expect(first).toMatchObject({
      text: "",
      finishReason: "tool-calls",
      calls: [{ id: "call_123", name: "get_weather", arguments: { location: "London" } }],
    });
    expect(model.requests[0]?.tools).toEqual([weatherTool]);
    expect(model.requests).toHaveLength(1); // nobody went on by itself
    const result = {
      role: "tool" as const,
      callId: "call_123",
      name: "get_weather",
      status: "ok" as const,
      text: "London: 18°C, partly cloudy",
    };
    const history = [question, first.message, result];
    const final = await chatWith(model, { messages: history, tools: [weatherTool] });
    expect(final).toMatchObject({
      text: "The weather in London is currently 18°C and partly cloudy.",
      calls: [],
      finishReason: "stop",
    });
    expect(model.requests[1]?.messages).toEqual(history);
  });

  it("case 48: text and several calls of one reply stay together, and go back as they came [H4.1, H7.1]", async () => {
    const calls = ["Lima", "Paris"].map((city, index) => ({
      id: `c${index}`,
      name: "get_weather",
      arguments: { city },
    }));
    const model = scripted([{ text: "I look at both.", calls }, "Both are sunny."]);
    const tools = [getWeather];
    const reply = await chatWith(model, { messages: question, tools });
    expect(reply.message.parts.map(({ type }) => type)).toEqual(["text", "tool-call", "tool-call"]);
    const results = await Promise.all(reply.calls.map((each) => callTool(tools, each)));
    expect(results.map(({ callId, text }) => [callId, text])).toEqual([
      ["c0", "weather in Lima: sunny"],
      ["c1", "weather in Paris: sunny"],
    ]);
    await chatWith(model, { messages: [question, reply.message, ...results], tools });
    expect(model.requests[1]?.messages).toEqual([question, reply.message, ...results]);
  });

  it("checks the arguments of a call before its tool, and the result after it [H8.1, H8.3]", async () => {
    let ran = 0;
    const book = tool({
      name: "book",
      description: "Book seats",
      inputSchema: z.object({ seats: z.int().min(1) }),
      outputSchema: z.object({ reference: z.string() }),
      execute: ({ seats }) => {
        ran += 1;
        return { reference: seats > 9 ? (42 as unknown as string) : `R${seats}` };
      },
    });
    const model = scripted([
      {
        calls: [
          { name: "book", arguments: { seats: "two" } },
          { name: "book", arguments: {} },
          { name: "book", arguments: '{"seats": ' },
          { name: "book", arguments: { seats: 10 } },
          { name: "book", arguments: { seats: 2 } },
        ],
      },
    ]);
    const { calls } = await chatWith(model, { messages: "Book two seats.", tools: [book] });
    const results = await Promise.all(calls.map((each) => callTool([book], each)));
    expect(results.map(({ status }) => status)).toEqual(["invalid", "invalid", "invalid", "error", "ok"]);
    expect(results[0]?.text).toContain("seats");
    expect(results[3]?.text).toContain("does not match its output schema");
    expect(results[4]?.value).toEqual({ reference: "R2" });
    expect(ran).toBe(2);
  });

  it("case 50: nested collections list flat and route by name; an unknown name is told what there is [H14]", async () => {
    const one = fakeTool("one", 1);
    const two = fakeTool("two", 2);
    const three = fakeTool("three", 3);
    const tools = [one, [two, [three]]];
    const model = scripted([{ calls: ["three", "two", "four", "constructor"].map((name) => ({ name })) }]);
    const { calls } = await chatWith(model, { messages: "go", tools });
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["one", "two", "three"]);
    const results = await Promise.all(calls.map((each) => callTool(tools, each)));
    expect(results).toMatchObject([
      { name: "three", status: "ok", text: "3" },
      { name: "two", status: "ok", text: "2" },
      {
        name: "four",
        status: "denied",
        note: "not-found",
        text: "There is no tool 'four'. There are: [one, two, three]",
      },
      { name: "constructor", status: "denied", note: "not-found" },
    ]);
    expect([one, two, three].map((each) => each.calls.length)).toEqual([0, 1, 1]);
    expect(await callTool(tools, { name: "two" })).toMatchObject({
      role: "tool",
      callId: "call_0",
      text: "2",
    });
    await expect(callTool([one, [one]], { name: "one" })).rejects.toMatchObject({ code: "name-taken" });
  });

  it("names what went wrong with a provider by a code, whatever it answered [H11]", async () => {
    const failing = (thrown: unknown): Model =>
      aiSdk({
        specificationVersion: "v3",
        provider: "by.hand",
        modelId: "m",
        doStream: () => Promise.reject(thrown),
      });
    const http = (statusCode: number): Error =>
      Object.assign(new Error("the provider's words on the model"), {
        name: "AI_APICallError",
        statusCode,
        url: "https://x",
      });
    const refused = Object.assign(new Error("fetch failed"), {
      cause: Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }),
    });
    const codes = [http(401), http(404), http(429), http(503), refused].map(async (thrown) => {
      const error: unknown = await chatWith(failing(thrown), { messages: "x" }).catch(
        (each: unknown) => each,
      );
      const { code, retryable } = error as { code: string; retryable: boolean };
      return [code, retryable];
    });
    expect(await Promise.all(codes)).toEqual([
      ["provider-refused-key", false],
      ["model-not-found", false],
      ["model-rate-limited", true],
      ["provider-failed", true],
      ["provider-unreachable", true],
    ]);
  });

  it("sends text, images, sound, video and documents, by data or address [H13]", async () => {
    const asked: { prompt: unknown }[] = [];
    const model = aiSdk({
      specificationVersion: "v3",
      provider: "by.hand",
      modelId: "m",
      doGenerate: (options) => {
        asked.push(options as { prompt: unknown });
        const content = [{ type: "text", text: "Seen." }];
        return Promise.resolve({ content, finishReason: { unified: "stop" }, usage: {} });
      },
    });
    const file = (mediaType: string, data: string) => ({ type: "file" as const, mediaType, data });
    const parts = [
      { type: "text" as const, text: "Compare." },
      file("image/png", "aGk="),
      file("audio/wav", "aGk="),
      file("video/mp4", "https://example.com/a.mp4"),
      file("application/pdf", "https://example.com/a.pdf"),
    ];
    await chatWith(model, { messages: { role: "user", parts } });
    expect(asked[0]?.prompt).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "Compare." },
          { type: "file", mediaType: "image/png", data: "aGk=" },
          { type: "file", mediaType: "audio/wav", data: "aGk=" },
          { type: "file", mediaType: "video/mp4", data: new URL("https://example.com/a.mp4") },
          { type: "file", mediaType: "application/pdf", data: new URL("https://example.com/a.pdf") },
        ],
      },
    ]);
  });

  it("is extended by models around models [H18]", async () => {
    const log: string[] = [];
    const logging = (model: Model): Model => ({
      ...model,
      async *stream(request, options) {
        for await (const delta of model.stream(request, options)) {
          log.push(delta.type);
          yield delta;
        }
      },
    });
    const model = logging(scripted([{ text: "Wait.", calls: [{ name: "get_weather" }] }]));
    await chatWith(model, { messages: question, tools: [getWeather] });
    expect(log).toEqual(["text-delta", "call-start", "call-end", "end"]);
  });

  it("streams to a reader who can leave, and that ends the request [Y24]", async () => {
    let ended = false;
    const endless: Model = {
      ...scripted([]),
      async *stream() {
        try {
          for (;;) yield { type: "text-delta", text: "word " };
        } finally {
          ended = true;
        }
      },
    };
    let text = "";
    for await (const delta of chatStream({ model: endless, messages: "Go on." })) {
      if (delta.type === "text-delta") text += delta.text;
      if (text.length > 20) break;
    }
    expect(text).toBe("word word word word word ");
    expect(ended).toBe(true);
  });
});

describe("a tool is an ordinary function", () => {
  it("is called with named arguments from a map, and directly [Y2.1]", async () => {
    const args = JSON.parse('{"city": "Lima"}') as { city: string };
    const weather: string = await call(getWeather, args);
    expect(weather).toBe("weather in Lima: sunny");
    // @ts-expect-error it takes a city
    await expect(call(getWeather, { town: "Lima" })).rejects.toMatchObject({
      code: "input-invalid",
      message: expect.stringContaining("city"),
    });
    const direct = tool({
      name: "direct",
      description: "",
      inputSchema: z.object({ when: z.string().default("now") }),
      execute: ({ when }, { signal, callId, call: { name }, run }) => {
        if (when === "never") throw new RangeError("never");
        return { at: new Date(0), when, aborted: signal.aborted, callId, name, depth: run.depth };
      },
    });
    expect(await call(direct, {})).toEqual({
      at: new Date(0), // as the function gave it: nothing is made JSON of
      when: "now",
      aborted: false,
      callId: "call_0",
      name: "direct",
      depth: 0,
    });
    await expect(call(direct, { when: "never" })).rejects.toThrow(RangeError);
    const wrong = tool({
      name: "wrong",
      description: "",
      inputSchema: z.object({}),
      outputSchema: z.number(),
      // @ts-expect-error a text is no number
      execute: () => "three",
    });
    await expect(call(wrong, {})).rejects.toMatchObject({ code: "tool-failed" });
  });

  // What stands here could stand in the file of the tool: no agent, no model, no set-up.
  it("a tool is a normal function; call() invokes it with named args from a map [Y10.1]", async () => {
    expect(await getWeather.execute({ city: "Paris" }, undefined as never)).toBe("weather in Paris: sunny");
    expect(await call(getWeather, { city: "Lima" })).toBe("weather in Lima: sunny");
  });

  it("callTool gives every end of a call as a result", async () => {
    const slow = tool({
      name: "slow",
      description: "",
      inputSchema: z.object({}),
      execute: (_args, { signal }) =>
        new Promise<string>((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(new Error("gone"))),
        ),
    });
    const broken = fakeTool("broken", () => {
      throw new Error("no wind");
    });
    expect(await callTool(getWeather, { city: "Lima" })).toEqual({
      status: "ok",
      text: "weather in Lima: sunny",
      value: "weather in Lima: sunny",
    });
    expect(await callTool(getWeather, { city: 7 })).toMatchObject({
      status: "ok",
      text: "weather in 7: sunny",
    });
    expect(await callTool(getWeather, [])).toMatchObject({ status: "invalid" });
    expect(await callTool(broken, {})).toEqual({ status: "error", text: "Tool 'broken' failed: no wind" });
    expect(await callTool(slow, {}, { timeoutMs: 10 })).toEqual({
      status: "timeout",
      text: "Tool 'slow' timed out after 10 ms.",
    });
    const stop = new AbortController();
    const stopped = callTool(slow, {}, { signal: stop.signal });
    setTimeout(() => stop.abort(), 5);
    expect(await stopped).toMatchObject({ status: "cancelled" });
    expect(await callTool(slow, {}, { signal: AbortSignal.abort() })).toMatchObject({ status: "cancelled" });
    await expect(callTool(slow, {}, { timeoutMs: -1 })).rejects.toMatchObject({ code: "budget-invalid" });
  });
});

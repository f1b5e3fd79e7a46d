import Anthropic from "@anthropic-ai/sdk";
import { ApiError, GoogleGenAI } from "@google/genai";
import { Ollama } from "ollama";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { fakeAnthropic, fakeGemini, fakeOllama, fakeOpenai, type FakeStep } from "../../src/testing.ts";

/** A reply with thoughts, text and two calls, and an answer. */
const script: readonly FakeStep[] = [
  {
    reasoning: "Two sums are asked for.",
    text: "I add both.",
    calls: [
      { name: "add", arguments: { a: 1, b: "é\n" } },
      { name: "add", arguments: { a: 2 } },
    ],
    usage: { inputTokens: 11, outputTokens: 7 },
  },
  "It is three.",
];
const schema = { type: "object", properties: { a: { type: "number" } } };

describe.each([false, true])("the official clients, streamed: %s", (stream) => {
  it("openai, chat completions [H19]", async () => {
    await using server = await fakeOpenai(script);
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 });
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Add." }];
    const tools = [{ type: "function" as const, function: { name: "add", parameters: schema } }];
    const ask = async (): Promise<OpenAI.ChatCompletion> => {
      const about = { model: "gpt-5", messages, tools };
      if (!stream) return client.chat.completions.create(about);
      return client.chat.completions
        .stream({ ...about, stream_options: { include_usage: true } })
        .finalChatCompletion();
    };
    const { choices, usage } = await ask();
    const message = choices[0]?.message;
    expect(message).toMatchObject({ role: "assistant", content: "I add both." });
    expect(choices[0]?.finish_reason).toBe("tool_calls");
    expect(usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });
    const calls = (message?.tool_calls ?? []).flatMap((call) => (call.type === "function" ? [call] : []));
    expect(calls.map((call) => JSON.parse(call.function.arguments) as unknown)).toEqual([
      { a: 1, b: "é\n" },
      { a: 2 },
    ]);
    messages.push({
      role: "assistant",
      content: message?.content ?? null,
      tool_calls: calls.map(({ id, type, function: { name, arguments: args } }) => ({
        id,
        type,
        function: { name, arguments: args },
      })),
    });
    for (const { id } of calls) messages.push({ role: "tool", tool_call_id: id, content: "3" });
    expect((await ask()).choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: "It is three." },
    });
    server.assertComplete();
  });

  it("openai, responses [H19]", async () => {
    await using server = await fakeOpenai(script);
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 });
    const tools = [{ type: "function" as const, name: "add", parameters: schema, strict: false }];
    const ask = async (input: OpenAI.Responses.ResponseInput): Promise<OpenAI.Responses.Response> => {
      const about = {
        model: "gpt-5",
        input,
        tools,
        store: false,
        include: ["reasoning.encrypted_content" as const],
      };
      if (!stream) return client.responses.create(about);
      return client.responses.stream(about).finalResponse();
    };
    const question = { role: "user" as const, content: "Add." };
    const first = await ask([question]);
    expect(first).toMatchObject({
      status: "completed",
      output_text: "I add both.",
      usage: { input_tokens: 11, output_tokens: 7 },
    });
    expect(first.output.map(({ type }) => type)).toEqual([
      "reasoning",
      "message",
      "function_call",
      "function_call",
    ]);
    const calls = first.output.flatMap((item) => (item.type === "function_call" ? [item] : []));
    expect(calls.map((call) => JSON.parse(call.arguments) as unknown)).toEqual([
      { a: 1, b: "é\n" },
      { a: 2 },
    ]);
    const results = calls.map(({ call_id }) => ({
      type: "function_call_output" as const,
      call_id,
      output: "3",
    }));
    const said = first.output.map((item) => {
      const { parsed_arguments: _, ...rest } = item as unknown as { parsed_arguments?: unknown };
      return rest as unknown as OpenAI.Responses.ResponseInputItem;
    });
    const second = await ask([question, ...said, ...results]);
    expect(second.output_text).toBe("It is three.");
    server.assertComplete();
  });

  it("anthropic, messages with thinking [H19]", async () => {
    await using server = await fakeAnthropic(script);
    const client = new Anthropic({ baseURL: server.url, apiKey: "none", maxRetries: 0 });
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Add." }];
    const ask = async (): Promise<Anthropic.Message> => {
      const about = {
        model: "claude-sonnet-5",
        max_tokens: 4096,
        thinking: { type: "enabled" as const, budget_tokens: 1024 },
        messages,
        tools: [{ name: "add", input_schema: { type: "object" as const } }],
      };
      return stream ? client.messages.stream(about).finalMessage() : client.messages.create(about);
    };
    const first = await ask();
    expect(first).toMatchObject({ stop_reason: "tool_use", usage: { input_tokens: 11, output_tokens: 7 } });
    expect(first.content).toMatchObject([
      { type: "thinking", thinking: "Two sums are asked for." },
      { type: "text", text: "I add both." },
      { type: "tool_use", name: "add", input: { a: 1, b: "é\n" } },
      { type: "tool_use", name: "add", input: { a: 2 } },
    ]);
    const calls = first.content.flatMap((block) => (block.type === "tool_use" ? [block] : []));
    messages.push(
      { role: "assistant", content: first.content },
      {
        role: "user",
        content: calls.map(({ id }) => ({ type: "tool_result" as const, tool_use_id: id, content: "3" })),
      },
    );
    const second = await ask();
    expect(second.stop_reason).toBe("end_turn");
    expect(second.content.at(-1)).toMatchObject({ type: "text", text: "It is three." });
    server.assertComplete();
  });

  it("google, with thought signatures [H19]", async () => {
    await using server = await fakeGemini(script);
    const client = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: server.url } });
    const contents: object[] = [{ role: "user", parts: [{ text: "Add." }] }];
    const ask = async (): Promise<{
      readonly parts: readonly Part[];
      readonly finish: unknown;
      readonly tokens: unknown;
    }> => {
      const about = {
        model: "gemini-3-pro-preview",
        contents,
        config: { tools: [{ functionDeclarations: [{ name: "add", parametersJsonSchema: schema }] }] },
      };
      const responses = stream
        ? await Array.fromAsync(await client.models.generateContentStream(about))
        : [await client.models.generateContent(about)];
      const parts = responses.flatMap(
        ({ candidates }) => (candidates?.[0]?.content?.parts ?? []) as readonly Part[],
      );
      const last = responses.at(-1);
      return {
        parts: parts.filter((part) => part.text !== ""),
        finish: last?.candidates?.[0]?.finishReason,
        tokens: last?.usageMetadata?.totalTokenCount,
      };
    };
    const { parts, finish, tokens } = await ask();
    expect([finish, tokens]).toEqual(["STOP", 18]);
    const said = (isThought: boolean): string =>
      parts.flatMap(({ text, thought = false }) => (thought === isThought ? (text ?? "") : "")).join("");
    expect([said(true), said(false)]).toEqual(["Two sums are asked for.", "I add both."]);
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    expect(calls).toEqual([
      { name: "add", args: { a: 1, b: "é\n" } },
      { name: "add", args: { a: 2 } },
    ]);
    contents.push(
      { role: "model", parts },
      {
        role: "user",
        parts: calls.map(({ name }) => ({ functionResponse: { name, response: { output: 3 } } })),
      },
    );
    expect((await ask()).parts.map(({ text }) => text).join("")).toBe("It is three.");
    server.assertComplete();
    // without the signatures the same is refused
    contents[1] = { role: "model", parts: calls.map((functionCall) => ({ functionCall })) };
    const refused = await ask().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ApiError);
    expect(refused).toMatchObject({
      status: 400,
      message: expect.stringContaining("missing a thought_signature") as string,
    });
  });

  it("ollama [H19]", async () => {
    await using server = await fakeOllama(script);
    const client = new Ollama({ host: server.url });
    const messages: { role: string; content: string; tool_name?: string }[] = [
      { role: "user", content: "Add." },
    ];
    const about = { model: "qwen3", messages, tools: [] };
    const ask = async (): Promise<readonly Chat[]> =>
      stream
        ? await Array.fromAsync(await client.chat({ ...about, stream: true }))
        : [await client.chat({ ...about, stream: false })];
    const first = await ask();
    expect(first.map(({ message }) => message.content).join("")).toBe("I add both.");
    expect(first.map(({ message }) => message.thinking ?? "").join("")).toBe("Two sums are asked for.");
    const calls = first.flatMap(({ message }) => message.tool_calls ?? []);
    expect(calls.map((call) => call.function.arguments)).toEqual([{ a: 1, b: "é\n" }, { a: 2 }]);
    expect(first.at(-1)).toMatchObject({ done: true, prompt_eval_count: 11, eval_count: 7 });
    messages.push(
      { role: "assistant", content: "I add both." },
      { role: "tool", content: "3", tool_name: "add" },
    );
    expect((await ask()).map(({ message }) => message.content).join("")).toBe("It is three.");
    server.assertComplete();
  });
});

interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly functionCall?: { readonly name: string; readonly args: unknown };
}

interface Chat {
  readonly message: {
    readonly content: string;
    readonly thinking?: string;
    readonly tool_calls?: readonly { readonly function: { readonly arguments: unknown } }[];
  };
}

describe("the official clients are told of faults and refusals as by the provider", () => {
  const faults: readonly FakeStep[] = [
    { status: 429, retryAfter: 7 },
    { status: 529 },
    new Error("out of memory"),
    { status: 502, html: "<h1>Bad gateway</h1>" },
  ];

  it("openai [H19]", async () => {
    await using server = await fakeOpenai(faults);
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 });
    const ask = (model: string): Promise<unknown> =>
      client.chat.completions.create({ model, messages: [{ role: "user", content: "Hi" }] });
    await expect(ask("")).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    const limited = await ask("m").catch(
      (error: unknown) => error as InstanceType<typeof OpenAI.RateLimitError>,
    );
    expect(limited).toBeInstanceOf(OpenAI.RateLimitError);
    expect(limited).toMatchObject({ code: "rate_limit_exceeded", type: "requests" });
    await expect(ask("m")).rejects.toMatchObject({ status: 529 });
    await expect(ask("m")).rejects.toMatchObject({ status: 500, error: { message: "out of memory" } });
    await expect(ask("m")).rejects.toMatchObject({ status: 502, error: undefined });
  });

  it("anthropic, which asks again after as many seconds as it is told [H19]", async () => {
    await using server = await fakeAnthropic([
      { status: 429, retryAfter: 0.01 },
      { status: 529, retryAfter: 0.01 },
      "Hello.",
    ]);
    const client = new Anthropic({ baseURL: server.url, apiKey: "none" });
    const about = {
      model: "claude-sonnet-5",
      max_tokens: 10,
      messages: [{ role: "user" as const, content: "Hi" }],
    };
    expect((await client.messages.create(about)).content).toMatchObject([{ text: "Hello." }]);
    expect(server.requests).toHaveLength(3);
    const wrong = client.messages.create({ ...about, messages: [] });
    await expect(wrong).rejects.toMatchObject({
      status: 400,
      type: "invalid_request_error",
      message: expect.stringContaining("messages: at least one message is required") as string,
    });
  });

  it("streams that are cut are errors [H19]", async () => {
    const cut = { text: "one two three", cutAfter: 3 };
    await using openai = await fakeOpenai([cut]);
    await using anthropic = await fakeAnthropic([cut]);
    await using gemini = await fakeGemini([cut]);
    await using ollama = await fakeOllama([cut]);
    const user = { role: "user" as const, content: "Hi" };
    const clients = {
      openai: new OpenAI({ baseURL: `${openai.url}/v1`, apiKey: "none", maxRetries: 0 }),
      anthropic: new Anthropic({ baseURL: anthropic.url, apiKey: "none", maxRetries: 0 }),
      gemini: new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: gemini.url } }),
      ollama: new Ollama({ host: ollama.url }),
    };
    const streams: readonly (() => PromiseLike<AsyncIterable<unknown>>)[] = [
      () => clients.openai.chat.completions.create({ model: "m", messages: [user], stream: true }),
      () => clients.anthropic.messages.create({ model: "m", max_tokens: 9, messages: [user], stream: true }),
      () => clients.gemini.models.generateContentStream({ model: "gemini-2.5-pro", contents: "Hi" }),
      () => clients.ollama.chat({ model: "m", messages: [user], stream: true }),
    ];
    for (const open of streams) {
      const seen: unknown[] = [];
      const reading = (async () => {
        for await (const chunk of await open()) seen.push(chunk);
      })();
      await expect(reading).rejects.toThrow();
      expect(seen).toHaveLength(3);
    }
  });
});

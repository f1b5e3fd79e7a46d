import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { LanguageModelV2 } from "ai-sdk-provider-v2";
import type { LanguageModelV3 } from "ai-sdk-provider-v3";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  aiSdk,
  type AiSdkModel,
  type AiSdkOptions,
  isAiSdkModel,
} from "../../../src/adapters/model/ai-sdk.ts";
import { isWritError } from "../../../src/error/writ-error.ts";
import { type Message, userMessage } from "../../../src/message/message.ts";
import { assemble, type Reply } from "../../../src/model/assemble.ts";
import type { Delta, Model, ModelRequest } from "../../../src/model/model.ts";

const versions = ["v2", "v3", "v4"] as const;

interface Played {
  readonly model: AiSdkModel;
  /** The options of each call, as the model got them. */
  readonly calls: Record<string, unknown>[];
  cancelled: boolean;
}

/** A model object that streams the parts given, written by hand after the specification. */
function streaming(parts: readonly object[], version = "v3", more: object = {}): Played {
  const played: Played = { calls: [], cancelled: false, model: undefined as unknown as AiSdkModel };
  const doStream = (options: object): Promise<{ stream: ReadableStream<unknown> }> => {
    played.calls.push({ ...options });
    let next = 0;
    const stream = new ReadableStream<unknown>({
      pull(controller) {
        if (next < parts.length) controller.enqueue(parts[next++]);
        else controller.close();
      },
      cancel: () => void (played.cancelled = true),
    });
    return Promise.resolve({ stream });
  };
  return Object.assign(played, {
    model: { specificationVersion: version, provider: "by.hand", modelId: "parts", doStream, ...more },
  });
}

function requestOf(messages: readonly Message[], more: Partial<ModelRequest> = {}): ModelRequest {
  return { messages, tools: [], toolChoice: "auto", settings: {}, ...more };
}

const hello = requestOf([userMessage("hello")]);
const search = { name: "search", description: "Searches", inputSchema: { type: "object" } };

async function deltasOf(
  model: AiSdkModel,
  request = hello,
  signal = new AbortController().signal,
): Promise<Delta[]> {
  const deltas: Delta[] = [];
  for await (const delta of aiSdk(model).stream(request, { signal })) deltas.push(delta);
  return deltas;
}

async function replyOf(model: AiSdkModel, request = hello, options?: AiSdkOptions): Promise<Reply> {
  const asked: Model = aiSdk(model, options);
  const assembler = assemble(asked.id, ({ id, name }) => ({ id, name }));
  const { signal } = new AbortController();
  for await (const delta of asked.stream(request, { signal })) assembler.push(delta);
  return assembler.reply();
}

const finish = (reason: unknown = { unified: "stop", raw: "end_turn" }, usage: unknown = {}): object => ({
  type: "finish",
  finishReason: reason,
  usage,
});

const nothing = (): void => undefined;
const take = (model: LanguageModelV2 | LanguageModelV3 | LanguageModelV4): Model => aiSdk(model);
const price = (): number => 1;
const untilAborted = ({ abortSignal }: { abortSignal: AbortSignal }): Promise<never> =>
  new Promise((_resolve, reject) =>
    abortSignal.addEventListener("abort", () => reject(abortSignal.reason as Error)),
  );
const apiError = (fields: object, message = "the provider's words"): Error =>
  Object.assign(new Error(message), {
    name: "AI_APICallError",
    url: "https://api.example.com/v1/chat?key=secret",
    ...fields,
  });

async function failureOf(thrown: unknown, tools = [search]): Promise<unknown> {
  // A provider may reject with anything.
  const { model } = streaming([], "v3", { doStream: () => Promise.reject(thrown) });
  return deltasOf(model, requestOf(hello.messages, { tools })).catch((error: unknown) => error);
}

const failLate = async (): Promise<never> => {
  await new Promise((resolve) => setTimeout(resolve, 15));
  throw new Error("too late");
};

describe("a model object is told by its shape", () => {
  const shape = { specificationVersion: "v2", provider: "p", modelId: "m", doStream: nothing };

  it.each([
    ["V2", shape, true],
    ["V3", { ...shape, specificationVersion: "v3" }, true],
    ["V4", { ...shape, specificationVersion: "v4" }, true],
    ["only doGenerate", { ...shape, doStream: undefined, doGenerate: nothing }, true],
    [
      "an instance of a class",
      new (class {
        specificationVersion = "v3";
        provider = "p";
        modelId = "m";
        doStream(): void {}
      })(),
      true,
    ],
    ["V1", { ...shape, specificationVersion: "v1" }, false],
    ["a version to come", { ...shape, specificationVersion: "v5" }, false],
    ["neither doStream nor doGenerate", { ...shape, doStream: undefined }, false],
    ["no model id", { ...shape, modelId: undefined }, false],
    ["a model of writ", { id: "x", features: {}, stream: nothing }, false],
    ["a text", "openai/gpt-5", false],
    ["null", null, false],
    ["undefined", undefined, false],
  ])("%s", (_name, value, expected) => {
    expect(isAiSdkModel(value)).toBe(expected);
  });

  it("the types of all three packages are taken", () => {
    const { model } = streaming([]);
    expect(take(model as LanguageModelV3).id).toBe("by.hand/parts");
  });

  it.each([
    ["gpt-5", 'the text "gpt-5"'],
    [{ ...shape, specificationVersion: "v1" }, 'an AI SDK object of specification "v1"'],
    [{ ...shape, doStream: undefined }, "an AI SDK object without doStream and doGenerate"],
    [{}, "an object without specificationVersion"],
    [undefined, "undefined"],
  ])("anything else is refused when it is given (%#)", (value, found) => {
    expect(() => aiSdk(value as AiSdkModel)).toThrow(
      expect.objectContaining({ code: "model-invalid", data: { name: "aiSdk()", found } }),
    );
  });

  it("what it can do: tools and schemas, unless the model or the options say otherwise", () => {
    expect(aiSdk(streaming([]).model).features).toEqual({
      tools: true,
      fixedTools: true,
      format: "schema",
    });
    expect(aiSdk(streaming([], "v4", { supportsStructuredOutputs: false }).model).features).toEqual({
      fixedTools: true,
      tools: true,
    });
    expect(aiSdk(streaming([]).model, { features: { tools: false } }).features).toEqual({
      fixedTools: true,
      tools: false,
      format: "schema",
    });
    expect(aiSdk(streaming([]).model).price).toBeUndefined();
    expect(aiSdk(streaming([]).model, { price }).price).toBe(price);
  });
});

describe("the options of a call", () => {
  it("settings go by their names, a request's before the model's own", async () => {
    const played = streaming([finish()]);
    const settings = {
      maxOutputTokens: 9,
      topP: 0.5,
      topK: 3,
      stopSequences: ["END"],
      seed: 7,
      temperature: 0.2,
    };
    const providerOptions = { anthropic: { effort: "low" } };
    const own = { temperature: 1, maxOutputTokens: 1, providerOptions: { openai: { store: false } } };
    const request = requestOf(hello.messages, {
      settings: { ...settings, seed: undefined, providerOptions },
    });
    await replyOf(played.model, request, { settings: { ...own, seed: 7 } });
    expect(played.calls[0]).toMatchObject(settings);
    expect(played.calls[0]?.["providerOptions"]).toEqual({ ...own.providerOptions, ...providerOptions });
    expect(played.calls[0]).not.toHaveProperty("tools");
    expect(played.calls[0]).not.toHaveProperty("toolChoice");
    expect(played.calls[0]).not.toHaveProperty("responseFormat");
  });

  it.each([
    ["auto", { type: "auto" }],
    ["none", { type: "none" }],
    ["required", { type: "required" }],
    [{ tool: "search" }, { type: "tool", toolName: "search" }],
  ] as const)("the choice of tools %j [A7, H20]", async (toolChoice, expected) => {
    const played = streaming([finish()]);
    await deltasOf(played.model, requestOf(hello.messages, { tools: [search], toolChoice }));
    expect(played.calls[0]?.["toolChoice"]).toEqual(expected);
    expect(played.calls[0]?.["tools"]).toEqual([{ type: "function", ...search }]);
  });

  it.each(versions)("tools of the provider stand after the others (%s)", async (version) => {
    const played = streaming([finish()], version);
    const providerTools = { web: { id: "anthropic.web_search_20250305", args: { maxUses: 2 } } };
    await replyOf(played.model, requestOf(hello.messages, { tools: [search] }), { providerTools });
    const type = version === "v2" ? "provider-defined" : "provider";
    expect(played.calls[0]?.["tools"]).toEqual([
      { type: "function", ...search },
      { type, id: "anthropic.web_search_20250305", name: "web", args: { maxUses: 2 } },
    ]);
  });

  it("a schema becomes the response format; a grammar is refused before the model is asked", async () => {
    const schema = { type: "object", properties: { n: { type: "number" } } };
    const played = streaming([finish()]);
    await deltasOf(played.model, requestOf(hello.messages, { format: { type: "schema", schema } }));
    expect(played.calls[0]?.["responseFormat"]).toEqual({ type: "json", schema });
    const grammar = requestOf(hello.messages, { format: { type: "grammar", grammar: 'root ::= "a"' } });
    await expect(deltasOf(played.model, grammar)).rejects.toMatchObject({ code: "option-invalid" });
    expect(played.calls).toHaveLength(1);
  });
});

describe("stopping", () => {
  const never = new Promise<never>(() => undefined);

  it("the signal goes to the model, and its error comes out as it is", async () => {
    const controller = new AbortController();
    const { model } = streaming([], "v3", { doStream: untilAborted });
    setTimeout(() => controller.abort(), 5);
    const error = await deltasOf(model, hello, controller.signal).catch((error: unknown) => error);
    expect(error).toBe(controller.signal.reason);
    expect(error).toHaveProperty("name", "AbortError");
  });

  it.each(["doStream", "doGenerate"])(
    "a model that does not heed the signal is not waited for (%s)",
    async (method) => {
      const controller = new AbortController();
      const { model } = streaming([], "v3", { doStream: undefined, [method]: () => never });
      setTimeout(() => controller.abort("enough"), 5);
      const error = await deltasOf(model, hello, controller.signal).catch((error: unknown) => error);
      expect(error).toMatchObject({
        name: "AbortError",
        message: expect.stringContaining("enough") as string,
      });
    },
  );

  it("a stream that hangs is cancelled", async () => {
    const controller = new AbortController();
    let cancelled: unknown;
    const stream = new ReadableStream({ pull: () => never, cancel: (reason) => void (cancelled = reason) });
    const { model } = streaming([], "v3", { doStream: () => Promise.resolve({ stream }) });
    setTimeout(() => controller.abort(), 5);
    await expect(deltasOf(model, hello, controller.signal)).rejects.toHaveProperty("name", "AbortError");
    expect(cancelled).toBe(controller.signal.reason);
  });

  it("a stream that is opened after the abort is cancelled", async () => {
    const controller = new AbortController();
    const opened = Promise.withResolvers<{ stream: ReadableStream }>();
    const { model } = streaming([], "v3", { doStream: () => opened.promise });
    setTimeout(() => controller.abort(), 5);
    await expect(deltasOf(model, hello, controller.signal)).rejects.toHaveProperty("name", "AbortError");
    let cancelled: unknown;
    opened.resolve({ stream: new ReadableStream({ cancel: (reason) => void (cancelled = reason) }) });
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(cancelled).toBe(controller.signal.reason);
  });

  it("an answer that came whole is not told to its end after an abort", async () => {
    const controller = new AbortController();
    const content = [
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ];
    const doGenerate = (): Promise<object> => Promise.resolve({ content, finishReason: "stop" });
    const { model } = streaming([], "v2", { doStream: undefined, doGenerate });
    const deltas: Delta[] = [];
    const reading = (async () => {
      for await (const delta of aiSdk(model).stream(hello, { signal: controller.signal })) {
        deltas.push(delta);
        controller.abort();
      }
    })();
    await expect(reading).rejects.toHaveProperty("name", "AbortError");
    expect(deltas).toHaveLength(1);
  });

  it("an aborted signal asks nobody", async () => {
    const played = streaming([finish()]);
    await expect(deltasOf(played.model, hello, AbortSignal.abort())).rejects.toHaveProperty(
      "name",
      "AbortError",
    );
    expect(played.calls).toEqual([]);
  });

  it("whoever stops reading cancels the stream", async () => {
    const played = streaming([
      { type: "text-delta", id: "0", delta: "a" },
      { type: "text-delta", id: "0", delta: "b" },
      finish(),
    ]);
    for await (const delta of aiSdk(played.model).stream(hello, { signal: new AbortController().signal })) {
      expect(delta).toMatchObject({ text: "a" });
      break;
    }
    expect(played.cancelled).toBe(true);
  });
});

describe("what goes wrong", () => {
  afterEach(() => void vi.unstubAllEnvs());

  const refusal = "registry.ollama.ai/library/gemma does not support tools";

  it.each([
    ["401", apiError({ statusCode: 401 }), { code: "provider-refused-key", retryable: false }],
    ["403", apiError({ statusCode: 403 }), { code: "provider-refused-key", retryable: false }],
    [
      "no key",
      Object.assign(new Error("API key is missing"), { name: "AI_LoadAPIKeyError" }),
      { code: "provider-refused-key", retryable: false },
    ],
    [
      "404 of a model",
      apiError({ statusCode: 404 }, "model: none"),
      {
        code: "model-not-found",
        message: expect.stringMatching(/ is not on .*\. It does not say which models it has\.$/) as string,
      },
    ],
    ["404 of an address", apiError({ statusCode: 404 }), { code: "provider-failed", retryable: false }],
    [
      "no such model",
      Object.assign(new Error("No such model"), { name: "AI_NoSuchModelError" }),
      { code: "model-not-found", retryable: false },
    ],
    [
      "tools unsupported",
      apiError({ statusCode: 400 }, refusal),
      { code: "model-without-tools", retryable: false },
    ],
    [
      "tools that cannot be processed",
      apiError({ statusCode: 422 }, refusal),
      { code: "model-without-tools", retryable: false },
    ],
    [
      "tools unsupported, told in the body",
      apiError({ statusCode: 400, responseBody: `{"e":"${refusal}"}` }),
      { code: "model-without-tools", retryable: false },
    ],
    [
      "tool use unsupported",
      apiError({ statusCode: 404 }, "No endpoints found that support tool use."),
      { code: "model-without-tools", retryable: false },
    ],
    [
      "function calling",
      apiError({ statusCode: 400 }, "Function calling is not supported"),
      { code: "model-without-tools", retryable: false },
    ],
    [
      "tools parameter",
      apiError({ statusCode: 400 }, "This model doesn't support 'tools'"),
      { code: "model-without-tools", retryable: false },
    ],
    [
      "another 400",
      apiError({ statusCode: 400, isRetryable: false }, "max_tokens is too large"),
      { code: "provider-failed", retryable: false },
    ],
    [
      "429",
      apiError({ statusCode: 429, isRetryable: true }),
      { code: "model-rate-limited", retryable: true },
    ],
    [
      "500 that will not pass",
      apiError({ statusCode: 500, isRetryable: false }),
      { code: "provider-failed", retryable: false },
    ],
    [
      "unsupported functionality",
      Object.assign(new Error("'x' is not supported"), { name: "AI_UnsupportedFunctionalityError" }),
      { code: "provider-failed", retryable: false },
    ],
    ["anything", new Error("boom"), { code: "provider-failed", retryable: true }],
    ["a text", "boom", { code: "provider-failed", retryable: true }],
    ["undefined", undefined, { code: "provider-failed", retryable: true }],
  ])("%s", async (_name, thrown, expected) => {
    const error = await failureOf(thrown);
    expect(error).toMatchObject(expected);
    expect((error as Error).cause).toBe(thrown);
  });

  it("a refusal of tools means that only when there were tools", async () => {
    expect(await failureOf(apiError({ statusCode: 400 }, refusal), [])).toMatchObject({
      code: "provider-failed",
    });
  });

  it("nobody listens: told by the causes, with the address but without its query", async () => {
    const refused = Object.assign(
      new AggregateError([Object.assign(new Error("connect"), { code: "ECONNREFUSED" })]),
      { name: "x" },
    );
    const thrown = apiError(
      { isRetryable: true, cause: new TypeError("fetch failed", { cause: refused }) },
      "Cannot connect to API",
    );
    const error = await failureOf(thrown);
    expect(error).toMatchObject({
      code: "provider-unreachable",
      data: { url: "https://api.example.com/v1/chat" },
    });
    expect(isWritError(error) && error.message).not.toContain("secret");
  });

  it("an answer that the package could not read is quoted, and not in full", async () => {
    const error = await failureOf(
      apiError({ statusCode: 502, responseBody: `<html>${"x".repeat(5000)}` }, "Bad Gateway"),
    );
    expect((error as Error).message).toContain("Bad Gateway: <html>xxx");
    expect((error as Error).message.length).toBeLessThan(600);
  });

  it.each([
    ["an error", new Error("overloaded")],
    ["an object", { type: "overloaded_error", message: "overloaded" }],
    ["an object around it", { error: { message: "overloaded" } }],
    ["a text", "overloaded"],
  ])("an error in the stream comes after what was written before: %s", async (_name, thrown) => {
    const { model } = streaming([
      { type: "text-delta", id: "0", delta: "so far" },
      { type: "error", error: thrown },
      finish(),
    ]);
    const deltas: Delta[] = [];
    const reading = (async () => {
      for await (const delta of aiSdk(model).stream(hello, { signal: new AbortController().signal }))
        deltas.push(delta);
    })();
    await expect(reading).rejects.toMatchObject({
      code: "provider-failed",
      data: { reason: "overloaded" },
      cause: thrown,
    });
    expect(deltas).toMatchObject([{ type: "text-delta", text: "so far" }]);
  });

  it.each([
    ["openai.responses", "OPENAI_API_KEY, or the `apiKey` of "],
    ["togetherai.chat", "TOGETHER_API_KEY, or the `apiKey` of "],
    ["google.vertex.chat", ""],
    ["house.chat", ""],
  ])("a key that %s refused is looked for where it is", async (provider, variable) => {
    vi.stubEnv("OPENAI_API_KEY", "");
    const thrown = apiError({ statusCode: 401 });
    const { model } = streaming([], "v4", { provider, doStream: () => Promise.reject(thrown) });
    const object = `the AI SDK provider "${provider}"`;
    const otherwise =
      variable === "" ? ": its `apiKey`, or the environment variable it reads" : " where one was given";
    await expect(deltasOf(model)).rejects.toMatchObject({
      hint: `Check the key in ${variable}${object}${otherwise}.`,
    });
  });

  it("a key that is missing is the one that the package itself reads", async () => {
    vi.stubEnv("GEMINI_API_KEY", "unread");
    const thrown = Object.assign(new Error("API key is missing"), { name: "AI_LoadAPIKeyError" });
    const { model } = streaming([], "v4", {
      provider: "google.generative-ai",
      doStream: () => Promise.reject(thrown),
    });
    await expect(deltasOf(model)).rejects.toHaveProperty(
      "hint",
      expect.stringContaining("in GOOGLE_GENERATIVE_AI_API_KEY,"),
    );
  });

  it("an error in the stream is read like one that was thrown", async () => {
    const { model } = streaming([{ type: "error", error: apiError({ statusCode: 401 }) }]);
    await expect(deltasOf(model)).rejects.toMatchObject({ code: "provider-refused-key" });
  });

  it("a failure after an abort stays what it was, and no rejection is left behind", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    onTestFinished(() => void process.off("unhandledRejection", note));
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 5);
    const { model } = streaming([], "v4", { doStream: failLate });
    await expect(deltasOf(model, hello, controller.signal)).rejects.toHaveProperty("name", "AbortError");
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(unhandled).toEqual([]);
  });
});

describe("a model that only has doGenerate", () => {
  it.each(versions)("answers in one piece, with all its parts in order (%s)", async (version) => {
    const content = [
      { type: "reasoning", text: "Hm.", providerMetadata: { p: { signature: "s" } } },
      { type: "text", text: "I look.", providerMetadata: { p: { itemId: "i" } } },
      { type: "source", sourceType: "url", id: "1", url: "https://example.com" },
      { type: "tool-call", toolCallId: "c1", toolName: "search", input: '{"q":"x"}' },
      { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2, 3]) },
    ];
    const flat = version === "v2";
    const usage = flat
      ? { inputTokens: 3, outputTokens: 4 }
      : { inputTokens: { total: 3 }, outputTokens: { total: 4 } };
    const finishReason = flat ? "tool-calls" : { unified: "tool-calls", raw: "tool_use" };
    const doGenerate = (): Promise<object> => Promise.resolve({ content, usage, finishReason, warnings: [] });
    const { model } = streaming([], version, { doStream: undefined, doGenerate });
    expect(await replyOf(model)).toEqual({
      message: {
        role: "assistant",
        parts: [
          {
            type: "reasoning",
            text: "Hm.",
            providerMetadata: { p: { signature: "s" }, writ: { server: "by.hand" } },
          },
          { type: "text", text: "I look.", providerMetadata: { p: { itemId: "i" } } },
          { type: "provider", data: content[2] },
          { type: "tool-call", id: "c1", name: "search", arguments: { q: "x" } },
          { type: "file", mediaType: "image/png", data: "AQID" },
        ],
      },
      finishReason: "tool-calls",
      usage: { inputTokens: 3, outputTokens: 4 },
      ...(flat ? {} : { response: { finishReason: "tool_use" } }),
    });
  });
});

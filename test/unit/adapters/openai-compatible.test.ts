import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import {
  openaiCompatible,
  type OpenaiCompatibleOptions,
} from "../../../src/adapters/model/openai-compatible.ts";
import { resolveModel } from "../../../src/adapters/model/resolve.ts";
import { agent } from "../../../src/index.ts";
import type { Message } from "../../../src/message/message.ts";
import type { Model, ModelRequest } from "../../../src/model/model.ts";
import { fakeTool } from "../../../src/testing.ts";
import { type Answer, playedServer, type PlayedServer } from "../../contract/played-server.ts";
import { textOf } from "../../contract/read-deltas.ts";
import { addTool, ask, said } from "./ask-openai.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
afterEach(() => {
  server.requests.length = 0;
  server.pages.clear();
  vi.unstubAllEnvs();
});
afterAll(() => server.close());

const subTool = { ...addTool, name: "sub" };

const model = (options: OpenaiCompatibleOptions = {}): Model =>
  openaiCompatible("m", { baseUrl: `${server.url}/v1`, ...options });

async function bodyOf(
  overrides: Partial<ModelRequest>,
  options: OpenaiCompatibleOptions = {},
): Promise<Record<string, unknown>> {
  server.play(said("ok"));
  await ask(model(options), overrides);
  return server.requests.at(-1)?.body ?? {};
}

describe("where an OpenAI-compatible model is", () => {
  const urlOf = async (baseUrl: string): Promise<readonly [string, string | null]> => {
    const asked: [string, string | null][] = [];
    const send = (url: unknown, init?: RequestInit): Promise<Response> => {
      asked.push([String(url), new Headers(init?.headers).get("authorization")]);
      return Promise.resolve(new Response("{}", { status: 500 }));
    };
    await expect(ask(openaiCompatible("m", { baseUrl, fetch: send }))).rejects.toThrow();
    return asked[0] ?? ["", null];
  };

  it.each([
    ["http://box:8080", "http://box:8080/v1/chat/completions"],
    ["http://box:8080/", "http://box:8080/v1/chat/completions"],
    ["http://box/api/v1/", "http://box/api/v1/chat/completions"],
    ["http://box/api/v1/chat/completions", "http://box/api/v1/chat/completions"],
    ["http://box/chat/completions/?a=1", "http://box/chat/completions?a=1"],
    ["https://box/openai?api-version=2", "https://box/openai/chat/completions?api-version=2"],
  ])("%s is asked at %s", async (baseUrl, url) => {
    expect((await urlOf(baseUrl))[0]).toBe(url);
  });

  it.each([
    "",
    "box",
    "ftp://box/v1",
    "http://me:secret@box/v1",
    "htps://me:secret@box/v1",
    "me:secret@box:80/v1",
    "box/v1?key=secret",
  ])("refuses %o, and repeats no password", (baseUrl) => {
    vi.stubEnv("OPENAI_BASE_URL", undefined);
    expect(() => openaiCompatible("m", { baseUrl })).toThrow(
      expect.objectContaining({ code: "option-invalid" }),
    );
    expect(() => openaiCompatible("m", { baseUrl })).not.toThrow(/secret/);
  });

  it("names the variable whose address it cannot take", () => {
    for (const address of ["box", "ftp://box/v1", "http://me:secret@box/v1"]) {
      vi.stubEnv("OPENAI_BASE_URL", address);
      expect(() => openaiCompatible("m")).toThrow(/^OPENAI_BASE_URL cannot be/);
      expect(() => openaiCompatible("m", { baseUrl: address })).toThrow(
        /^openaiCompatible baseUrl cannot be/,
      );
    }
  });

  it("guesses no address, and takes the one of the environment by name", async () => {
    vi.stubEnv("OPENAI_BASE_URL", undefined);
    vi.stubEnv("OPENAI_API_KEY", "key");
    expect(() => resolveModel("openai-compatible/m", "a")).toThrow(
      expect.objectContaining({
        code: "option-invalid",
        hint: expect.stringContaining("OPENAI_BASE_URL") as string,
      }),
    );
    vi.stubEnv("OPENAI_BASE_URL", `${server.url}/v1`);
    server.play(said("ok"));
    const named = resolveModel("openai-compatible/a/b:c", "a");
    expect(named.id).toBe("openai-compatible/a/b:c");
    await ask(named);
    expect(server.requests[0]).toMatchObject({ path: "/v1/chat/completions", body: { model: "a/b:c" } });
    expect(server.requests[0]?.headers.authorization).toBe("Bearer key");
  });

  it("sends the key of the environment nowhere else than there and to OpenAI", async () => {
    vi.stubEnv("OPENAI_API_KEY", "key");
    expect(await urlOf("http://box/v1")).toEqual(["http://box/v1/chat/completions", null]);
    expect(await urlOf("https://api.openai.com/v1")).toEqual([
      "https://api.openai.com/v1/chat/completions",
      "Bearer key",
    ]);
    server.play(said("ok"));
    await ask(model({ apiKey: "mine", headers: { "x-proxy": "1" } }));
    expect(server.requests[0]?.headers).toMatchObject({ authorization: "Bearer mine", "x-proxy": "1" });
  });

  it("sends its author's header in the place of its own, however its name is written", async () => {
    server.play(said("ok"));
    await ask(model({ apiKey: "mine", headers: { Authorization: "Basic proxy", Accept: "*/*" } }));
    expect(server.requests[0]?.headers).toMatchObject({ authorization: "Basic proxy", accept: "*/*" });
  });

  it.each([{ apiKey: "secret\nother" }, { apiKey: "secret…" }, { headers: { "x-key": "secret\0" } }])(
    "refuses %j, which no header takes, and repeats nothing of it",
    (options) => {
      expect(() => model(options)).toThrow(expect.objectContaining({ code: "option-invalid" }));
      expect(() => model(options)).not.toThrow(/secret/);
    },
  );

  it("costs an unknown amount, on this machine too, unless its author says what", () => {
    const usage = { inputTokens: 1, outputTokens: 1 };
    expect(model().price).toBeUndefined();
    expect(model({ price: 0 }).price?.(usage)).toBe(0);
    expect(openaiCompatible("m", { baseUrl: "https://box/v1" }).price).toBeUndefined();
    expect(model({ price: () => 2 }).price?.(usage)).toBe(2);
  });

  it("refuses an option that it does not have, and says which one was meant", () => {
    const spelled: object = { baseURL: "http://box/v1" };
    const odd: object = { region: "eu" };
    const hint = expect.stringContaining('did you mean "baseUrl"') as string;
    const invalid = { code: "option-invalid" };
    expect(() => openaiCompatible("m", spelled)).toThrow(expect.objectContaining({ ...invalid, hint }));
    expect(() => openaiCompatible("m", odd)).toThrow(expect.objectContaining(invalid));
  });

  it("refuses a bound that is none", () => {
    expect(() => model({ maxReplyBytes: 0 })).toThrow(expect.objectContaining({ code: "option-invalid" }));
  });
});

describe("a request to an OpenAI-compatible server", () => {
  it("has settings under its names; those of the request come first, and its own fields last", async () => {
    const settings = {
      temperature: 0.5,
      topP: 0.9,
      topK: 4,
      maxOutputTokens: 7,
      stopSequences: ["x"],
      seed: 1,
    };
    const body = await bodyOf(
      { settings: { temperature: 0, providerOptions: { min_p: 0.1 } } },
      {
        settings: {
          ...settings,
          frequencyPenalty: 1,
          presencePenalty: 2,
          providerOptions: { stream_options: null },
        },
      },
    );
    expect(body).toMatchObject({
      model: "m",
      temperature: 0,
      top_p: 0.9,
      top_k: 4,
      max_tokens: 7,
      stop: ["x"],
      seed: 1,
      frequency_penalty: 1,
      presence_penalty: 2,
      min_p: 0.1,
      stream: true,
      stream_options: null,
    });
    expect(body).not.toHaveProperty("tools");
  });

  it("bounds the output of OpenAI's own models by the name that they take", async () => {
    let sent = "";
    const send = (_url: unknown, init?: RequestInit): Promise<Response> => {
      sent = typeof init?.body === "string" ? init.body : "";
      return Promise.resolve(new Response("{}", { status: 500 }));
    };
    const openai = openaiCompatible("m", {
      baseUrl: "https://api.openai.com/v1",
      fetch: send,
    });
    await expect(ask(openai, { settings: { maxOutputTokens: 7 } })).rejects.toThrow();
    expect(JSON.parse(sent)).toMatchObject({ max_completion_tokens: 7 });
    expect(sent).not.toContain("max_tokens");
  });

  it("sends a history as the interface has it, without reasoning that another server wrote, and arguments that are no object as {}", async () => {
    const messages: Message[] = [
      { role: "system", text: "sys" },
      {
        role: "user",
        parts: [
          { type: "text", text: "look" },
          { type: "file", mediaType: "image/png", data: "aGk=" },
          { type: "file", mediaType: "audio/wav", data: "aGk=" },
          { type: "file", mediaType: "application/pdf", data: "https://box/a.pdf" },
        ],
      },
      {
        role: "assistant",
        parts: [
          { type: "reasoning", text: "hm" },
          { type: "tool-call", id: "1", name: "add", arguments: { a: 1 } },
          { type: "tool-call", id: "2", name: "add", arguments: "{", malformed: "no JSON" },
        ],
      },
      { role: "tool", callId: "1", name: "add", status: "ok", text: "2" },
      { role: "tool", callId: "2", name: "add", status: "invalid", text: "no JSON" },
      { role: "assistant", parts: [{ type: "text", text: "done" }] },
    ];
    const { messages: sent } = await bodyOf({ messages });
    expect(sent).toEqual([
      { role: "system", content: "sys" },
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
          { type: "input_audio", input_audio: { data: "aGk=", format: "wav" } },
          { type: "file", file: { filename: "file.pdf", file_data: "https://box/a.pdf" } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "1", type: "function", function: { name: "add", arguments: '{"a":1}' } },
          { id: "2", type: "function", function: { name: "add", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "1", content: "2" },
      { role: "tool", tool_call_id: "2", content: "no JSON" },
      { role: "assistant", content: "done" },
    ]);
  });

  it.each([
    ["a film", "video/mp4", "aGk="],
    ["a sound at an address", "audio/wav", "https://box/a.wav"],
  ])("refuses a file that no such server takes: %s", async (_what, mediaType, data) => {
    const messages: Message[] = [{ role: "user", parts: [{ type: "file", mediaType, data }] }];
    await expect(ask(model(), { messages })).rejects.toMatchObject({
      code: "model-without-files",
      retryable: false,
    });
    expect(server.requests).toEqual([]);
  });

  it("sends OpenAI itself, which fetches none, no PDF by its address: a user's is refused, a result's told in words", async () => {
    let sent = "";
    const send = (_url: unknown, init?: RequestInit): Promise<Response> => {
      sent = typeof init?.body === "string" ? init.body : "";
      return Promise.resolve(new Response("{}", { status: 500 }));
    };
    const file = { type: "file", mediaType: "application/pdf", data: "https://box/a.pdf" } as const;
    const call = { type: "tool-call", id: "1", name: "add", arguments: {} } as const;
    const result = { role: "tool", callId: "1", name: "add", status: "ok", text: "read" } as const;
    for (const baseUrl of ["https://api.openai.com/v1", "https://own.openai.azure.com/openai/v1"]) {
      const openai = openaiCompatible("m", { baseUrl, fetch: send });
      await expect(ask(openai, { messages: [{ role: "user", parts: [file] }] })).rejects.toMatchObject({
        code: "model-without-files",
      });
      expect(sent).toBe("");
      const messages: Message[] = [
        { role: "assistant", parts: [call] },
        { ...result, files: [file] },
      ];
      await expect(ask(openai, { messages })).rejects.toMatchObject({ code: "provider-failed" });
      expect(sent).toContain("A file is left out");
      expect(sent).not.toContain("file_data");
      sent = "";
    }
  });

  it("names no tool in its choice: a named one is sent alone, and a call required", async () => {
    const tools = [addTool, subTool];
    const names = (body: Record<string, unknown>): readonly string[] =>
      (body["tools"] as readonly { readonly function: { readonly name: string } }[]).map(
        (tool) => tool.function.name,
      );
    const auto = await bodyOf({ tools });
    expect(auto["tools"]).toEqual([
      { type: "function", function: { name: "add", description: "Add", parameters: addTool.inputSchema } },
      { type: "function", function: { name: "sub", description: "Add", parameters: addTool.inputSchema } },
    ]);
    expect(auto).not.toHaveProperty("tool_choice");
    expect(await bodyOf({ tools, toolChoice: "none" })).toMatchObject({ tool_choice: "none" });
    const named = await bodyOf({ tools, toolChoice: { tool: "sub" } });
    expect(named).toMatchObject({ tool_choice: "required" });
    expect(names(named)).toEqual(["sub"]);
  });

  it("names tools to OpenAI itself, which goes on being told of all", async () => {
    const bodies: Record<string, unknown>[] = [];
    const send = (_url: unknown, init?: RequestInit): Promise<Response> => {
      const text = typeof init?.body === "string" ? init.body : "{}";
      bodies.push(JSON.parse(text) as Record<string, unknown>);
      return Promise.resolve(new Response("{}", { status: 500 }));
    };
    const openai = openaiCompatible("m", { baseUrl: "https://api.openai.com/v1", fetch: send });
    const tools = [addTool, subTool];
    const sub = { type: "function", function: { name: "sub" } };
    const choices: Partial<ModelRequest>[] = [
      { toolChoice: "auto" },
      { toolChoice: { tool: "sub" } },
      { toolChoice: "auto", callable: ["sub"] },
      { toolChoice: "required", callable: ["sub"] },
      { toolChoice: "none", callable: ["sub"] },
    ];
    for (const choice of choices) await expect(ask(openai, { tools, ...choice })).rejects.toThrow();
    const allowed = (mode: string) => ({ type: "allowed_tools", allowed_tools: { mode, tools: [sub] } });
    expect(bodies.map((body) => body["tool_choice"])).toEqual([
      undefined,
      sub,
      allowed("auto"),
      allowed("required"),
      "none",
    ]);
    for (const body of bodies) expect(body["tools"]).toHaveLength(2);
    expect(await bodyOf({ tools, callable: ["sub"] })).not.toHaveProperty("tool_choice");
  });

  it("has the author's options of a tool and of the system message", async () => {
    const cache_control = { type: "ephemeral" };
    const providerOptions = { "openai-compatible": { strict: true, cache_control }, anthropic: { x: 1 } };
    const body = await bodyOf(
      { tools: [{ ...addTool, providerOptions }, subTool], messages: [{ role: "system", text: "sys" }] },
      { systemOptions: { cache_control } },
    );
    expect(body).toMatchObject({
      messages: [{ role: "system", content: [{ type: "text", text: "sys", cache_control }] }],
      tools: [{ type: "function", function: { name: "add", strict: true }, cache_control }, {}],
    });
    expect(JSON.stringify(body)).not.toContain('"x":1');
  });

  it("holds a reply to a schema: strict where that is allowed, never with what servers cannot make a grammar of", async () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string", pattern: "(?=x)" } },
      required: ["a"],
    };
    const { response_format: strict } = await bodyOf({ format: { type: "schema", schema } });
    expect(strict).toEqual({
      type: "json_schema",
      json_schema: {
        name: "reply",
        strict: true,
        schema: {
          type: "object",
          properties: { a: { type: "string" } },
          required: ["a"],
          additionalProperties: false,
        },
      },
    });
    const open = { type: "object", properties: { a: { type: "string" } } };
    const { response_format: loose } = await bodyOf({ format: { type: "schema", schema: open } });
    expect(loose).toMatchObject({ json_schema: { strict: false, schema: open } });
  });

  it("asks without the schema when the server says that it cannot, and remembers it", async () => {
    const refuses: Answer = {
      status: 400,
      json: {
        error: { message: "This response_format type is unavailable now", type: "invalid_request_error" },
      },
    };
    const asked = model();
    const format = { type: "schema", schema: { type: "object" } } as const;
    server.play(refuses, said("{}"), said("{}"));
    expect(asked.features.format).toBe("schema");
    expect(textOf(await ask(asked, { format }), "text-delta")).toBe("{}");
    expect(asked.features.format).toBeUndefined();
    await ask(asked, { format });
    expect(server.requests.map(({ body }) => "response_format" in body)).toEqual([true, false, false]);
  });

  it("refuses a grammar where the server is not known to take one, and sends it where the author says so", async () => {
    const format = { type: "grammar", grammar: 'root ::= "x"' } as const;
    await expect(ask(model(), { format })).rejects.toMatchObject({ code: "option-invalid" });
    expect(server.requests).toEqual([]);
    expect(await bodyOf({ format }, { features: { format: "grammar" } })).toMatchObject({
      grammar: 'root ::= "x"',
    });
  });
});

describe("what an OpenAI-compatible server refuses", () => {
  const refused = async (answer: Answer): Promise<unknown> => {
    server.play(answer);
    return ask(model(), { tools: [addTool] }).catch((error: unknown) => error);
  };

  it("passes on how long it asks to be left alone, and does not ask again when the account is empty", async () => {
    const limited = {
      status: 429,
      json: { error: { message: "slow down" } },
      headers: { "retry-after": "2" },
    };
    expect(await refused(limited)).toMatchObject({
      code: "model-rate-limited",
      retryable: true,
      retryAfterMs: 2_000,
    });
    const empty = { status: 429, json: { error: { message: "quota", code: "insufficient_quota" } } };
    expect(await refused(empty)).toMatchObject({ code: "model-quota-exceeded", retryable: false });
  });

  it("says which models there are instead", async () => {
    server.pages.set("/v1/models", { data: [{ id: "one" }, { id: "two" }, { nothing: 1 }] });
    const error = await refused({ status: 404, json: { error: { message: "model 'm' not found" } } });
    expect(error).toMatchObject({
      code: "model-not-found",
      message: expect.stringContaining("one, two.") as string,
    });
  });

  it("says that there are more where they are more than a dozen", async () => {
    const refusal = { status: 404, json: { error: { message: "model 'm' not found" } } };
    const names = Array.from({ length: 13 }, (_, at) => `m${at + 1}`);
    server.pages.set("/v1/models", { data: names.map((id) => ({ id })) });
    const some = `It has: ${names.slice(0, 12).join(", ")}, ….`;
    expect(await refused(refusal)).toMatchObject({ message: expect.stringContaining(some) as string });
  });

  it("says so where the server lists none, or not which", async () => {
    const refusal = { status: 404, json: { error: { message: "model 'm' not found" } } };
    server.pages.delete("/v1/models");
    const silent = "It does not say which models it has.";
    expect(await refused(refusal)).toMatchObject({
      message: expect.stringMatching(new RegExp(` is not on .*\\. ${silent}$`)) as string,
      hint: "Check the name. The server said: model 'm' not found",
    });
    server.pages.set("/v1/models", { data: [] });
    const none = expect.stringMatching(/ It has no models yet\.$/) as string;
    expect(await refused(refusal)).toMatchObject({ message: none });
  });

  it("says that a server without TLS has none", async () => {
    const asked = openaiCompatible("m", { baseUrl: server.url.replace("http:", "https:") });
    await expect(ask(asked)).rejects.toMatchObject({
      code: "provider-unreachable",
      message: expect.stringContaining("it answers without TLS, as at an address with http://"),
    });
  });

  it("says where it looked when something else is there", async () => {
    const error = await refused({ status: 404, json: "Not Found" });
    expect(error).toMatchObject({
      code: "provider-failed",
      message: expect.stringContaining(`${server.url}/v1 may be`) as string,
    });
  });

  it("takes no error for one about tools when there were none", async () => {
    server.play({ status: 400, json: { error: "m does not support tools" } });
    await expect(ask(model())).rejects.toMatchObject({ code: "provider-failed" });
  });
});

describe("a server that turns out to be llama.cpp", () => {
  const llama = { headers: { server: "llama.cpp" } };
  const props = (supports_tools?: boolean): object => ({
    default_generation_settings: {},
    ...(supports_tools === undefined ? {} : { chat_template_caps: { supports_tools } }),
  });

  it("takes grammars from then on, and is asked once what its template knows", async () => {
    server.pages.set("/props", props(true));
    server.play({ ...said("ok"), ...llama });
    const asked = model();
    await ask(asked, { tools: [addTool] });
    expect(asked.features).toEqual({ fixedTools: true, format: "grammar", tools: true });
    server.pages.set("/props", props(false));
    await ask(asked, { tools: [addTool] });
    expect(asked.features.tools).toBe(true);
  });

  it("has no tools when its template knows none; `auto` then goes on with JSON", async () => {
    server.pages.set("/props", props(false));
    const final = '{"final": {"content": "done"}}';
    server.play({ ...said("I cannot."), ...llama }, { ...said(final), ...llama });
    const result = await agent({ name: "a", model: model(), tools: [fakeTool("add", 1)] }).run("x");
    expect(result).toMatchObject({ text: "done" });
    expect(server.requests.map(({ body }) => ["tools" in body, "grammar" in body])).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  it("of an older version says nothing of tools, and is left with them", async () => {
    server.pages.set("/props", props());
    server.play({ ...said("ok"), ...llama });
    const asked = model();
    await ask(asked, { tools: [addTool] });
    expect(asked.features).toEqual({ fixedTools: true, format: "grammar" });
  });

  it("never overrules the author", async () => {
    server.pages.set("/props", props(false));
    server.play({ ...said("ok"), ...llama });
    const asked = model({ features: { tools: true, format: "schema" } });
    expect(textOf(await ask(asked, { tools: [addTool] }), "text-delta")).toBe("ok");
  });
});

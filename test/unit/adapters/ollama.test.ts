import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  ollama,
  ollamaModels,
  type OllamaOptions,
  ollamaRunning,
} from "../../../src/adapters/model/ollama.ts";
import { ollamaAddress } from "../../../src/adapters/model/ollama-address.ts";
import { openClient } from "../../../src/adapters/model/ollama-client.ts";
import { WritError } from "../../../src/error/writ-error.ts";
import { type Message, userMessage } from "../../../src/message/message.ts";
import type { Delta, Model, ModelRequest } from "../../../src/model/model.ts";
import { type OllamaServer, type ServerOptions, startOllama } from "../../contract/ollama-server.ts";
import type { WireAnswer } from "../../contract/wire.ts";

const fine: WireAnswer = { type: "reply", parts: [{ type: "text", pieces: ["fine"] }] };

let servers: OllamaServer[] = [];
async function start(options: ServerOptions = { script: [fine, fine, fine] }): Promise<OllamaServer> {
  const server = await startOllama(options);
  servers.push(server);
  return server;
}
beforeEach(() => vi.stubEnv("OLLAMA_HOST", undefined));
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(servers.map((server) => server.close()));
  servers = [];
});

async function ask(model: Model, request: Partial<ModelRequest> = {}): Promise<Delta[]> {
  const deltas: Delta[] = [];
  const whole: ModelRequest = {
    messages: [userMessage("Hi.")],
    tools: [],
    toolChoice: "auto",
    settings: {},
    ...request,
  };
  for await (const delta of model.stream(whole, { signal: new AbortController().signal })) deltas.push(delta);
  return deltas;
}

async function bodyOf(
  options: OllamaOptions,
  request: Partial<ModelRequest> = {},
  asked?: Awaited<ReturnType<typeof start>>,
): Promise<Record<string, unknown>> {
  const server = asked ?? (await start());
  await ask(ollama("m", { host: server.url, ...options }), request);
  return server.bodies[0] as Record<string, unknown>;
}

async function errorOf(promise: Promise<unknown>): Promise<WritError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof WritError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("what an Ollama request says", () => {
  it("case 7: the temperature and all that is about sampling stand in options, and nowhere else [A5.2]", async () => {
    expect(await bodyOf({})).toEqual({
      model: "m",
      stream: true,
      messages: [{ role: "user", content: "Hi." }],
      options: { temperature: 0.7 },
    });
    const body = await bodyOf({
      temperature: 0.1,
      topP: 0.9,
      topK: 40,
      seed: 7,
      maxOutputTokens: 100,
      stopSequences: ["END"],
      contextLength: 8192,
      providerOptions: { min_p: 0.05 },
      keepAlive: "10m",
      think: "low",
    });
    expect(body["options"]).toEqual({
      temperature: 0.1,
      top_p: 0.9,
      top_k: 40,
      seed: 7,
      num_predict: 100,
      stop: ["END"],
      num_ctx: 8192,
      min_p: 0.05,
    });
    expect(body).toMatchObject({ keep_alive: "10m", think: "low" });
    expect(Object.keys(body).toSorted()).toEqual([
      "keep_alive",
      "messages",
      "model",
      "options",
      "stream",
      "think",
    ]);
  });

  it("puts a request's own settings before those of the model, and zero is a value", async () => {
    const settings = { temperature: 0, seed: 0, topP: undefined, providerOptions: { min_p: 0.1 } };
    const body = await bodyOf({ temperature: 0.9, topP: 0.5, keepAlive: 0, think: false }, { settings });
    expect(body["options"]).toEqual({ temperature: 0, seed: 0, top_p: 0.5, min_p: 0.1 });
    expect(body).toMatchObject({ keep_alive: 0, think: false });
  });

  it("asks for a reply in one piece when told so", async () => {
    const server = await start();
    const deltas = await ask(ollama("m", { host: server.url, stream: false }));
    expect(server.bodies[0]).toMatchObject({ stream: false });
    expect(deltas).toEqual([
      { type: "text-delta", text: "fine" },
      { type: "end", finishReason: "stop" },
    ]);
  });

  it("case 7: sends a conversation as Ollama has it [A6, A5.1]", async () => {
    const server = await start();
    const own = { writ: { server: server.url } };
    const messages: readonly Message[] = [
      { role: "system", text: "Be brief." },
      {
        role: "user",
        parts: [
          { type: "text", text: "What is " },
          { type: "file", mediaType: "image/png", data: "data:image/png;base64,iVBORw0KGgo=" },
          { type: "file", mediaType: "image/jpeg", data: "/etc/passwd" },
          { type: "text", text: "this?" },
        ],
      },
      {
        role: "assistant",
        parts: [
          { type: "reasoning", text: "I should ", providerMetadata: own },
          { type: "reasoning", text: "look.", providerMetadata: own },
          { type: "reasoning", text: "Another server's." },
          { type: "tool-call", id: "call_1", name: "look", arguments: { at: 1 } },
          {
            type: "tool-call",
            id: "call_2",
            name: "look",
            arguments: '{"at":',
            malformed: "they are not valid JSON",
          },
          { type: "tool-call", id: "srv_1", name: "web_search", arguments: {}, providerExecuted: true },
          { type: "provider", data: { type: "source" } },
        ],
      },
      { role: "tool", callId: "call_1", name: "look", status: "ok", text: "a cat" },
      { role: "tool", callId: "call_2", name: "look", status: "invalid", text: "not JSON" },
      { role: "assistant", parts: [{ type: "text", text: "A cat." }] },
      userMessage("Thanks."),
    ];
    expect((await bodyOf({ host: server.url }, { messages }, server))["messages"]).toEqual([
      { role: "system", content: "Be brief." },
      // Data that looks like a path is sent as it is: no file is read.
      { role: "user", content: "What is this?", images: ["iVBORw0KGgo=", "/etc/passwd"] },
      {
        role: "assistant",
        content: null,
        thinking: "I should look.",
        tool_calls: [
          { id: "call_1", function: { name: "look", arguments: { at: 1 } } },
          { id: "call_2", function: { name: "look", arguments: {} } },
        ],
      },
      { role: "tool", content: "a cat", tool_name: "look", tool_call_id: "call_1" },
      { role: "tool", content: "not JSON", tool_name: "look", tool_call_id: "call_2" },
      { role: "assistant", content: "A cat." },
      { role: "user", content: "Thanks." },
    ]);
  });

  it("refuses files that Ollama cannot take before it asks anything", async () => {
    const server = await start();
    for (const [mediaType, data] of [
      ["application/pdf", "JVBERi0="],
      ["image/png", "https://example.com/cat.png"],
      ["image/png", ""],
    ] as const) {
      const messages: readonly Message[] = [{ role: "user", parts: [{ type: "file", mediaType, data }] }];
      const error = await errorOf(ask(ollama("m", { host: server.url }), { messages }));
      expect([error.code, error.retryable]).toEqual(["model-without-files", false]);
    }
    expect(server.bodies).toEqual([]);
  });

  it("holds a reply to a schema, and says that it cannot hold one to a grammar", async () => {
    const schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
    expect((await bodyOf({}, { format: { type: "schema", schema } }))["format"]).toEqual(schema);
    const error = await errorOf(bodyOf({}, { format: { type: "grammar", grammar: 'root ::= "x"' } }));
    expect(error.code).toBe("option-invalid");
  });

  it("sends the headers it was given, and the name and password of an address as a header", async () => {
    const server = await start();
    const withPassword = server.url.replace("//", "//me:p%40ss@");
    await ask(ollama("m", { host: withPassword, headers: { "x-proxy": "7" } }));
    expect(server.headers[0]).toMatchObject({
      authorization: `Basic ${Buffer.from("me:p@ss").toString("base64")}`,
      "x-proxy": "7",
    });
  });

  it("uses the fetch it was given", async () => {
    const server = await start();
    const asked: string[] = [];
    const own: typeof fetch = (input, init) => {
      asked.push(new Request(input).url);
      return fetch(input, init);
    };
    await ask(ollama("m", { host: server.url, fetch: own }));
    expect(asked).toEqual([`${server.url}/api/chat`]);
  });
});

describe("the choice of tools", () => {
  const tools = ["add", "sub"].map((name) => ({
    name,
    description: `${name} it`,
    inputSchema: { type: "object", properties: {} },
  }));
  const sent = (name: string) => ({
    type: "function",
    function: { name, description: `${name} it`, parameters: { type: "object", properties: {} } },
  });

  it("sends all, none, or only the named one; names go through as they are [A7]", async () => {
    const warn = vi.fn<(message: string) => void>();
    expect((await bodyOf({ warn }, { tools }))["tools"]).toEqual([sent("add"), sent("sub")]);
    expect(await bodyOf({ warn }, { tools, toolChoice: "none" })).not.toHaveProperty("tools");
    expect(warn).not.toHaveBeenCalled();
    expect((await bodyOf({ warn }, { tools, toolChoice: { tool: "sub" } }))["tools"]).toEqual([sent("sub")]);
    expect((await bodyOf({ warn }, { tools, toolChoice: { tool: "unknown" } }))["tools"]).toHaveLength(2);
    expect((await bodyOf({ warn }, { tools, toolChoice: "required" }))["tools"]).toHaveLength(2);
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/ollama\/m .*only "sub" is offered/)]]);
  });

  it("warns once for each model, by a process warning when nobody listens [A7]", async () => {
    const emitted = vi.spyOn(process, "emitWarning").mockReturnValue();
    const server = await start({ script: [fine, fine, fine, fine] });
    for (const name of ["first", "first", "second\u001B[2J"]) {
      await ask(ollama(name, { host: server.url }), { tools, toolChoice: "required" });
    }
    await ask(ollama("third", { host: server.url }), { toolChoice: "required" });
    expect(emitted.mock.calls.map(([message]) => String(message))).toEqual([
      expect.stringContaining("ollama/first"),
      expect.stringContaining(String.raw`ollama/second\u{1b}[2J`),
    ]);
    emitted.mockRestore();
  });
});

describe("where the server is", () => {
  it("reads addresses as Ollama's own tools do", () => {
    const cases: [host: string, port: number | undefined, url: string][] = [
      ["", undefined, "http://localhost:11434"],
      ["localhost", undefined, "http://localhost:11434"],
      ["localhost", 8080, "http://localhost:8080"],
      ["gpu-box:9000", undefined, "http://gpu-box:9000"],
      ["gpu-box/ollama/", undefined, "http://gpu-box:11434/ollama"],
      ["http://gpu-box:11434/v1/", undefined, "http://gpu-box:11434"],
      ["http://gpu-box/ollama/api/chat", undefined, "http://gpu-box/ollama"],
      [":9000", undefined, "http://localhost:9000"],
      ["0.0.0.0", undefined, "http://127.0.0.1:11434"],
      ["http://[::]:11434", undefined, "http://[::1]:11434"],
      ["127.0.0.1:80", undefined, "http://127.0.0.1"],
      ["https://ollama.example.com", undefined, "https://ollama.example.com"],
      ["https://ollama.example.com/base/", 8443, "https://ollama.example.com:8443/base"],
      [" http://u:p@host:1 ", undefined, "http://host:1"],
    ];
    for (const [host, port, url] of cases) expect(ollamaAddress(host, port).url, host).toBe(url);
    expect(ollamaAddress("host").headers).toEqual({});
  });

  it("refuses what is no address, and numbers that are none, when the model is made", () => {
    for (const host of ["ftp://host", "http://", "a b"])
      expect(() => ollama("m", { host }), host).toThrow(/ollama host/);
    for (const port of [0, 70_000, 1.5])
      expect(() => ollama("m", { port }), String(port)).toThrow(/ollama port/);
    expect(() => ollama("m", { contextLength: 0 })).toThrow(/contextLength/);
    expect(() => ollama("m", { maxReplyBytes: Number.NaN })).toThrow(/maxReplyBytes/);
  });

  it.each(["http://me:secret%@host", "ftp://me:secret@host", "me:secret@host name", "host name?key=secret"])(
    "refuses %s, and repeats no password",
    (host) => {
      expect(() => ollama("m", { host })).toThrow(expect.objectContaining({ code: "option-invalid" }));
      expect(() => ollama("m", { host })).not.toThrow(/secret/);
    },
  );

  it("looks where OLLAMA_HOST says, unless it is told", async () => {
    const server = await start({ script: [fine], installed: [{ name: "one" }] });
    vi.stubEnv("OLLAMA_HOST", server.url.replace("http://", ""));
    await ask(ollama("m"));
    expect(server.bodies).toHaveLength(1);
    expect(await ollamaRunning()).toBe(true);
    expect(await ollamaModels()).toHaveLength(1);
    const gone = await start({ script: [{ type: "unreachable" }] });
    vi.stubEnv("OLLAMA_HOST", gone.url);
    expect((await errorOf(ask(ollama("m")))).data).toMatchObject({ url: gone.url });
    expect(await ollamaRunning()).toBe(false);
    expect(await ollamaRunning("not an address")).toBe(false);
  });

  it("names what has an address that it cannot take", async () => {
    vi.stubEnv("OLLAMA_HOST", "ftp://box");
    expect(() => ollama("m")).toThrow(/^OLLAMA_HOST cannot be "ftp:\/\/box"/);
    await expect(ollamaModels()).rejects.toThrow(/^OLLAMA_HOST cannot be/);
    expect(() => ollama("m", { host: "ftp://box" })).toThrow(/^ollama host cannot be/);
  });
});

describe("what is installed", () => {
  it("lists the models with size and capabilities", async () => {
    const server = await start({
      installed: [{ name: "a:latest", capabilities: ["completion", "tools"] }, { name: "b:7b" }],
    });
    expect(await ollamaModels(server.url)).toEqual([
      {
        name: "a:latest",
        sizeBytes: 98_363_065,
        parameters: "134.52M",
        capabilities: ["completion", "tools"],
      },
      { name: "b:7b", sizeBytes: 98_363_065, parameters: "134.52M" },
    ]);
    const many = await start({
      installed: Array.from({ length: 20 }, (_, index) => ({
        name: `m${index}`,
        capabilities: ["completion"],
      })),
    });
    const listed = await ollamaModels(many.url);
    expect([listed.length, listed.filter((model) => model.capabilities !== undefined).length]).toEqual([
      20, 16,
    ]);
    const gone = await start({ script: [{ type: "unreachable" }] });
    expect((await errorOf(ollamaModels(gone.url))).code).toBe("provider-unreachable");
  });

  it("says what the server has when a model is missing, and how to fetch it", async () => {
    const failing: ServerOptions = { script: [{ type: "failure", failure: "model-not-found" }] };
    const two = await start({ ...failing, installed: [{ name: "a:latest" }, { name: "b:7b" }] });
    const error = await errorOf(ask(ollama("m", { host: two.url })));
    expect(error.message).toBe(`The model "m" is not on Ollama at ${two.url}. It has: a:latest, b:7b.`);
    expect(error.hint).toBe("Fetch it: ollama pull m");
    const none = await start(failing);
    expect((await errorOf(ask(ollama("m", { host: none.url })))).data).toMatchObject({
      known: "It has no models yet.",
    });
  });

  it("says which models can call tools when this one cannot", async () => {
    const failing: ServerOptions = { script: [{ type: "failure", failure: "no-tools" }] };
    const known = async (installed: ServerOptions["installed"]): Promise<unknown> => {
      const server = await start({ ...failing, installed });
      return (await errorOf(ask(ollama("m", { host: server.url })))).data;
    };
    const able = { name: "b:7b", capabilities: ["completion", "tools"] };
    expect(await known([{ name: "m:latest", capabilities: ["completion"] }, able])).toMatchObject({
      known: "Here these can: b:7b.",
    });
    expect(await known([{ name: "m:latest", capabilities: ["completion"] }])).toMatchObject({
      known: expect.stringMatching(/^None/),
    });
    expect(await known([{ name: "m:latest" }])).toMatchObject({
      known: "It does not say which of its models can.",
    });
    const many = Array.from({ length: 12 }, (_, index) => ({ name: `m${index}`, capabilities: ["tools"] }));
    expect(await known(many)).toMatchObject({ known: "Here these can: m0, m1, m2, m3, m4, m5, m6, m7." });
  });

  it("says that it is unknown when the server does not tell", async () => {
    const server = await start({
      chat: (_, response) => void response.writeHead(404).end('{"error":"model \'m\' not found"}'),
    });
    const noList: typeof fetch = (input, init) =>
      new Request(input).url.endsWith("/api/tags")
        ? Promise.reject(new TypeError("fetch failed"))
        : fetch(input, init);
    expect((await errorOf(ask(ollama("m", { host: server.url, fetch: noList })))).data).toMatchObject({
      known: "It does not say which models it has.",
    });
  });
});

describe("what a request needs", () => {
  const connection = {
    address: ollamaAddress("localhost"),
    fetch,
    signal: new AbortController().signal,
    maxReplyBytes: 1_000,
    lines: true,
  };

  it("says how to install the package when it is missing; other faults of it stay what they are", async () => {
    const missing = Object.assign(new Error("Cannot find package 'ollama'"), {
      code: "ERR_MODULE_NOT_FOUND",
    });
    const error = await errorOf(openClient(connection, () => Promise.reject(missing)));
    expect([error.code, error.cause]).toEqual(["peer-missing", missing]);
    expect(error.hint).toBe("Install it: npm i ollama");
    await expect(openClient(connection, () => Promise.reject(new TypeError("broken")))).rejects.toThrow(
      "broken",
    );
  });

  it("tells what is unreachable and what to do, in words", async () => {
    const server = await start({ script: [{ type: "unreachable" }] });
    const error = await errorOf(ask(ollama("m", { host: server.url })));
    expect(error.message).toBe(
      `Cannot reach Ollama at ${server.url}: nothing listens there (connection refused)`,
    );
    for (const advice of ["ollama serve", "OLLAMA_HOST", "npx writ demo"])
      expect(error.hint).toContain(advice);
  });

  it("costs nothing and leaves open whether a model calls tools", () => {
    const model = ollama("qwen2.5:7b");
    expect([model.id, model.features]).toEqual(["ollama/qwen2.5:7b", { format: "schema" }]);
    expect(model.price?.({ inputTokens: 1_000, outputTokens: 1_000 })).toBe(0);
  });
});

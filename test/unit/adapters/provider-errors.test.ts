import { createGoogle } from "@ai-sdk/google";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aiSdk } from "../../../src/adapters/model/ai-sdk.ts";
import { ollama } from "../../../src/adapters/model/ollama.ts";
import { openaiCompatible } from "../../../src/adapters/model/openai-compatible.ts";
import { isWritError, type WritError } from "../../../src/error/writ-error.ts";
import { agent, type AgentEvent } from "../../../src/index.ts";
import type { Model } from "../../../src/model/model.ts";
import { fakeTool } from "../../../src/testing.ts";
import { recordingsIn } from "../../contract/ai-sdk-recordings.ts";
import { type Answer, type PlayedServer, playedServer, sse } from "../../contract/played-server.ts";
import { addTool, ask, said } from "./ask-openai.ts";
import { message, refusals } from "./provider-refusals.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
afterAll(() => server.close());

const adapters: Readonly<Record<string, () => Model>> = {
  "openai-compatible": () => openaiCompatible("m", { baseUrl: `${server.url}/v1` }),
  "ai-sdk": () => aiSdk(createOpenAICompatible({ name: "p", baseURL: `${server.url}/v1` })("m")),
  ollama: () => ollama("m", { host: server.url }),
};

async function failure(model: Model, answer: Answer): Promise<WritError> {
  server.play(answer);
  const error: unknown = await ask(model, { tools: [addTool] }).catch((thrown: unknown) => thrown);
  if (!isWritError(error)) throw new Error(`no error of the catalogue: ${String(error)}`);
  return error;
}

const rows = Object.entries(refusals).flatMap(([code, bodies]) =>
  Object.entries(bodies).map(([provider, refusal]) => ({ code, provider, ...refusal })),
);

describe.each(Object.keys(adapters))("what providers say through %s", (name) => {
  it.each(rows)("$code: $provider", async ({ code, status, body, says, waits, retryable }) => {
    const model = adapters[name]?.();
    if (model === undefined) throw new Error("no adapter");
    const error = await failure(model, { status, json: body });
    expect(error.code).toBe(code);
    if (says !== undefined) expect(error.message).toContain(says);
    if (waits !== undefined) expect(error.retryAfterMs).toBe(waits);
    if (retryable !== undefined) expect(error.retryable).toBe(retryable);
    expect(error.message).not.toContain("[object Object]");
  });
});

describe.each(Object.keys(adapters).filter((name) => name !== "ai-sdk"))("a refusal through %s", (name) => {
  const busy = { status: 429, headers: { "content-type": "text/html", "retry-after": "7" } };

  it("is no word on the key where it is a page of somebody before the provider", async () => {
    const model = adapters[name]?.();
    if (model === undefined) throw new Error("no adapter");
    const page = "<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>";
    const error = await failure(model, { status: 403, headers: { "content-type": "text/html" }, sse: page });
    expect(error.code).toBe("provider-failed");
    expect(error.message).toContain('a web page, "Just a moment..." (HTTP 403)');
  });

  it.each<[string, Answer]>([
    ["is a page of any size", { ...busy, sse: `<html><title>Too busy</title>${" ".repeat(100_000)}</html>` }],
    ["broke off", { ...busy, sse: "<html><title>Too busy</title>", after: "cut" }],
  ])("is told by its status where its body %s", async (_how, answer) => {
    const model = adapters[name]?.();
    if (model === undefined) throw new Error("no adapter");
    const error = await failure(model, answer);
    expect(error).toMatchObject({ code: "model-rate-limited", retryable: true, retryAfterMs: 7000 });
    expect(error.message).toContain('a web page, "Too busy"');
  });
});

const event = (data: unknown, type?: string): string =>
  `${type === undefined ? "" : `event: ${type}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const whole = (content: string) => ({ choices: [{ index: 0, message: { content }, finish_reason: "stop" }] });
const begun = event({ choices: [{ index: 0, delta: { content: "So " } }] });

describe("an answer that is no stream", () => {
  const model = () => openaiCompatible("m", { baseUrl: `${server.url}/v1` });

  it.each<[string, Answer, RegExp]>([
    [
      "a page",
      { sse: "<!doctype html><html><title>Welcome to nginx</title></html>" },
      /HTML page.*a web page, "Welcome to nginx"/,
    ],
    ["lines of JSON", { sse: '{"message":{"content":"Hi"}}\n{"done":true}\n' }, /lines of JSON/],
  ])("%s says which address gave what, and is not asked for again", async (_name, answer, says) => {
    const error = await failure(model(), answer);
    expect(error).toMatchObject({ code: "provider-failed", retryable: false });
    expect(error.message).toMatch(says);
    expect(error.message).toContain(server.url);
  });

  it.each<[string, Answer, RegExp, boolean]>([
    ["a page", { sse: "<html>", headers: { "content-type": "text/html" } }, /HTML page/, false],
    ["an error of another form", { json: { detail: "asleep" } }, /JSON came where a stream should/, true],
    ["a reply in one piece", { json: whole("Hi") }, /JSON came where a stream should/, true],
  ])(
    "%s is told by its kind through packages, which read it as no event",
    async (...[, answer, says, passes]) => {
      const openai = createOpenAI({ apiKey: "k", baseURL: `${server.url}/v1` });
      const error = await failure(aiSdk(openai.chat("gpt-4o")), answer);
      expect(error).toMatchObject({ code: "provider-failed", retryable: passes });
      expect(error.message).toMatch(says);
    },
  );

  it.each([
    ["with a message", event({ message: "engine died" }, "error")],
    ["with a text", event("engine died", "error")],
    ["with an error in it", event({ error: { message: "engine died" } }, "error")],
    ["as Google's list", event([{ error: { message: "engine died" } }])],
    ["as a field of the stream", `error: {"message":"engine died"}\n\n`],
  ])("an error event keeps its words: %s", async (_name, sse) => {
    const error = await failure(model(), { sse: begun + sse });
    expect(error).toMatchObject({ code: "provider-failed", retryable: true });
    expect(error.message).toContain("engine died");
  });

  it("an error in the stream has the code that it has as an answer", async () => {
    const overloaded = event({ error: { type: "overloaded_error", message: "Overloaded" } });
    expect(await failure(model(), { sse: begun + overloaded })).toMatchObject({ retryable: true });
    const long = event({ error: { code: "context_length_exceeded", message: "too long" } });
    expect((await failure(model(), { sse: long })).code).toBe("context-exceeded");
    const limited = event({ error: { code: "rate_limit_exceeded", message: "slow down" } });
    expect((await failure(model(), { sse: limited })).code).toBe("model-rate-limited");
  });

  it("an error object in a line of Ollama is told in its words", async () => {
    const line = '{"error":{"message":"runner stopped","code":500}}\n';
    const error = await failure(ollama("m", { host: server.url }), {
      sse: line,
      headers: { "content-type": "application/x-ndjson" },
    });
    expect(error.message).toContain("runner stopped");
  });
});

describe("a call that the provider could not read is the model's mistake", () => {
  const written = '<function=add>{"a": 1</function>';
  const failed = (more: object = {}) =>
    message("Failed to call a function. Please adjust your prompt.", {
      type: "invalid_request_error",
      code: "tool_use_failed",
      failed_generation: written,
      ...more,
    });
  const google = () => createGoogle({ apiKey: "k", baseURL: `${server.url}/v1beta` })("m");
  const filtered = { index: 0, delta: {}, finish_reason: "function_call_filter: MALFORMED_FUNCTION_CALL" };
  const malformed = { content: { parts: [], role: "model" }, finishReason: "MALFORMED_FUNCTION_CALL" };
  const ended = { content: { parts: [{ text: "Done." }], role: "model" }, finishReason: "STOP" };
  const refused: Answer = { status: 400, json: failed() };
  const streamed: Answer = { sse: begun + event(failed({ status_code: 400 })) };
  const compatible = () => openaiCompatible("m", { baseUrl: `${server.url}/v1` });
  const packaged = () => aiSdk(createOpenAICompatible({ name: "p", baseURL: `${server.url}/v1` })("m"));

  const own = () => ollama("m", { host: server.url });
  const raw = { error: `error parsing tool call: raw='{"a": 1,}', err=invalid character '}'` };
  const line = { message: { role: "assistant", content: "Done." }, done: true, done_reason: "stop" };
  const ofLine: Answer = {
    sse: `${JSON.stringify(line)}\n`,
    headers: { "content-type": "application/x-ndjson" },
  };
  const unparsed = message('Failed to parse input at pos 3: <tool_call>{"a"', {
    code: 500,
    type: "server_error",
  });

  it.each<[string, () => Model, readonly [Answer, Answer], string]>([
    ["Ollama", own, [{ status: 500, json: raw }, ofLine], '"content":"{\\"a\\": 1,}"'],
    [
      "llama.cpp",
      compatible,
      [{ status: 500, json: unparsed }, said("Done.")],
      '"content":"<tool_call>{\\"a\\""',
    ],
    ["Groq, as an answer", compatible, [refused, said("Done.")], "<function=add>"],
    ["Groq, in the stream", compatible, [streamed, said("Done.")], "<function=add>"],
    ["Groq, as an answer, AI SDK", packaged, [refused, said("Done.")], "<function=add>"],
    ["Groq, in the stream, AI SDK", packaged, [streamed, said("Done.")], "Failed to call a function"],
    [
      "Gemini's compatible door",
      compatible,
      [{ sse: event({ choices: [filtered] }) }, said("Done.")],
      "MALFORMED_FUNCTION_CALL",
    ],
    [
      "Gemini, AI SDK",
      () => aiSdk(google()),
      [{ sse: event({ candidates: [malformed] }) }, { sse: event({ candidates: [ended] }) }],
      "MALFORMED_FUNCTION_CALL",
    ],
  ])("%s goes back to the model", async (...[, model, answers, says]) => {
    server.play(...answers);
    server.requests.length = 0;
    const add = fakeTool("add", "2");
    const told: AgentEvent[] = [];
    const run = agent({ name: "a", model: model(), tools: [add], driver: "native" });
    const { text } = await run.run("Add", { onEvent: (each) => void told.push(each) });
    expect([text, add.calls.length, server.requests.length]).toEqual(["Done.", 0, 2]);
    const sent = server.requests[1]?.text;
    expect(sent).toContain("could not be read as a call");
    expect(sent).toContain(says);
    expect(told.filter(({ type }) => type === "retry-start")).toHaveLength(1);
  });

  it("ends the run as a broken protocol when the model goes on with it", async () => {
    server.play(refused);
    server.requests.length = 0;
    const run = agent({
      name: "a",
      model: compatible(),
      tools: [fakeTool("add", "2")],
      driver: "native",
    });
    const { outcome } = await run.run("Add");
    expect(outcome).toMatchObject({ type: "failed", code: "protocol-violated" });
    expect(server.requests).toHaveLength(4);
  });
});

describe("a fault of code, or of an address", () => {
  const packaged = (thrown: unknown): Model =>
    aiSdk({
      specificationVersion: "v3",
      provider: "p",
      modelId: "m",
      doStream: () => Promise.reject(thrown),
    });
  const thrownBy = (model: Model): Promise<unknown> => ask(model).catch((error: unknown) => error);

  it("is not asked for again where it is a mistake in a package, and is where the connection broke", async () => {
    const mistake = new TypeError("Cannot read properties of undefined (reading 'id')");
    expect(await thrownBy(packaged(mistake))).toMatchObject({ code: "provider-failed", retryable: false });
    const socket = Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" });
    const broken = new TypeError("terminated", { cause: socket });
    expect(await thrownBy(packaged(broken))).toMatchObject({ code: "provider-failed", retryable: true });
    for (const words of ["fetch failed", "the connection was broken off"])
      expect(await thrownBy(packaged(new TypeError(words)))).toMatchObject({ retryable: true });
  });

  it("is told of a page in place of a reply, through a package as well", async () => {
    server.play({ sse: "<html><title>Log in</title></html>", headers: { "content-type": "text/html" } });
    const error = await thrownBy(
      aiSdk(createOpenAICompatible({ name: "p", baseURL: `${server.url}/v1` })("m")),
    );
    expect(error).toMatchObject({ code: "provider-failed", retryable: false });
    expect((error as Error).message).toContain(`HTML page came where a reply should (from ${server.url}/v1)`);
  });

  it.each<[string, Answer, string]>([
    ["JSON", { json: { hello: 1 } }, "JSON came where a stream should (from URL)"],
    ["nothing", { sse: "" }, "nothing of a reply came (from URL)"],
    [
      "a page that says it is a stream",
      { sse: "<html><title>Log in</title></html>" },
      "nothing of a reply came (from URL)",
    ],
  ])("says through packages from where there came %s", async (_what, answer, says) => {
    const [baseURL, apiKey] = [`${server.url}/v1`, "key"];
    for (const model of [
      createOpenAI({ baseURL, apiKey }).chat("gpt-5"),
      createOpenAI({ baseURL, apiKey }).responses("gpt-5"),
      createMistral({ baseURL, apiKey })("m"),
    ]) {
      server.play(answer);
      const error = (await thrownBy(aiSdk(model))) as WritError;
      expect(error).toMatchObject({ code: "provider-failed", retryable: true });
      expect(error.message).toContain(says.replace("URL", baseURL));
    }
  });

  it.each([
    ["server_error", "The model broke.", { code: "provider-failed", retryable: true }],
    ["rate_limit_exceeded", "Slow down.", { code: "model-rate-limited", retryable: true }],
    ["context_length_exceeded", "Too long for it.", { code: "context-exceeded", retryable: false }],
  ])(
    "keeps the words of a response that failed, told in the fewest fields: %s",
    async (code, message, told) => {
      server.play({ sse: sse([{ type: "response.failed", response: { error: { code, message } } }]) });
      const model = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: "key" }).responses("gpt-5");
      const error = await thrownBy(aiSdk(model));
      expect(error).toMatchObject(told);
      expect((error as Error).message).toContain(message);
    },
  );

  it("says once how to start a server that nobody started", async () => {
    const gone = await playedServer();
    await gone.close();
    const error = (await thrownBy(ollama("m", { host: gone.url }))) as WritError;
    expect(error.code).toBe("provider-unreachable");
    expect(`${error.message} ${error.hint}`.match(/[Ss]tart it/g)).toHaveLength(1);
  });
});

const folder = "vercel-ai/packages";
const bodies = [
  ["google/src/__fixtures__", /^google-429-retry-info/, "model-rate-limited", 34_400],
  ["openai/src/responses/__fixtures__", /^openai-error\.1\.json/, "model-quota-exceeded", undefined],
  ["openai/src/responses/__fixtures__", /^reasoning-model-temperature-error/, "provider-failed", undefined],
  ["openai/src/chat/__fixtures__", /^reasoning-model-legacy-parameter-error/, "provider-failed", undefined],
] as const;
const recorded = bodies.flatMap(([path, name, code, waits]) =>
  recordingsIn(`${folder}/${path}`, name).map(({ name: file, sse }) => ({ file, sse, code, waits })),
);

describe.skipIf(recorded.length === 0)("recorded bodies of refusals", () => {
  it.each(recorded)("$file", async ({ sse, code, waits }) => {
    const status = code === "provider-failed" ? 400 : 429;
    for (const adapter of Object.values(adapters)) {
      const error = await failure(adapter(), { status, json: JSON.parse(sse) as unknown });
      expect([error.code, error.retryAfterMs, error.retryable]).toEqual([code, waits, waits !== undefined]);
    }
  });
});

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { a2aTool } from "../../../src/adapters/a2a/a2a.ts";
import { boundedFetch } from "../../../src/adapters/bounded-fetch.ts";
import { connectMcp } from "../../../src/adapters/mcp/tools.ts";
import { aiSdk } from "../../../src/adapters/model/ai-sdk.ts";
import { keyScrub } from "../../../src/adapters/model/without-keys.ts";
import { ollama, ollamaModels } from "../../../src/adapters/model/ollama.ts";
import { openaiCompatible } from "../../../src/adapters/model/openai-compatible.ts";
import { agent } from "../../../src/index.ts";
import type { Model } from "../../../src/model/model.ts";
import { scripted } from "../../../src/testing.ts";

afterEach(() => void vi.unstubAllEnvs());

const key = "sk-proj-very-secret-0815";
const said = `Incorrect API key: ${key}.`;
const lines = (...events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

const chat = lines(
  { id: "1", choices: [{ index: 0, delta: { role: "assistant", content: "Hi" } }] },
  { error: { message: said, code: key } },
);
const mistake = lines({ error: { message: said, code: "tool_use_failed", failed_generation: said } });
const responses = lines(
  { type: "response.created", response: { id: "r", created_at: 1, model: "m" } },
  { type: "response.failed", response: { id: "r", error: { message: said, code: "server_error" } } },
);
const anthropic = lines({ type: "error", error: { type: "authentication_error", message: said } });
const gemini = lines(
  { candidates: [{ content: { parts: [{ text: "Hi" }], role: "model" } }] },
  { error: { code: 400, message: said, status: "INVALID_ARGUMENT" } },
);
const ndjson = `${JSON.stringify({ message: { content: "Hi" }, done: false })}\n${JSON.stringify({ error: said })}\n`;
const refusal = JSON.stringify({ error: { message: said, code: key } });

const compatible = (url: string): Model => openaiCompatible("m", { baseUrl: url, apiKey: key });
const inQuery = (url: string): Model => openaiCompatible("m", { baseUrl: `${url}/v1?api-key=${key}` });
const ofOllama = (url: string): Model =>
  ollama("m", { host: url, headers: { authorization: `Bearer ${key}` } });
const ofOpenai = (url: string): Model => aiSdk(createOpenAI({ apiKey: key, baseURL: url })("m"));
const ofAnthropic = (url: string): Model => aiSdk(createAnthropic({ apiKey: key, baseURL: url })("m"));
const ofGoogle = (url: string): Model => aiSdk(createGoogleGenerativeAI({ apiKey: key, baseURL: url })("m"));
const ofAnother = (url: string): Model =>
  aiSdk(createOpenAICompatible({ name: "c", apiKey: key, baseURL: url })("m"));

describe("a server that repeats the key it was sent is told without it, in errors, causes and events", () => {
  it.each([
    ["openaiCompatible, in its stream", compatible, 200, chat],
    ["openaiCompatible, with the key in the query", inQuery, 400, refusal],
    ["openaiCompatible, in a call that it could not read", compatible, 200, mistake],
    ["openaiCompatible, as a text in place of a stream", compatible, 200, said],
    ["openaiCompatible, as JSON in place of a stream", compatible, 200, refusal],
    ["Ollama, in its stream", ofOllama, 200, ndjson],
    ["Ollama, as a text in place of a stream", ofOllama, 200, said],
    ["OpenAI's package, in its stream", ofOpenai, 200, responses],
    ["OpenAI's package, in a part of the stream that is not JSON", ofOpenai, 200, `data: ${said}\n\n`],
    ["OpenAI's package, in a refusal", ofOpenai, 401, refusal],
    ["Anthropic's package, in its stream", ofAnthropic, 200, anthropic],
    ["Anthropic's package, in a refusal", ofAnthropic, 401, refusal],
    ["Google's package, in its stream", ofGoogle, 200, gemini],
    ["Google's package, in a refusal", ofGoogle, 400, refusal],
    ["another package, in its stream", ofAnother, 200, chat],
    ["another package, in a call that it could not read", ofAnother, 200, mistake],
  ])("%s", async (_name, ...[model, status, body]) => {
    const url = await place(status, body);
    const events: unknown[] = [];
    const end: unknown = await agent({ name: "a", model: model(url), retry: false })
      .run("x", { onEvent: (event) => void events.push(event) })
      .catch((error: unknown) => error);
    const told = inspect([end, events], { depth: 20, showHidden: true });
    expect(told).not.toContain(key);
    expect(told).toContain("[key]");
  });

  it("a model made by name", async () => {
    vi.stubEnv("OPENAI_API_KEY", key);
    vi.stubEnv("OPENAI_BASE_URL", await place(200, responses));
    const run = agent({ name: "a", model: "openai/gpt-5-mini", retry: false }).run("x");
    const error: unknown = await run.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: expect.stringContaining("Incorrect API key: [key].") as string });
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(key);
  });

  it("the list of models of Ollama", async () => {
    const url = await place(200, said.replace(key, btoa("me:very-secret-0815")));
    const error: unknown = await ollamaModels(url.replace("//", "//me:very-secret-0815@")).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ message: expect.stringContaining("[key]") as string });
  });
});

describe("a server of tools, or an agent, that repeats the token it was sent is told without it", () => {
  const headers = { authorization: `Bearer ${key}` };

  it.each([400, 404])("an MCP server, with the status %s", async (status) => {
    const url = await place(status, said);
    const error: unknown = await connectMcp({ name: "notes", url, headers }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ message: expect.stringContaining("Incorrect API key: [key]") as string });
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(key);
  });

  it.each([
    { error: { code: -32000, message: said } },
    { result: { isError: true, content: [{ type: "text", text: said }] } },
  ])("an MCP server, in an answer with the status 200: %j", async (answer) => {
    const url = await mcpPlace((method) => (method === "tools/call" ? answer : undefined));
    await using server = await connectMcp({ name: "notes", url, headers, approve: "first-use" });
    const model = scripted([{ calls: [{ name: "notes/look", arguments: {} }] }, "Done."]);
    const { calls } = await agent({ name: "a", model, tools: server.tools }).run("x");
    expect(calls[0]).toMatchObject({ status: "error" });
    expect(inspect(calls, { depth: 20 })).not.toContain(key);
    expect(inspect(calls, { depth: 20 })).toContain("[key]");
  });

  it("an MCP server, in the answer to its first request", async () => {
    const url = await mcpPlace(() => ({ error: { code: -32000, message: said } }));
    const error: unknown = await connectMcp({ name: "notes", url, headers }).catch(
      (thrown: unknown) => thrown,
    );
    expect(inspect(error, { depth: 20, showHidden: true })).toContain("[key]");
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(key);
  });

  it("a server of sign-ins, whose refusal repeats a token of the form that it was sent", async () => {
    const url = await place(400, JSON.stringify({ error: "server_error", error_description: said }));
    const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: key });
    const response = await boundedFetch("http://mcp.example", {})(url, { method: "POST", body });
    expect(await response.text()).toContain("Incorrect API key: [key].");
  });

  it("an agent by A2A, in an answer with the status 200", async () => {
    const card = {
      supportedInterfaces: [{ url: "URL", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    };
    const url = await place(
      200,
      JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32000, message: said } }),
      card,
    );
    const travel = a2aTool({ name: "travel", url, description: "Finds trains", headers, effect: "read" });
    const model = scripted([{ calls: [{ name: "a2a/travel", arguments: { message: "Hi" } }] }, "Done."]);
    const { calls } = await agent({ name: "a", model, tools: [travel] }).run("x");
    expect(inspect(calls, { depth: 20 })).not.toContain(key);
    expect(inspect(calls, { depth: 20 })).toContain("[key]");
  });

  it("an agent by A2A", async () => {
    const card = {
      supportedInterfaces: [{ url: "URL", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    };
    const url = await place(400, said, card);
    const travel = a2aTool({ name: "travel", url, description: "Finds trains", headers, effect: "read" });
    const model = scripted([{ calls: [{ name: "a2a/travel", arguments: { message: "Hi" } }] }, "Done."]);
    const { calls } = await agent({ name: "a", model, tools: [travel] }).run("x");
    expect(calls[0]).toMatchObject({ status: "error" });
    expect(inspect(calls, { depth: 20 })).not.toContain(key);
    expect(inspect(calls, { depth: 20 })).toContain("[key]");
  });
});

it("an error without the key keeps its cause as it came", async () => {
  const url = await place(400, JSON.stringify({ error: { message: "no" } }));
  const run = agent({ name: "a", model: ofOpenai(url), retry: false }).run("x");
  const error: unknown = await run.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ cause: { name: "AI_APICallError", statusCode: 400 } });
});

/** A server that answers each request so; where it is an agent's, one for its card with that. */
async function place(status: number, body: string, card?: object): Promise<string> {
  const type = body.startsWith("data:") ? "text/event-stream" : "application/json";
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      if (card === undefined || request.method !== "GET")
        return response.writeHead(status, { "content-type": type }).end(body);
      const text = JSON.stringify(card).replace("URL", `http://${request.headers.host ?? ""}/`);
      return response.writeHead(200, { "content-type": "application/json" }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An MCP server with a tool; `answer` may give other answers than its own. */
async function mcpPlace(answer: (method: string) => object | undefined): Promise<string> {
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "notes", version: "1" },
    },
    "tools/list": { tools: [{ name: "look", inputSchema: { type: "object" } }] },
  };
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: unknown) => (text += String(chunk)));
    request.on("end", () => {
      const { id, method = "" } = JSON.parse(text || "{}") as { id?: number; method?: string };
      if (id === undefined) return response.writeHead(request.method === "GET" ? 405 : 202).end();
      const unknown = { error: { code: -32601, message: "no" } };
      const own = Object.hasOwn(results, method) ? { result: results[method] } : unknown;
      const body = { jsonrpc: "2.0", id, ...(answer(method) ?? own) };
      return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

it.each([
  ["authorization", "Bearer sk-live-1234", "[key]"],
  ["authorization", "Token sk-live-1234", "[key]"],
  ["Proxy-Authorization", "Basic bWU6c2VjcmV0", "[key]"],
  ["CLIENT_SECRET", "correct horse", "[key]"],
  ["x-goog-api-key", "sk-live-1234", "[key]"],
  ["cookie", "session=12345678", "[key]"],
  ["PGPASSWORD", "correct-horse", "[key]"],
  ["GITHUB_TOKENS", "sk-live-1234", "[key]"],
  ["x-author", "Ada-Lovelace", "Ada-Lovelace"],
  ["x-authority", "example.com", "example.com"],
  ["x-keyword", "calculus", "calculus"],
  ["tokenizer", "o200k_base", "o200k_base"],
])("of the header or variable %s: %s, a failure tells %s", (name, value, told) => {
  expect(keyScrub([[name, value]])(`It was ${value}.`)).toBe(`It was ${told}.`);
});

const keyNames =
  "accessKeyId AWS_SECRET_ACCESS_KEY sessionToken tokenValue authz X-Authz x-api-key apikey Ocp-Apim-Subscription-Key X-Amz-Signature X-Amz-Credential " +
  "X-Amz-Security-Token client_secret clientSecretValue client_assertion refreshTokens private_key_id privateKeyPem GITHUB_PAT SMTP_PASS dbPass MYSQL_PWD " +
  "pgpassword passwd SSH_PASSPHRASE SECRET_KEY_BASE sig id_token2 XSRFToken googleCredentials OAuth jwt accesskeyid XAPIKey";
const otherNames =
  "tokenCount token_limit max-token-count tokenType token_usage author X-Authority coauthors keyboard keywords keyspaceName tokenizer secretary PWD OLDPWD " +
  "compass bypass passenger x-request-id user-agent design signal patch path assertions-passed bearerless username organization";

it.each(keyNames.split(" "))("%s names a key", (name) => {
  expect(keyScrub([[name, "0815-0815"]])("It was 0815-0815.")).toBe("It was [key].");
});

it.each(otherNames.split(" "))("%s names no key", (name) => {
  expect(keyScrub([[name, "0815-0815"]])("It was 0815-0815.")).toBe("It was 0815-0815.");
});

it("the password in an address is a key, the address is none", () => {
  const scrub = keyScrub([["DATABASE_URL", "postgres://app:very-secret@db.example/app"]]);
  expect(scrub("No postgres://app:very-secret@db.example/app")).toBe(
    "No postgres://app:[key]@db.example/app",
  );
});

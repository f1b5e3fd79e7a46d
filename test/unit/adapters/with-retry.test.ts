import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { afterEach, describe, expect, it, vi } from "vitest";
import { agent } from "../../../src/index.ts";
import { type ModelRetry, withRetry } from "../../../src/models.ts";
import { ollama } from "../../../src/adapters/model/ollama.ts";
import { retryAfterMs } from "../../../src/adapters/model/retry-after.ts";
import { type OllamaServer, sendJson, startOllama } from "../../contract/ollama-server.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** An Ollama that is overloaded so many times, and answers then. */
async function busyOllama(times: number): Promise<OllamaServer> {
  let left = times;
  const server = await startOllama({
    chat(_request, response) {
      left -= 1;
      if (left >= 0) {
        response.setHeader("retry-after", "0.02");
        return sendJson(response, 503, { error: "server busy" });
      }
      const message = { role: "assistant", content: "Hello." };
      return void response.end(
        `${JSON.stringify({ model: "m", message, done: true, done_reason: "stop", prompt_eval_count: 3, eval_count: 2 })}\n`,
      );
    },
  });
  closing.push(server.close);
  return server;
}

describe("withRetry", () => {
  it("lets a run pass over an Ollama that is overloaded twice, in one turn [A10]", async () => {
    const server = await busyOllama(2);
    const told: ModelRetry[] = [];
    const model = withRetry(ollama("m", { host: server.url }), {
      firstDelayMs: 1,
      onRetry: (retry) => told.push(retry),
    });
    const result = await agent({ name: "greeter", model }).run("Hi");
    expect(result).toMatchObject({ text: "Hello.", turns: 1, usage: { inputTokens: 3, outputTokens: 2 } });
    expect(server.bodies).toHaveLength(3);
    expect(told.map(({ delayMs, error }) => [delayMs, error.code, error.retryAfterMs])).toEqual([
      [20, "provider-failed", 20],
      [20, "provider-failed", 20],
    ]);
  });

  it("fails with the provider's own error when it stays overloaded, and at once where nobody asks again [A10]", async () => {
    const server = await busyOllama(9);
    const plain = ollama("m", { host: server.url });
    const patient = agent({ name: "greeter", model: withRetry(plain, { attempts: 2, firstDelayMs: 1 }) });
    await expect(patient("Hi")).rejects.toMatchObject({ code: "provider-failed", message: /HTTP 503/ });
    expect(server.bodies).toHaveLength(2);
    await expect(agent({ name: "greeter", model: plain, retry: false })("Hi")).rejects.toThrow("HTTP 503");
    expect(server.bodies).toHaveLength(3);
  });

  it("knows what an AI SDK provider asks for, and does not wait that long", async () => {
    let requests = 0;
    const server = createServer((_request, response) => {
      requests += 1;
      response.writeHead(429, { "content-type": "application/json", "retry-after": "120" });
      response.end(JSON.stringify({ error: { message: "slow down" } }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() => new Promise((resolve) => server.close(() => resolve())));
    const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const model = withRetry(createOpenAICompatible({ name: "p", baseURL })("m"), { maxDelayMs: 5_000 });
    expect(model.id).toBe("p.chat/m");
    const asked = agent({ name: "greeter", model })("Hi");
    await expect(asked).rejects.toMatchObject({ code: "provider-failed", retryAfterMs: 120_000 });
    expect(requests).toBe(1);
  });

  it("keeps what is known of the model, and refuses what is no number of attempts or milliseconds", () => {
    const model = withRetry("ollama/m");
    expect([model.id, model.features.format, model.price?.({ inputTokens: 1, outputTokens: 1 })]).toEqual([
      "ollama/m",
      "schema",
      0,
    ]);
    for (const wrong of [
      { attempts: 0 },
      { attempts: 1.5 },
      { firstDelayMs: -1 },
      { maxDelayMs: Number.NaN },
    ])
      expect(() => withRetry("ollama/m", wrong)).toThrow(expect.objectContaining({ code: "option-invalid" }));
    expect(() => withRetry("nonsense")).toThrow(expect.objectContaining({ code: "model-name-invalid" }));
  });
});

describe("the wait that a provider asks for", () => {
  it.each([
    [{ "retry-after": "2" }, 2000],
    [{ "retry-after": "Sat, 21 Nov 2026 12:00:05 GMT" }, 5000],
    [{ "retry-after": "Sat, 21 Nov 2026 11:00:00 GMT" }, 0],
    [{ "retry-after-ms": "1500", "retry-after": "9" }, 1500],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "" }, undefined],
    [{}, undefined],
  ] as const)("in %j is %s ms", (headers: Record<string, string>, expected) => {
    vi.useFakeTimers({ now: Date.UTC(2026, 10, 21, 12) });
    expect(retryAfterMs((name) => headers[name])).toBe(expected);
  });
});

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { afterEach, describe, expect, it, vi } from "vitest";
import { agent } from "../../../src/index.ts";
import { type ModelRetry, withRetry } from "../../../src/models.ts";
import { ollama } from "../../../src/adapters/model/ollama.ts";
import { retryAfterMs } from "../../../src/adapters/model/http-reply.ts";
import { fakeOllama, fakeOpenai, type FakeProvider, type FakeStep } from "../../../src/testing.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** An Ollama that is overloaded so many times, and answers then. */
function busyOllama(times: number): Promise<FakeProvider> {
  const busy: FakeStep = { status: 503, retryAfter: 0.02 };
  const usage = { inputTokens: 3, outputTokens: 2 };
  return fakeOllama([...Array.from({ length: times }, () => busy), { text: "Hello.", usage }]);
}

describe("withRetry", () => {
  it("lets a run pass over an Ollama that is overloaded twice, in one turn [A10]", async () => {
    await using server = await busyOllama(2);
    const told: ModelRetry[] = [];
    const model = withRetry(ollama("m", { host: server.url }), {
      firstDelayMs: 1,
      onRetry: (retry) => told.push(retry),
    });
    const result = await agent({ name: "greeter", model }).run("Hi");
    expect(result).toMatchObject({ text: "Hello.", turns: 1, usage: { inputTokens: 3, outputTokens: 2 } });
    expect(server.requests).toHaveLength(3);
    expect(told.map(({ delayMs, error }) => [delayMs, error.code, error.retryAfterMs])).toEqual([
      [20, "provider-failed", 20],
      [20, "provider-failed", 20],
    ]);
  });

  it("fails with the provider's own error when it stays overloaded, and at once where nobody asks again [A10]", async () => {
    await using server = await busyOllama(9);
    const plain = ollama("m", { host: server.url });
    const patient = agent({ name: "greeter", model: withRetry(plain, { attempts: 2, firstDelayMs: 1 }) });
    await expect(patient("Hi")).rejects.toMatchObject({ code: "provider-failed", message: /HTTP 503/ });
    expect(server.requests).toHaveLength(2);
    await expect(agent({ name: "greeter", model: plain, retry: false })("Hi")).rejects.toThrow("HTTP 503");
    expect(server.requests).toHaveLength(3);
  });

  it("knows what an AI SDK provider asks for, and does not wait that long", async () => {
    await using server = await fakeOpenai([{ status: 429, retryAfter: 120 }]);
    const baseURL = `${server.url}/v1`;
    const model = withRetry(createOpenAICompatible({ name: "p", baseURL })("m"), { maxDelayMs: 5_000 });
    expect(model.id).toBe("p.chat/m");
    const asked = agent({ name: "greeter", model })("Hi");
    await expect(asked).rejects.toMatchObject({ code: "model-rate-limited", retryAfterMs: 120_000 });
    expect(server.requests).toHaveLength(1);
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
    expect(() => withRetry("nonsense" as never)).toThrow(
      expect.objectContaining({ code: "model-name-invalid" }),
    );
  });
});

describe("the wait that a provider asks for", () => {
  it.each([
    [{ "retry-after": "2" }, 2000],
    [{ "retry-after": "Sat, 21 Nov 2026 12:00:05 GMT" }, 5000],
    [{ "retry-after": "Sat, 21 Nov 2026 11:00:00 GMT" }, 0],
    [{ "retry-after-ms": "1500", "retry-after": "9" }, 1500],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": "5, 7" }, 5000],
    [{ "retry-after": "2026-11-21T12:00:05Z" }, 5000],
    [{ "retry-after": "-5" }, undefined],
    [{ "retry-after": "1 2" }, undefined],
    [{ "retry-after": "1e3" }, undefined],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "" }, undefined],
    [{}, undefined],
  ] as const)("in %j is %s ms", (headers: Record<string, string>, expected) => {
    vi.useFakeTimers({ now: Date.UTC(2026, 10, 21, 12) });
    expect(retryAfterMs((name) => headers[name])).toBe(expected);
  });
});

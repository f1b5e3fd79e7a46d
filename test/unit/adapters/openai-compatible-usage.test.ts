import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openaiCompatible } from "../../../src/adapters/model/openai-compatible.ts";
import type { Delta } from "../../../src/model/model.ts";
import { openaiChunk as chunk } from "../../contract/openai-wire.ts";
import { playedServer, type PlayedServer, sse } from "../../contract/played-server.ts";
import { endOf } from "../../contract/read-deltas.ts";
import { ask } from "./ask-openai.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
afterAll(() => server.close());

async function replied(events: readonly object[]): Promise<readonly Delta[]> {
  server.play({ sse: sse(events, true) });
  return ask(openaiCompatible("m", { baseUrl: `${server.url}/v1` }));
}

describe("the tokens that a server counts", () => {
  it("counts what came from a cache and what was reasoned, and nothing that is no number", async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: "many",
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
    };
    const deltas = await replied([chunk({ content: "x" }), chunk({}, "stop"), { choices: [], usage }]);
    expect(endOf(deltas)).toMatchObject({
      usage: { inputTokens: 10, cachedInputTokens: 4, reasoningTokens: 2 },
      response: { id: "chatcmpl-1", model: "test-model" },
    });
    expect(endOf(deltas)?.usage).not.toHaveProperty("outputTokens");
  });

  it("counts what Groq counts in a field of its own", async () => {
    const x_groq = { id: "req_1", usage: { prompt_tokens: 7, completion_tokens: 2 } };
    const deltas = await replied([chunk({ content: "x" }), { ...chunk({}, "stop"), x_groq }]);
    expect(endOf(deltas)).toMatchObject({ usage: { inputTokens: 7, outputTokens: 2 } });
  });

  it("counts what Moonshot counts in the choice that ends the reply", async () => {
    const end = {
      index: 0,
      delta: {},
      finish_reason: "stop",
      usage: { prompt_tokens: 19, completion_tokens: 13 },
    };
    const deltas = await replied([chunk({ content: "x" }), { ...chunk({}), choices: [end] }]);
    expect(endOf(deltas)).toMatchObject({ usage: { inputTokens: 19, outputTokens: 13 } });
  });

  it.each<[string, object, object]>([
    [
      "OpenAI and OpenRouter",
      { prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 } },
      { cacheWriteTokens: 3 },
    ],
    ["DeepSeek", { prompt_cache_hit_tokens: 4 }, {}],
    ["Moonshot", { cached_tokens: 4 }, {}],
    ["Mistral", { num_cached_tokens: 4 }, {}],
    [
      "LiteLLM, as Anthropic does",
      { cache_read_input_tokens: 4, cache_creation_input_tokens: 3 },
      { cacheWriteTokens: 3 },
    ],
    [
      "Alibaba",
      { prompt_tokens_details: { cached_tokens: 4, cache_creation_input_tokens: 3 } },
      { cacheWriteTokens: 3 },
    ],
    [
      "LiteLLM in its details",
      { prompt_tokens_details: { cached_tokens: 4, cache_creation_tokens: 3 } },
      { cacheWriteTokens: 3 },
    ],
  ])(
    "counts what came from a cache, and went into it, by the name that %s gives it",
    async (_who, cached, more) => {
      const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, ...cached };
      const deltas = await replied([chunk({ content: "x" }), chunk({}, "stop"), { choices: [], usage }]);
      expect(endOf(deltas)?.usage).toEqual({
        inputTokens: 10,
        outputTokens: 2,
        cachedInputTokens: 4,
        ...more,
      });
    },
  );

  it("counts what went into a cache as input, where a server leaves that out", async () => {
    const usage = {
      prompt_tokens: 31,
      completion_tokens: 467,
      total_tokens: 498,
      cache_creation_input_tokens: 1253,
      cache_read_input_tokens: 0,
    };
    const deltas = await replied([chunk({ content: "x" }), chunk({}, "stop"), { choices: [], usage }]);
    expect(endOf(deltas)?.usage).toMatchObject({ inputTokens: 1284, outputTokens: 467 });
  });

  it.each<[string, object, number]>([
    [
      "xAI, beside the others",
      {
        prompt_tokens: 12,
        completion_tokens: 2,
        total_tokens: 354,
        completion_tokens_details: { reasoning_tokens: 340 },
      },
      342,
    ],
    ["Gemini, in the total alone", { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 }, 603],
    ["OpenAI, among the others", { prompt_tokens: 12, completion_tokens: 342, total_tokens: 354 }, 342],
    ["nobody, with a total that cannot be", { prompt_tokens: 12, completion_tokens: 5, total_tokens: 3 }, 5],
    [
      "nobody, with a total that is no number",
      { prompt_tokens: 12, completion_tokens: 5, total_tokens: "17" },
      5,
    ],
  ])("counts what was thought as written, where it is told by %s", async (_who, usage, outputTokens) => {
    const deltas = await replied([chunk({ content: "x" }), chunk({}, "stop"), { choices: [], usage }]);
    expect(endOf(deltas)?.usage).toMatchObject({ outputTokens });
  });
});

import { createOpenAI } from "@ai-sdk/openai";
import { describe, expect, it } from "vitest";
import { openaiCompatible } from "../../../src/adapters/model/openai-compatible.ts";
import { agent, budgets, type ModelSource } from "../../../src/index.ts";
import { account, inMemoryAccounts } from "../../../src/policy.ts";
import { type FakeStep, fakeOpenai, fakeTool } from "../../../src/testing.ts";

const calls = [{ name: "look" }];

/** The texts of providers, each for a request of 100 000 tokens at most. */
const texts = {
  OpenAI:
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.",
  responses:
    "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16384, but got 100000 instead.",
  vLLM: "'max_tokens' or 'max_completion_tokens' is too large: 100000. This model's maximum context length is 8192 tokens and your request has 50 input tokens (100000 > 8192 - 50).",
  "vLLM, earlier":
    "This model's maximum context length is 8192 tokens. However, you requested 100050 tokens (50 in the messages, 100000 in the completion). Please reduce the length of the messages or completion.",
  OpenRouter:
    "This endpoint's maximum context length is 65536 tokens. However, you requested about 100050 tokens (50 of text input, 100000 in the output). Please reduce the length of either one.",
  Anthropic:
    "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022",
  Gemini:
    "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive).",
  Groq: "`max_tokens` must be less than or equal to `32768`, the maximum value for `max_tokens` is less than the `context_window` for this model",
  DeepSeek: "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
  Alibaba: "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]",
  Cohere:
    "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - received 100000.",
  Together:
    "`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 50 `inputs` tokens and 100000 `max_new_tokens`",
};

/** A provider whose model writes 8192 tokens at most, and the bounds of the requests that came to it. */
function provider(message: string, most = 8192) {
  const bounds: unknown[] = [];
  const step: FakeStep = ({ body }) => {
    const bound = body["max_tokens"] ?? body["max_completion_tokens"] ?? body["max_output_tokens"];
    bounds.push(bound);
    if (typeof bound === "number" && bound > most) return { status: 400, message };
    return bounds.length < 4 ? { calls } : "done";
  };
  return { bounds, step };
}

const asking = (model: ModelSource) => agent({ name: "a", model, tools: [fakeTool("look", "seen")] });

describe("a bound of a reply that is more than the model can write", () => {
  it.each(Object.entries(texts))("is left out where the provider says so: %s", async (_, message) => {
    const { bounds, step } = provider(message);
    await using openai = await fakeOpenai([step]);
    const model = openaiCompatible("m", { baseUrl: `${openai.url}/v1`, fetch: openai.fetch });
    const run = await asking(model).with({ budget: budgets.background }).run("go");
    expect(run.outcome).toMatchObject({ type: "answered" });
    expect(bounds).toEqual([100_000, undefined, undefined, undefined]); // the model object remembers
  });

  it("is left out for models of the AI SDK, and for the bound of an account", async () => {
    const { bounds, step } = provider(texts.OpenAI, 1000);
    await using openai = await fakeOpenai([step]);
    const model = createOpenAI({ baseURL: `${openai.url}/v1`, apiKey: "none" }).chat("gpt-4o");
    const kim = account({ store: inMemoryAccounts(), key: "kim", limits: { tokens: 1_000_000 } });
    expect(await asking(model).run("go", { account: kim })).toMatchObject({ outcome: { type: "answered" } });
    expect(bounds).toEqual([4096, undefined, undefined, undefined]);
  });

  it("stays where it is smaller than one that was refused", async () => {
    const { bounds, step } = provider(texts.OpenAI);
    await using openai = await fakeOpenai([step]);
    const model = openaiCompatible("m", { baseUrl: `${openai.url}/v1`, fetch: openai.fetch });
    await asking(model)
      .with({ budget: { tokens: 50_000 } })
      .run("go");
    await asking(model)
      .with({ settings: { maxOutputTokens: 700 } })
      .run("go");
    expect(bounds.at(-1)).toBe(700);
  });

  it("does not hide another refusal, nor one that stays", async () => {
    const refusing = async (message: string) => {
      await using openai = await fakeOpenai([{ status: 400, message }]);
      const model = openaiCompatible("m", { baseUrl: `${openai.url}/v1`, fetch: openai.fetch });
      const run = asking(model).with({ budget: budgets.background }).run("go");
      await expect(run).rejects.toMatchObject({ data: { reason: expect.stringContaining(message) } });
      return openai.requests.length;
    };
    expect(await refusing("Invalid value: temperature is at most 1.")).toBe(1);
    expect(await refusing(texts.OpenAI)).toBe(2);
  });
});

import { describe, expect, it, onTestFinished } from "vitest";
import { aiSdk, type AiSdkModel } from "../../../src/adapters/model/ai-sdk.ts";
import { chat } from "../../../src/doors.ts";
import { agent } from "../../../src/index.ts";

/** A model object that streams these parts. */
function streaming(parts: readonly object[]): AiSdkModel {
  const doStream = (): Promise<{ stream: ReadableStream<unknown> }> =>
    Promise.resolve({ stream: ReadableStream.from(parts) });
  return { specificationVersion: "v4", provider: "by.hand", modelId: "m", doStream };
}

describe("the words of a provider beside its reply", () => {
  const said = [
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "Hm." },
    { type: "text-end", id: "t" },
  ];
  const usage = {
    inputTokens: { total: 10, noCache: 1, cacheRead: 2, cacheWrite: 7 },
    outputTokens: { total: 1 },
  };
  const finish = {
    type: "finish",
    usage,
    finishReason: { unified: "other", raw: "LANGUAGE" },
    providerMetadata: { p: { logprobs: [-0.5], none: undefined } },
  };

  it("stand in the response: its own reason for the end, and the metadata of the whole", async () => {
    const model = streaming([...said, finish]);
    const { response, finishReason } = await chat({ model: aiSdk(model), messages: "x" });
    expect(finishReason).toBe("other");
    expect(response).toEqual({ finishReason: "LANGUAGE", metadata: { p: { logprobs: [-0.5] } } });
  });

  it("stand in the event of the reply", async () => {
    const told: unknown[] = [];
    const model = streaming([{ type: "response-metadata", id: "r1", modelId: "m-1" }, ...said, finish]);
    await agent({ name: "a", model }).run("x", {
      onEvent: (event) => void (event.type === "message-end" && told.push(event.response)),
    });
    const metadata = { p: { logprobs: [-0.5] } };
    expect(told).toEqual([{ id: "r1", model: "m-1", finishReason: "LANGUAGE", metadata }]);
  });

  it("tell a price what was read from the cache and what was written into it", async () => {
    const seen: unknown[] = [];
    const price = (used: unknown): number => {
      seen.push(used);
      return 0;
    };
    const model = streaming([...said, finish]);
    const result = await agent({ name: "a", model: aiSdk(model, { price }) }).run("x");
    const counted = { inputTokens: 10, outputTokens: 1, cachedInputTokens: 2, cacheWriteTokens: 7 };
    expect(seen).toEqual([counted]);
    expect(result.usage).toEqual(counted);
  });

  it.each(["anthropic.messages", "vertex.anthropic.messages", "amazon-bedrock"])(
    "are input, and tokens of the cache too, which the packages of V2 leave out of it (%s)",
    async (provider) => {
      const counted = { inputTokens: 10, outputTokens: 1, totalTokens: 11, cachedInputTokens: 2_000 };
      const providerMetadata = {
        anthropic: provider === "amazon-bedrock" ? {} : { cacheCreationInputTokens: 700 },
        bedrock: { usage: { cacheWriteInputTokens: 700 } },
      };
      const end = { type: "finish", finishReason: "stop", usage: counted, providerMetadata };
      const model: AiSdkModel = { ...streaming([...said, end]), specificationVersion: "v2", provider };
      const { usage: told } = await chat({ model: aiSdk(model), messages: "x" });
      expect(told).toEqual({
        inputTokens: 2_710,
        outputTokens: 1,
        cachedInputTokens: 2_000,
        cacheWriteTokens: 700,
      });
    },
  );

  it("are told once where they are warnings", async () => {
    const told: Error[] = [];
    const note = (warning: Error): void => void told.push(warning);
    process.on("warning", note);
    onTestFinished(() => void process.off("warning", note));
    const warnings = [
      { type: "unsupported", feature: "topK", details: "this model has no top k" },
      { type: "unsupported-setting", setting: "seed" },
      { type: "other", message: "so be it" },
      "no warning",
    ];
    const model = streaming([{ type: "stream-start", warnings }, ...said, finish]);
    await chat({ model: aiSdk(model), messages: "x" });
    await chat({ model: aiSdk(model), messages: "x" });
    const doGenerate = (): Promise<object> =>
      Promise.resolve({ content: [], finishReason: "stop", warnings: [{ type: "other", message: "whole" }] });
    await chat({ model: aiSdk({ ...streaming([]), doStream: undefined, doGenerate }), messages: "x" });
    await new Promise(setImmediate);
    expect(told.map(({ message }) => message.replace(/^[^:]*: /, ""))).toEqual([
      "unsupported topK: this model has no top k",
      "unsupported-setting seed",
      "so be it",
      "whole",
    ]);
    expect(told[0]).toMatchObject({ code: "WRIT_PROVIDER_WARNING" });
  });
});

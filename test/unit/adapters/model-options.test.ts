import { createOpenAI } from "@ai-sdk/openai";
import { describe, expect, it } from "vitest";
import { aiSdk } from "../../../src/adapters/model/ai-sdk.ts";
import { llamaCpp } from "../../../src/adapters/model/llama-cpp.ts";
import { ollama } from "../../../src/adapters/model/ollama.ts";
import { openaiCompatible } from "../../../src/adapters/model/openai-compatible.ts";
import { modelFromFunction } from "../../../src/models.ts";
import { scripted } from "../../../src/testing.ts";

const baseUrl = "http://127.0.0.1:9/v1";
const openai = createOpenAI({ apiKey: "key" })("gpt-5");
/** Models as JavaScript makes them, with whatever it likes. */
const makers: Readonly<Record<string, (options: object) => unknown>> = {
  aiSdk: (options) => aiSdk(openai, options),
  openaiCompatible: (options) => openaiCompatible("m", { baseUrl, ...options }),
  ollama: (options) => ollama("m", options),
  llamaCpp: (options) => llamaCpp("smollm2-135m", options),
  scripted: (options) => scripted(["Hi"], options),
  modelFromFunction: (options) => modelFromFunction(() => "Hi", options),
};
const wrong: Readonly<Record<string, readonly object[]>> = {
  aiSdk: [
    { price: "free" },
    { settings: { temprature: 0 } },
    { boundTools: { bash: "bash_20250124" } },
    { providerTools: [] },
    { cache: "no" },
    { features: { tools: "no" } },
  ],
  openaiCompatible: [
    { baseUrl: 8080 },
    { apiKey: 7 },
    { headers: { "x-key": 7 } },
    { fetch: "fetch" },
    { price: "free" },
    { doneEnds: "yes" },
    { settings: { maxTokens: 100 } },
    { features: { tool: false } },
  ],
  ollama: [{ temperature: "0" }, { think: "a bit" }, { keepAlive: true }, { warn: true }],
  llamaCpp: [{ temperature: "0" }, { gpu: "yes" }, { template: {} }],
  scripted: [{ features: { tools: "no" } }],
  modelFromFunction: [{ features: { format: "json" } }],
};

describe("options of a model", () => {
  const cases = Object.entries(wrong).flatMap(([maker, options]) =>
    options.map((given) => [maker, given] as const),
  );
  it.each(cases)("%s refuses %j", (maker, given) => {
    const [option = ""] = Object.keys(given);
    expect(() => makers[maker]?.(given)).toThrow(
      expect.objectContaining({
        code: "definition-invalid",
        message: expect.stringContaining(`${maker}(): \`${option}`) as string,
      }),
    );
  });

  it.each([{ finishReason: "done" }, { usage: 12 }])("a script refuses a reply with %j", (reply) => {
    expect(() => Reflect.apply(scripted, undefined, [[{ text: "Hi", ...reply }]])).toThrow(
      expect.objectContaining({ code: "definition-invalid" }),
    );
  });

  it("names an option of aiSdk() that there is not", () => {
    expect(() => makers["aiSdk"]?.({ systemOption: {} })).toThrow(
      expect.objectContaining({
        code: "option-invalid",
        hint: expect.stringContaining('did you mean "systemOptions"?') as string,
      }),
    );
  });
});

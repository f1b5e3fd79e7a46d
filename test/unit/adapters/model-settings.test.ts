import { describe, expect, it, vi } from "vitest";
import { aiSdk } from "../../../src/adapters/model/ai-sdk.ts";
import { llamaCpp } from "../../../src/adapters/model/llama-cpp.ts";
import { ollama } from "../../../src/adapters/model/ollama.ts";
import { openaiCompatible } from "../../../src/adapters/model/openai-compatible.ts";
import { withRetry } from "../../../src/adapters/with-retry.ts";

describe("the settings of a model", () => {
  it("can be read back as data, with the defaults of the page: localhost, 11434, 0.7 [A2.1]", () => {
    vi.stubEnv("OLLAMA_HOST", undefined);
    const { settings } = ollama("qwen2.5:7b");
    expect(settings).toEqual({
      provider: "ollama",
      name: "qwen2.5:7b",
      host: "localhost",
      port: 11_434,
      temperature: 0.7,
    });
    expect(JSON.parse(JSON.stringify(settings))).toEqual(settings);
    vi.unstubAllEnvs();
  });

  it("are those that were given, and make the same model again [A2.2]", () => {
    const given = { host: "gpu-box", port: 1234, temperature: 0.1, topP: 0.9, stopSequences: ["END"] };
    const { settings = {} } = ollama("m", given);
    expect(settings).toEqual({ provider: "ollama", name: "m", ...given });
    const { name, provider: _, ...options } = settings;
    expect(ollama(name as string, options).settings).toEqual(settings);
    expect(ollama("m", { host: "https://models.example" }).settings).toMatchObject({
      host: "models.example",
      port: 443,
    });
  });

  it("hold no key, no header and no function, and cannot be changed [A8, A2.1]", () => {
    const secret = "sk-very-secret";
    const models = [
      ollama("m", {
        host: `http://me:${secret}@box`,
        headers: { authorization: secret },
        fetch,
        warn: () => undefined,
      }),
      openaiCompatible("m", {
        baseUrl: "http://127.0.0.1:8080/v1",
        apiKey: secret,
        headers: { "x-key": secret },
        fetch,
      }),
    ];
    for (const { settings } of models) expect(JSON.stringify(settings)).not.toContain(secret);
    const { settings } = openaiCompatible("m", {
      baseUrl: "http://a.example/v1",
      settings: { stopSequences: ["x"] },
    });
    expect(settings).toEqual({
      provider: "openai-compatible",
      name: "m",
      baseUrl: "http://a.example/v1",
      stopSequences: ["x"],
    });
    expect(Object.isFrozen(settings) && Object.isFrozen(settings?.["stopSequences"])).toBe(true);
  });

  it("are told by every adapter, and through a model that is asked again [A2.1]", () => {
    const object = {
      specificationVersion: "v3",
      provider: "acme",
      modelId: "big",
      doGenerate: () => Promise.resolve({}),
    };
    expect(aiSdk(object, { settings: { temperature: 0 } }).settings).toEqual({
      provider: "acme",
      name: "big",
      temperature: 0,
    });
    expect(llamaCpp("/models/tiny.gguf", { seed: 7, temperature: 0.2 }).settings).toMatchObject({
      provider: "llama-cpp",
      name: "tiny",
      path: "/models/tiny.gguf",
      seed: 7,
      temperature: 0.2,
    });
    expect(withRetry(ollama("m", { temperature: 0 })).settings).toMatchObject({ name: "m", temperature: 0 });
  });
});

import { afterEach, describe, expect, it, vi } from "vitest";
import type { AiSdkModel } from "../../../src/adapters/model/ai-sdk.ts";
import { hostedProviders } from "../../../src/adapters/model/providers.ts";
import { importInstalled, whereInstalled } from "../../../src/adapters/peer.ts";
import { agent, isWritError, type WritError } from "../../../src/index.ts";
import { listPrice, modelNamed } from "../../../src/models.ts";
import { fakeAnthropic, fakeOpenai, fakeTool } from "../../../src/testing.ts";

const secret = "sk-never-shown";

async function errorOf(promise: Promise<unknown>): Promise<WritError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isWritError(error)) throw new Error("no WritError was thrown");
  return error;
}

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

describe("the model of a hosted provider, by name", () => {
  it("is asked through the provider's own package where the project has it", async () => {
    await using openai = await fakeOpenai([{ calls: [{ name: "add", arguments: {} }] }, "8"]);
    vi.stubEnv("OPENAI_API_KEY", secret);
    vi.stubEnv("OPENAI_BASE_URL", `${openai.url}/v1`);
    const add = fakeTool("add", 8);
    const calculator = agent({ name: "calculator", model: "openai/gpt-5", tools: [add] });
    expect(calculator.modelId).toBe("openai/gpt-5");
    expect(await calculator("3 + 5?")).toBe("8");
    expect(add.calls).toHaveLength(1);
    expect(openai.requests.map(({ path }) => path)).toEqual(["/v1/responses", "/v1/responses"]);
  });

  it.each(["openai/gpt-5", "anthropic/claude-sonnet-4-5"] as const)(
    "names the variable whose address it cannot take, asked for %s",
    async (model) => {
      const variable = model.replace(/\/.*/, "").toUpperCase();
      vi.stubEnv(`${variable}_API_KEY`, secret);
      vi.stubEnv(`${variable}_BASE_URL`, "localhost:4000/v1");
      const error = await errorOf(agent({ name: "a", model })("Hi"));
      expect([error.code, error.data]).toMatchObject(["option-invalid", { option: `${variable}_BASE_URL` }]);
    },
  );

  it("may be another provider's, in its own API", async () => {
    await using anthropic = await fakeAnthropic(["Hello."]);
    vi.stubEnv("ANTHROPIC_API_KEY", secret);
    vi.stubEnv("ANTHROPIC_BASE_URL", `${anthropic.url}/v1`);
    expect(await agent({ name: "greeter", model: "anthropic/claude-sonnet-4-5" })("Hi")).toBe("Hello.");
  });

  it("is asked at the provider's OpenAI-compatible address where its package is absent, with its key", async () => {
    await using fake = await fakeOpenai(["Hello."]);
    const sent: [address: string, authorization: string | null][] = [];
    vi.stubGlobal("fetch", (url: URL | string, init: RequestInit) => {
      sent.push([String(url), new Headers(init.headers).get("authorization")]);
      return fake.fetch(url, init);
    });
    vi.stubEnv("TOGETHER_API_KEY", secret);
    vi.stubEnv("OPENAI_API_KEY", "another");
    expect(whereInstalled("@ai-sdk/togetherai")).toBeUndefined();
    expect(await agent({ name: "greeter", model: "together/meta-llama/Llama-3.3-70B" })("Hi")).toBe("Hello.");
    expect(sent).toEqual([["https://api.together.xyz/v1/chat/completions", `Bearer ${secret}`]]);
  });

  it.each([
    ["openai/gpt-5", "OPENAI"],
    ["anthropic/claude-sonnet-4-5", "ANTHROPIC"],
  ] as const)(
    "%s follows no redirect to another server, through its package either",
    async (model, variable) => {
      await using other = await fakeOpenai(["stolen"]);
      const asked: string[] = [];
      const send = fetch;
      vi.stubGlobal("fetch", (url: URL | string, init: RequestInit) => {
        asked.push(String(url));
        if (String(url).startsWith(other.url)) return send(url, init);
        if (init.redirect !== "manual") return send(`${other.url}/v1/responses`, init);
        return Promise.resolve(new Response(null, { status: 307, headers: { location: other.url } }));
      });
      vi.stubEnv(`${variable}_API_KEY`, secret);
      vi.stubEnv(`${variable}_BASE_URL`, "http://provider.test/v1");
      const error = await errorOf(agent({ name: "a", model })("Hi"));
      expect([error.code, asked.length, other.requests.length]).toEqual(["provider-redirected", 1, 0]);
    },
  );

  it.each(["openai/gpt-5", "together/llama"] as const)(
    "asks nobody with a key for %s that no header takes",
    async (model) => {
      vi.stubEnv("OPENAI_API_KEY", `${secret}\nother`);
      vi.stubEnv("TOGETHER_API_KEY", `${secret}…`);
      const error = await errorOf(agent({ name: "a", model })("Hi"));
      expect(error.code).toBe("option-invalid");
      expect(`${String(error)} ${error.hint} ${String(error.cause)}`).not.toContain(secret);
    },
  );

  it("asks nobody without a key, and says which variable it looked for and which package there is", async () => {
    for (const key of ["OPENAI_API_KEY", "TOGETHER_API_KEY", "TOGETHER_AI_API_KEY"]) vi.stubEnv(key, "");
    const absent = await errorOf(agent({ name: "a", model: "together/llama" })("Hi"));
    expect([absent.code, absent.message]).toEqual([
      "model-key-missing",
      'There is no key for the model "together/llama": TOGETHER_API_KEY (or TOGETHER_AI_API_KEY) is not set.',
    ]);
    expect(absent.hint).toBe(
      "Set TOGETHER_API_KEY to the key. Requests go to https://api.together.xyz/v1, or through @ai-sdk/togetherai where it is installed: npm i @ai-sdk/togetherai",
    );
    const present = await errorOf(agent({ name: "a", model: "openai/gpt-5" })("Hi"));
    expect(present.hint).toContain("Requests go through the installed package @ai-sdk/openai.");
  });

  it("never shows its key", async () => {
    await using openai = await fakeOpenai([{ status: 401 }]);
    vi.stubEnv("OPENAI_API_KEY", secret);
    vi.stubEnv("OPENAI_BASE_URL", `${openai.url}/v1`);
    const model = modelNamed("openai/gpt-5");
    const error = await errorOf(agent({ name: "a", model })("Hi"));
    expect(error.code).toBe("provider-refused-key");
    expect(error.hint).toBe(
      'Check the key in OPENAI_API_KEY, or the `apiKey` of the AI SDK provider "openai.responses" where one was given.',
    );
    const shown = [error.message, error.hint, error.data, model.settings, model.endpoint];
    expect(JSON.stringify(shown)).not.toContain(secret);
  });

  it.each([401, 403])(
    "names the variable with the key that was refused, whichever it was (%i)",
    async (status) => {
      vi.stubEnv("GOOGLE_GENERATIVE_AI_API_KEY", "");
      vi.stubEnv("GEMINI_API_KEY", secret);
      vi.stubEnv("TOGETHER_API_KEY", secret);
      vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ error: { message: "no" } }, { status })));
      const packaged = await errorOf(agent({ name: "a", model: "google/gemini-2.5-flash" })("Hi"));
      expect([packaged.code, packaged.hint]).toEqual([
        "provider-refused-key",
        'Check the key in GEMINI_API_KEY, or the `apiKey` of the AI SDK provider "google.generative-ai" where one was given.',
      ]);
      const addressed = await errorOf(agent({ name: "a", model: "together/llama" })("Hi"));
      expect([addressed.code, addressed.hint]).toEqual([
        "provider-refused-key",
        "Check the key in `apiKey` of the model, or TOGETHER_API_KEY for a model named together/…",
      ]);
    },
  );

  it("says which package to install for a provider that has no such address", () => {
    expect(() => agent({ name: "a", model: "perplexity/sonar" })).toThrow(
      expect.objectContaining({ code: "peer-missing", hint: "Install it: npm i @ai-sdk/perplexity" }),
    );
  });

  it("is refused for a provider that nobody knows, with the one that was meant", () => {
    expect(() => modelNamed("opnai/gpt-5")).toThrow(
      expect.objectContaining({
        code: "model-name-invalid",
        message: '"opnai/gpt-5" does not name a model; did you mean "openai"?',
      }),
    );
    for (const alone of ["openai", "openai/"])
      expect(() => modelNamed(alone)).toThrow(
        `"${alone}" does not name a model: it is a provider alone; write "openai/" and the name of the model.`,
      );
    expect(() => modelNamed("my-model")).toThrow('"my-model" does not name a model.');
    for (const named of [
      "openai/gpt-5",
      "openai/o3",
      "anthropic/claude-sonnet-4-5",
      "google/gemini-2.5-pro",
      "ollama/qwen2.5:7b",
    ]) {
      const name = named.slice(named.indexOf("/") + 1);
      expect(() => modelNamed(name)).toThrow(`"${name}" does not name a model; did you mean "${named}"?`);
    }
  });

  it("finds in each package the function that makes its provider", async () => {
    const installed = Object.values(hostedProviders).filter(
      (one) => whereInstalled(one.package) !== undefined,
    );
    expect(installed.length).toBeGreaterThan(6);
    for (const { package: name, factory } of installed)
      expect(await importInstalled<object>(name), name).toHaveProperty(factory);
  });

  it.each(Object.entries(hostedProviders).filter(([, one]) => whereInstalled(one.package) !== undefined))(
    "has the address of %s where its package sends requests",
    async (name, { package: from, factory, baseUrl }) => {
      const asked: string[] = [];
      const send = (url: unknown): Promise<Response> => {
        asked.push(String(url));
        return Promise.resolve(Response.json({ error: { message: "no" } }, { status: 401 }));
      };
      const library =
        await importInstalled<Record<string, (options: object) => (id: string) => AiSdkModel>>(from);
      const made = library[factory]?.({ apiKey: "key", fetch: send })("some-model");
      await expect(agent({ name: "a", model: made as never, retry: false }).run("x")).rejects.toThrow();
      const { origin } = new URL(asked[0] ?? "");
      expect(origin).toBe(new URL(baseUrl ?? origin).origin);
      if (["mistral", "groq", "openrouter"].includes(name))
        expect(asked).toEqual([`${baseUrl}/chat/completions`]);
    },
  );
});

describe("list prices", () => {
  const million = { inputTokens: 1_000_000, outputTokens: 0 };

  it("are those of the table, less for what a cache gave and more for what it kept", () => {
    const price = listPrice("anthropic/claude-haiku-4-5");
    const whole = price?.(million) ?? 0;
    expect(whole).toBeGreaterThan(0);
    expect(price?.({ ...million, cachedInputTokens: 1_000_000 })).toBeLessThan(whole);
    expect(price?.({ ...million, cacheWriteTokens: 1_000_000 })).toBeGreaterThan(whole);
    expect(price?.({ ...million, cachedInputTokens: 9_000_000 })).toBeGreaterThan(0);
  });

  it("are unknown for a model that the table does not have, and then a bound in dollars is refused", () => {
    expect(listPrice("openai/nobody-knows-it")).toBeUndefined();
    expect(listPrice("ollama/qwen")).toBeUndefined();
    const define = () => agent({ name: "a", model: "openai/nobody-knows-it", budget: { costUsd: 1 } });
    expect(define).toThrow(expect.objectContaining({ code: "budget-without-price" }));
  });

  it("count in a run by name", async () => {
    await using openai = await fakeOpenai([
      { text: "Hello.", usage: { inputTokens: 1_000, outputTokens: 100 } },
    ]);
    vi.stubEnv("OPENAI_API_KEY", secret);
    vi.stubGlobal("fetch", openai.fetch);
    const costs: (number | undefined)[] = [];
    await agent({ name: "a", model: "openai/gpt-4o", budget: { costUsd: 1 } }).run("Hi", {
      onEvent: (event) => event.type === "usage-add" && costs.push(event.costUsd),
    });
    expect(costs).toEqual([expect.closeTo(0.0035, 6)]);
  });

  it("are not those of another address", () => {
    vi.stubEnv("OPENAI_BASE_URL", "http://127.0.0.1:4000/v1");
    expect(modelNamed("openai/gpt-4o").price).toBeUndefined();
  });
});

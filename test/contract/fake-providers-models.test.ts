import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { describe, expect, it } from "vitest";
import { aiSdk, type AiSdkModel } from "../../src/adapters/model/ai-sdk.ts";
import { ollama } from "../../src/adapters/model/ollama.ts";
import { openaiCompatible } from "../../src/adapters/model/openai-compatible.ts";
import { agent, inMemorySessions, session, tool } from "../../src/index.ts";
import type { Model } from "../../src/model/model.ts";
import {
  fakeAnthropic,
  fakeGemini,
  fakeOllama,
  fakeOpenai,
  type FakeProvider,
  type FakeStep,
  fakeTool,
} from "../../src/testing.ts";
import { image } from "../../src/tools.ts";
import { anthropic, openaiCompatible as aiSdkCompatible, specVersions } from "./ai-sdk-wire.ts";

const given = "iVBORw0KGgo=";
const drawings = ["iVBORw0KGgoAAAAN", "iVBORw0KGgoAAAAO"];
const key = { apiKey: "none" };
const throughAiSdk =
  (make: (url: string) => AiSdkModel) =>
  (url: string): Model =>
    aiSdk(make(url));

const models: readonly (readonly [
  string,
  (steps: readonly FakeStep[]) => Promise<FakeProvider>,
  (url: string) => Model,
])[] = [
  ["openaiCompatible", fakeOpenai, (url) => openaiCompatible("gpt-5", { baseUrl: `${url}/v1` })],
  ["ollama", fakeOllama, (url) => ollama("qwen3", { host: url })],
  ["ollama, whole", fakeOllama, (url) => ollama("qwen3", { host: url, stream: false })],
  ...specVersions.flatMap((version) => [
    [
      `@ai-sdk/openai-compatible ${version}`,
      fakeOpenai,
      throughAiSdk((url) => aiSdkCompatible(version, url)),
    ] as const,
    [`@ai-sdk/anthropic ${version}`, fakeAnthropic, throughAiSdk((url) => anthropic(version, url))] as const,
  ]),
  [
    "@ai-sdk/openai, chat",
    fakeOpenai,
    throughAiSdk((url) => createOpenAI({ ...key, baseURL: `${url}/v1` }).chat("gpt-5")),
  ],
  [
    "@ai-sdk/openai, responses",
    fakeOpenai,
    throughAiSdk((url) => createOpenAI({ ...key, baseURL: `${url}/v1` }).responses("gpt-5")),
  ],
  [
    "@ai-sdk/google, gemini 2.5",
    fakeGemini,
    throughAiSdk((url) => createGoogle({ ...key, baseURL: `${url}/v1beta` })("gemini-2.5-pro")),
  ],
  [
    "@ai-sdk/google, gemini 3",
    fakeGemini,
    throughAiSdk((url) => createGoogle({ ...key, baseURL: `${url}/v1beta` })("gemini-3-pro-preview")),
  ],
];

describe.each(models)("an agent with %s", (_name, fake, model) => {
  it("runs two turns of calls and a second run of its session without a refusal [H19]", async () => {
    await using server = await fake([
      {
        reasoning: "I need both.",
        text: "I look.",
        calls: [
          { name: "search", arguments: { query: "tea" } },
          { name: "search", arguments: { query: "tea" } },
        ],
      },
      { calls: [{ name: "lookup" }], usage: { inputTokens: 30, outputTokens: 4 } },
      "Tea is hot.",
      "Still hot.",
    ]);
    const search = fakeTool("search", "hot");
    const tools = [search, fakeTool("lookup", () => Promise.reject(new Error("nothing there")))];
    const host = agent({ name: "host", model: model(server.url), instructions: "Be short.", tools });
    const talk = session(inMemorySessions(), "talk", { history: "all" });
    const first = await host.run("Tea?", { session: talk });
    expect(first.outcome).toMatchObject({ type: "answered", content: "Tea is hot." });
    expect(search.calls).toEqual([{ query: "tea" }, { query: "tea" }]);
    expect((await host.run("And now?", { session: talk })).text).toBe("Still hot.");
    server.assertComplete();
    expect(server.requests.map(({ refusal }) => refusal)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it.each([{ wrong: [1] }, { wrong: 7 }])(
    "takes a call back whose arguments are a list or a number: $wrong",
    async ({ wrong }) => {
      await using server = await fake([{ calls: [{ name: "search", arguments: wrong }] }, "Tea is hot."]);
      const search = fakeTool("search", "hot");
      const host = agent({ name: "host", model: model(server.url), tools: [search], retry: false });
      expect(await host("Tea?")).toBe("Tea is hot.");
      expect(search.calls).toEqual([]);
      server.assertComplete();
    },
  );

  it.each([429, 500, 503])(
    "survives a %d in its second turn without a setting: reasoning, two calls at once, a picture in and two out",
    async (status) => {
      const calls = ["tea", "cups"].map((query) => ({ name: "draw", arguments: { query } }));
      await using server = await fake([
        { reasoning: "I need both.", text: "I look.", calls },
        { status, retryAfter: 0.001 },
        "Both are hot.",
      ]);
      const drawn: unknown[] = [];
      const draw = tool({
        name: "draw",
        description: "Draws",
        inputSchema: { type: "object", properties: { query: { type: "string" } } },
        effect: "read",
        execute: (args) => image(drawings[drawn.push(args) - 1] ?? "") as unknown,
      });
      const host = agent({ name: "host", model: model(server.url), tools: [draw] });
      const { outcome } = await host.run([{ type: "text", text: "Look." }, image(given)]);
      expect(outcome).toMatchObject({ type: "answered", content: "Both are hot." });
      expect(drawn).toEqual([{ query: "tea" }, { query: "cups" }]);
      expect(server.requests.map(({ refusal }) => refusal)).toEqual([undefined, undefined, undefined]);
      const [first, second, third] = server.requests.map(({ body }) => JSON.stringify(body));
      expect(third).toBe(second);
      for (const picture of [given, ...drawings]) expect(second?.split(picture)).toHaveLength(2);
      expect(first?.split(given)).toHaveLength(2);
    },
  );

  it("passes over faults that pass, and reads what a refusal says [H19]", async () => {
    await using server = await fake([
      { status: 429, retryAfter: 0.001 },
      { status: 503, retryAfter: 0.001 },
      { text: "one two three four", cutAfter: 2 },
      "Here I am.",
    ]);
    const host = agent({ name: "host", model: model(server.url), retry: { attempts: 4, firstDelayMs: 1 } });
    expect(await host("Tea?")).toBe("Here I am.");
    expect(server.requests).toHaveLength(4);
  });

  it("fails with what the provider says, and with a page that is no JSON [H19]", async () => {
    await using server = await fake([
      { status: 400, message: "the moon is full" },
      { status: 502, html: "<h1>Bad gateway</h1>" },
      { status: 200, html: "<h1>Log in</h1>" },
    ]);
    const host = agent({ name: "host", model: model(server.url), retry: false });
    await expect(host("Tea?")).rejects.toThrow("the moon is full");
    await expect(host("Tea?")).rejects.toMatchObject({ code: "provider-failed", retryable: true });
    await expect(host("Tea?")).rejects.toMatchObject({ code: "provider-failed" });
  });
});

describe("items that a provider no longer keeps", () => {
  const think = (words: string): FakeStep => ({ reasoning: "Hm.", ...(words === "" ? {} : { text: words }) });
  const calling = { reasoning: "Hm.", calls: [{ name: "look", arguments: { at: "sea" } }] };

  it("are left out of the request that it then gets, once, and those that it keeps are not", async () => {
    await using before = await fakeOpenai([calling, think("Blue.")]);
    await using later = await fakeOpenai([calling, think("Still blue."), think("Yes.")]);
    const modelOf = ({ url }: FakeProvider): Model =>
      aiSdk(createOpenAI({ ...key, baseURL: `${url}/v1` }).responses("gpt-5"));
    const chat = session(inMemorySessions(), "sea", { history: "all" });
    const tools = [fakeTool("look", "blue")];
    await agent({ name: "a", model: modelOf(before), tools }).run("The sea?", { session: chat });
    const looker = agent({ name: "a", model: modelOf(later), tools });
    expect((await looker.run("And now?", { session: chat })).text).toBe("Still blue.");
    const refused = later.requests.map(({ refusal }) => refusal !== undefined);
    expect(refused).toEqual([true, false, false]);
    const inputs = later.requests.map(({ body }) =>
      (body["input"] as { type?: string; role?: string }[]).map(({ type, role }) => type ?? role),
    );
    const told = ["developer", "user", "function_call", "function_call_output", "assistant", "user"];
    expect(inputs[1]).toEqual(told);
    expect(inputs[2]).toEqual([...told, "item_reference", "function_call", "function_call_output"]);
  });

  it("end the run with the provider's words where it refuses the rest too", async () => {
    const gone = "Item with id 'rs_9' not found.";
    await using fake = await fakeOpenai([think("Blue."), { status: 404, message: gone }]);
    const model = aiSdk(createOpenAI({ ...key, baseURL: `${fake.url}/v1` }).responses("gpt-5"));
    const chat = session(inMemorySessions(), "sea");
    const talker = agent({ name: "a", model });
    await talker.run("The sea?", { session: chat });
    await expect(talker.run("And now?", { session: chat })).rejects.toThrow(gone);
    expect(fake.requests).toHaveLength(3);
  });
});

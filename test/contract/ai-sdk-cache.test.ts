import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { createOpenAI } from "@ai-sdk/openai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { aiSdk, type AiSdkModel, type AiSdkOptions } from "../../src/adapters/model/ai-sdk.ts";
import { chat } from "../../src/doors.ts";
import { agent, inMemorySessions, session, tool } from "../../src/index.ts";
import { fakeAnthropic, fakeOpenai, type FakeProvider, type FakeStep } from "../../src/testing.ts";
import { anthropic, specVersions } from "./ai-sdk-wire.ts";

const mark = { type: "ephemeral" };
const long = "You keep a library, and answer in few words. ".repeat(100);
const look = (name: string, providerOptions?: Record<string, Record<string, unknown>>) =>
  tool({
    name,
    description: "Looks up a word",
    inputSchema: z.object({ word: z.string() }),
    effect: "none",
    ...(providerOptions === undefined ? {} : { providerOptions: providerOptions as never }),
    execute: ({ word }) => `${word}: a word`,
  });
const calling = (...words: readonly string[]): FakeStep => ({
  calls: words.map((word) => ({ name: "find", arguments: { word } })),
});

/** The places of a request that have a mark: `tools/1`, `system/0`, and the message of a marked block. */
function marksOf({ body }: FakeProvider["requests"][number]): readonly string[] {
  const places = (field: string): readonly string[] => {
    const items = body[field];
    if (!Array.isArray(items)) return [];
    return items.flatMap((item, index) =>
      JSON.stringify(item).includes('"cache_control":{"type":"ephemeral"}') ? [`${field}/${index}`] : [],
    );
  };
  return ["tools", "system", "messages"].flatMap(places);
}

interface Trial {
  readonly options?: AiSdkOptions;
  readonly definition?: object;
  readonly model?: (url: string) => AiSdkModel;
}

/** The marks of each request of one run to Anthropic. */
async function marks(steps: readonly FakeStep[], trial: Trial = {}): Promise<readonly (readonly string[])[]> {
  await using server = await fakeAnthropic(steps);
  const { options, definition, model = (url) => anthropic("v4", url) } = trial;
  const asked = { instructions: long, tools: [look("find"), look("other")], ...definition };
  const { outcome } = await agent({ name: "a", model: aiSdk(model(server.url), options), ...asked }).run(
    "Go",
  );
  expect(outcome.type).toBe("answered");
  server.assertComplete();
  return server.requests.map(marksOf);
}

const fixed = ["tools/2", "system/0"]; // the last tool is `read_result`

describe("a request to Anthropic", () => {
  it.each(specVersions)(
    "is marked after its tools, its system message and where it ends (%s)",
    async (version) => {
      const steps = [calling("a", "b"), calling("c"), "Done."];
      expect(await marks(steps, { model: (url) => anthropic(version, url) })).toEqual([
        [...fixed, "messages/0"],
        [...fixed, "messages/0", "messages/2"],
        [...fixed, "messages/2", "messages/4"],
      ]);
    },
  );

  it("is marked at the end of its last block alone, and never where the model thought", async () => {
    await using server = await fakeAnthropic([
      { reasoning: "Hm.", ...(calling("a", "b") as object) },
      "Done.",
    ]);
    const model = aiSdk(anthropic("v4", server.url), {
      settings: { providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } } },
    });
    await agent({ name: "a", model, instructions: long, tools: [look("find")] }).run("Go");
    const messages = server.requests[1]?.body["messages"] as readonly { content: readonly object[] }[];
    const marked = messages.map(({ content }) => content.map((block) => "cache_control" in block));
    expect(marked).toEqual([[true], [false, false, false], [false, true]]);
  });

  it("has no mark where the author wants none, or where the prompt is too short for any cache", async () => {
    expect(await marks([calling("a"), "Done."], { options: { cache: false } })).toEqual([[], []]);
    expect(await marks([calling("a"), "Done."], { definition: { instructions: "Be brief." } })).toEqual([
      [],
      [],
    ]);
  });

  it("has the author's marks alone, wherever they are", async () => {
    const cacheControl = { anthropic: { cacheControl: mark } };
    const tools = [look("find", cacheControl), look("other")];
    expect(await marks(["Done."], { definition: { tools } })).toEqual([["tools/0"]]);
    expect(await marks(["Done."], { options: { systemOptions: cacheControl } })).toEqual([["system/0"]]);
    const [whole] = await marks(["Done."], { options: { settings: { providerOptions: cacheControl } } });
    expect(whole).toEqual([]); // the request itself is marked
  });

  it("is not marked at its end where nothing follows: a last turn that answers, a question without tools", async () => {
    const last = { lastTurn: "answer", budget: { turns: 2 } };
    expect(await marks([calling("a"), "Done."], { definition: last })).toEqual([
      [...fixed, "messages/0"],
      [...fixed, "messages/0"],
    ]);
    expect(await marks(["Done."], { definition: { tools: [] } })).toEqual([["system/0"]]);
  });

  it("is marked at its end where it goes on with a conversation", async () => {
    await using server = await fakeAnthropic(["One.", "Two."]);
    const store = inMemorySessions();
    const talk = agent({ name: "a", model: aiSdk(anthropic("v4", server.url)), instructions: long });
    for (const question of ["1?", "2?"]) await talk(question, { session: session(store, "s") });
    expect(server.requests.map(marksOf)).toEqual([["system/0"], ["system/0", "messages/0", "messages/2"]]);
  });

  it("marks the last tool that the model is told of at once", async () => {
    const later = (name: string) => look(name, { anthropic: { deferLoading: true } });
    const tools = [look("find"), later("later"), later("read_result")];
    expect(await marks(["Done."], { definition: { tools } })).toEqual([
      ["tools/0", "system/0", "messages/0"],
    ]);
  });

  it("counts a picture as long, and takes marks of the user's own words for the author's", async () => {
    await using server = await fakeAnthropic(["A dot.", "Done."]);
    const model = aiSdk(anthropic("v4", server.url));
    const file = { type: "file" as const, mediaType: "image/png", data: "iVBORw0KGgo=" };
    const ask = (part: object) =>
      chat({
        model,
        messages: { role: "user", parts: [file, { type: "text", text: "What is it?", ...part }] },
        tools: [look("find")],
      });
    await ask({});
    await ask({ providerMetadata: { anthropic: { cacheControl: mark } } });
    expect(server.requests.map(marksOf)).toEqual([["tools/0", "messages/0"], ["messages/0"]]);
  });
});

it("marks requests through OpenRouter for Anthropic's models, and no others", async () => {
  const marksAt = async (name: string) => {
    await using server = await fakeOpenai([calling("a"), "Done."], { host: "openrouter" });
    const openrouter = createOpenRouter({ baseURL: `${server.url}/api/v1`, apiKey: "key" });
    const model = aiSdk(openrouter.chat(name));
    await agent({ name: "a", model, instructions: long, tools: [look("find")] }).run("Go");
    return server.requests.map(marksOf);
  };
  expect(await marksAt("anthropic/claude-sonnet-4.5")).toEqual([
    ["messages/0", "messages/1"],
    ["messages/0", "messages/1", "messages/3"],
  ]);
  expect(await marksAt("openai/gpt-5")).toEqual([[], []]);
});

it("marks nothing for a provider that caches by itself", async () => {
  await using server = await fakeOpenai([calling("a"), "Done."]);
  const model = aiSdk(createOpenAI({ baseURL: `${server.url}/v1`, apiKey: "key" }).chat("gpt-5"));
  await agent({ name: "a", model, instructions: long, tools: [look("find")] }).run("Go");
  expect(JSON.stringify(server.requests)).not.toContain("cache_control");
});

it("refuses a fifth mark, and one on a tool that is told later, as Anthropic does", async () => {
  await using server = await fakeAnthropic(["Done."]);
  const ask = async (body: object) => {
    const headers = { "anthropic-version": "2023-06-01", "content-type": "application/json" };
    const text = JSON.stringify({ model: "m", max_tokens: 9, ...body });
    return (await fetch(`${server.url}/v1/messages`, { method: "POST", headers, body: text })).text();
  };
  const text = { type: "text", text: "x", cache_control: mark };
  const messages = [{ role: "user", content: [text] }];
  expect(await ask({ system: [text, text, text, text], messages })).toContain("A maximum of 4 blocks");
  const tools = [{ name: "t", input_schema: { type: "object" }, defer_loading: true, cache_control: mark }];
  expect(await ask({ tools, messages })).toContain("cannot have both");
});

describe("a request to Bedrock's own API", () => {
  const cachePoint = { type: "default" };
  /** The places of a prompt that have a mark, and whether a tool has one, as the package gets them. */
  async function marksIn(modelId: string, definition: object = {}): Promise<readonly unknown[]> {
    let asked: { readonly prompt: readonly object[]; readonly tools?: readonly object[] } | undefined;
    const finish = { type: "finish", finishReason: { unified: "stop", raw: "end_turn" }, usage: {} };
    const model = {
      specificationVersion: "v4",
      provider: "amazon-bedrock",
      modelId,
      supportedUrls: {},
      doGenerate: undefined,
      doStream: (options: never) => {
        asked = options;
        return Promise.resolve({ stream: ReadableStream.from([...spoken, finish]) });
      },
    } as unknown as AiSdkModel;
    const spoken = [
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "Done." },
      { type: "text-end", id: "t" },
    ];
    const tools = [look("find")];
    await agent({ name: "a", model: aiSdk(model), instructions: long, tools, ...definition }).run("Go");
    expect(JSON.stringify(asked?.tools ?? [])).not.toContain("cachePoint");
    return (asked?.prompt ?? []).map((message) =>
      "providerOptions" in message ? message.providerOptions : 0,
    );
  }

  it("has the marks of that API, of Claude whose prompts it keeps", async () => {
    const marked = { bedrock: { cachePoint } };
    for (const name of [
      "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      "anthropic.claude-3-7-sonnet-20250219-v1:0",
      "global.anthropic.claude-opus-4-1-20250805-v1:0",
      "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0",
    ])
      expect(await marksIn(name)).toEqual([marked, marked]);
    for (const name of ["anthropic.claude-3-haiku-20240307-v1:0", "amazon.nova-pro-v1:0", "meta.llama3-1-8b"])
      expect(await marksIn(name)).toEqual([0, 0]);
  });

  it("has the author's marks alone", async () => {
    const settings = { providerOptions: { bedrock: { cachePoint } } };
    expect(await marksIn("anthropic.claude-sonnet-4-5", { settings })).toEqual([0, 0]);
  });
});

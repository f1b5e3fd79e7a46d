import { createGoogle } from "@ai-sdk/google";
import { createGroq } from "@ai-sdk/groq";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aiSdk, type AiSdkModel } from "../../src/adapters/model/ai-sdk.ts";
import { chat } from "../../src/doors.ts";
import { agent, inMemorySessions, session } from "../../src/index.ts";
import { type Message, userMessage } from "../../src/message/message.ts";
import { fakeAnthropic, fakeTool } from "../../src/testing.ts";
import { at } from "./ai-sdk-recordings.ts";
import { anthropic, openaiCompatible, specVersions } from "./ai-sdk-wire.ts";
import { playedServer, type PlayedServer, sse } from "./played-server.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
afterAll(() => server.close());

const settings = (): { readonly baseURL: string; readonly apiKey: string } => ({
  baseURL: `${server.url}/v1`,
  apiKey: "played",
});
const openrouter = (): AiSdkModel => createOpenRouter(settings()).chat("moonshotai/kimi-k2");
const groq = (): AiSdkModel => createGroq(settings())("m");
const mistral = (): AiSdkModel => createMistral(settings())("m");
const claude = (): AiSdkModel => anthropic("v4", server.url);

const chunk = (delta: object, finish_reason: string | null = null): object => ({
  id: "1",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason }],
});
const calling = (id: string, args: string, more: object = {}): string =>
  sse(
    [
      chunk({
        role: "assistant",
        ...more,
        tool_calls: [{ index: 0, id, type: "function", function: { name: "add", arguments: args } }],
      }),
      chunk({}, "tool_calls"),
    ],
    true,
  );
const done = sse([chunk({ content: "Done." }), chunk({}, "stop")], true);
const event = (type: string, more: object = {}): object => ({ type, ...more });
/** Has an agent call `add` once by what is played, and gives its transcript and the messages of its second request. */
async function twoTurns(
  model: AiSdkModel,
  first: string,
): Promise<{
  readonly transcript: readonly Message[];
  readonly sent: unknown;
  readonly ran: readonly unknown[];
}> {
  server.play({ sse: first }, { sse: done });
  const add = fakeTool("add", "8");
  const { transcript } = await agent({ name: "a", model, tools: [add] }).run("3 + 5?");
  return { transcript: transcript.messages, sent: server.requests.at(-1)?.body["messages"], ran: add.calls };
}

/** The messages that another model is sent, when a conversation goes on with it. */
async function handedOn(messages: readonly Message[], model: AiSdkModel, answer = done): Promise<unknown> {
  server.play({ sse: answer });
  await chat({ model: aiSdk(model), messages: [...messages, userMessage("Go on.")] });
  return server.requests.at(-1)?.body["messages"];
}

/** The id of the first call that is sent, and that of the first result. */
const sentIds = (messages: unknown): readonly unknown[] => {
  const sent = Array.isArray(messages) ? (messages as readonly unknown[]) : [];
  return [
    sent.flatMap((message) => at(message, "tool_calls", 0, "id") ?? [])[0],
    sent.flatMap((message) => at(message, "tool_call_id") ?? [])[0],
  ];
};

/** A reply of Claude's that ends for this reason. */
const byClaude = (text: string, stop_reason: string): string =>
  sse([
    event("message_start", {
      message: {
        id: "m",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    }),
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    event("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
    event("content_block_stop", { index: 0 }),
    event("message_delta", { delta: { stop_reason }, usage: { output_tokens: 2 } }),
    event("message_stop"),
  ]);

it.each(specVersions)("thinking that Anthropic hid goes back as it came (%s)", async (version) => {
  const hidden = { type: "redacted_thinking", data: "RU5D" };
  const call = { type: "tool_use", id: "toolu_1", name: "add", input: {} };
  const blocks = [hidden, call].flatMap((content_block, index) => [
    event("content_block_start", { index, content_block }),
    event("content_block_stop", { index }),
  ]);
  const [begin = "", , end = ""] = byClaude("", "tool_use").split(
    /(?=data: .*content_block_start)|(?=data: .*message_delta)/,
  );
  server.play({ sse: begin + sse(blocks) + end }, { sse: byClaude("Done.", "end_turn") });
  const add = fakeTool("add", "8");
  await agent({ name: "a", model: anthropic(version, server.url), tools: [add] }).run("3 + 5?");
  expect(add.calls).toEqual([{}]);
  expect(at(server.requests.at(-1)?.body["messages"], 1, "content")).toMatchObject([hidden, call]);
});

it.each(["v3", "v4"] as const)(
  "a turn that Anthropic paused goes on with what it said (%s)",
  async (version) => {
    server.play({ sse: byClaude("I search.", "pause_turn") }, { sse: byClaude("Found.", "end_turn") });
    const { outcome } = await agent({ name: "a", model: anthropic(version, server.url) }).run("Search.");
    expect(outcome).toMatchObject({ type: "answered", content: "Found." });
    const sent = server.requests.at(-1)?.body["messages"];
    expect(at(sent, 1)).toMatchObject({ role: "assistant", content: [{ type: "text", text: "I search." }] });
    expect(at(sent, 2)).toBeUndefined();
  },
);

it.each(specVersions)("tokens that Anthropic wrote into its cache are counted (%s)", async (version) => {
  const counted = byClaude("Done.", "end_turn").replaceAll(
    '"input_tokens":1',
    '"input_tokens":1,"cache_creation_input_tokens":7,"cache_read_input_tokens":2',
  );
  server.play({ sse: counted });
  const { usage } = await chat({ model: aiSdk(anthropic(version, server.url)), messages: "x" });
  expect(usage).toMatchObject({ inputTokens: 10, cachedInputTokens: 2, cacheWriteTokens: 7 });
});

it.each(specVersions)(
  "a conversation that begins with a reply begins with a user for Claude (%s)",
  async (version) => {
    await using provider = await fakeAnthropic(["Yes.", "At nine."]);
    const keeper = agent({
      name: "a",
      model: aiSdk(anthropic(version, provider.url)),
      instructions: "Be brief.",
    });
    const greeting = { role: "assistant", content: "How can I help?" };
    const asked = { role: "user", content: "Are you open?" };
    expect(await keeper([greeting, asked])).toBe("Yes.");
    const body = provider.requests.at(-1)?.body as { readonly messages: readonly object[] };
    expect(body.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", content: [{ text: "How can I help?" }] },
      { role: "user", content: [{ text: "Are you open?" }] },
    ]);
  },
);

describe("ids of calls", () => {
  const kimi = "functions.add:0";

  it.each<readonly [string, () => AiSdkModel]>([
    ["@openrouter/ai-sdk-provider", openrouter],
    ["@ai-sdk/groq", groq],
    ...specVersions.map((version) => [version, () => openaiCompatible(version, server.url)] as const),
  ])("go back as they came to the provider that gave them: %s", async (_name, model) => {
    const { sent } = await twoTurns(model(), calling(kimi, "{}"));
    expect(sentIds(sent)).toEqual([kimi, kimi]);
  });

  it("are those of the transcript for another provider", async () => {
    const { transcript } = await twoTurns(openrouter(), calling(kimi, "{}"));
    const sent = await handedOn(transcript, claude(), byClaude("Done.", "end_turn"));
    const id = at(sent, 1, "content", 0, "id");
    expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(at(sent, 2, "content", 0, "tool_use_id")).toBe(id);
  });

  it("are never the same for two calls", async () => {
    server.play({ sse: calling(kimi, "{}") }, { sse: calling(kimi, '{"a":1}') }, { sse: done });
    await agent({ name: "a", model: openrouter(), tools: [fakeTool("add", "8")] }).run("3 + 5?");
    const sent = server.requests.at(-1)?.body["messages"];
    const second = at(sent, 4, "tool_calls", 0, "id");
    expect(sentIds(sent)).toEqual([kimi, kimi]);
    expect(second).not.toBe(kimi);
    expect(at(sent, 5, "tool_call_id")).toBe(second);
  });

  it("are nine letters or digits for Mistral, where another provider gave them", async () => {
    const { transcript } = await twoTurns(openrouter(), calling(kimi, "{}"));
    const [call, result] = sentIds(await handedOn(transcript, mistral()));
    expect(call).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(result).toBe(call);
    const own = await twoTurns(mistral(), calling("D681PevKs", "{}"));
    expect(sentIds(own.sent)).toEqual(["D681PevKs", "D681PevKs"]);
  });
});

describe("arguments that were encoded twice", () => {
  it.each([
    ["@openrouter/ai-sdk-provider", openrouter],
    ["@ai-sdk/groq", groq],
  ])("run, and go back as they were understood: %s", async (_name, model) => {
    const twice = JSON.stringify(JSON.stringify({ a: 3, b: 5 }));
    const { sent, ran } = await twoTurns(model(), calling("c1", twice));
    expect(ran).toEqual([{ a: 3, b: 5 }]);
    expect(JSON.parse(String(at(sent, 2, "tool_calls", 0, "function", "arguments")))).toEqual({ a: 3, b: 5 });
  });
});

describe("reasoning", () => {
  const thinking = calling("c1", "{}", { reasoning: "I add them." });

  it("goes back to the provider that wrote it", async () => {
    const { sent, transcript } = await twoTurns(groq(), thinking);
    expect(at(sent, 2, "reasoning")).toBe("I add them.");
    expect(JSON.stringify(await handedOn(transcript, groq()))).toContain("I add them.");
  });

  it.each([
    ["@ai-sdk/openai-compatible", () => openaiCompatible("v4", server.url)],
    ["@ai-sdk/mistral", mistral],
    ["@openrouter/ai-sdk-provider", openrouter],
  ])("goes to no other provider: %s", async (_name, model) => {
    const { transcript } = await twoTurns(groq(), thinking);
    expect(JSON.stringify(transcript)).toContain("I add them.");
    expect(JSON.stringify(await handedOn(transcript, model()))).not.toContain("I add them.");
  });

  it("of a session that changes its model stays with the first, and so do the ids of calls", async () => {
    const talk = session(inMemorySessions(), "s", { history: "all" });
    const ask = async (model: AiSdkModel, ...answers: readonly string[]): Promise<string> => {
      server.play(...answers.map((answer) => ({ sse: answer })));
      await agent({ name: "a", model, tools: [fakeTool("add", "8")] }).run("Add.", { session: talk });
      return JSON.stringify(server.requests.at(-1)?.body["messages"]);
    };
    await ask(groq(), calling("functions.add:0", "{}", { reasoning: "I add them." }), done);
    const other = await ask(mistral(), done);
    expect(other).not.toMatch(/I add them|functions\.add:0/);
    expect(other).toContain('"tool_call_id"');
    const back = await ask(groq(), done);
    expect(back).toContain("I add them.");
    expect(back).toContain("functions.add:0");
  });

  it("that is signed goes to no other provider either, nor do searches that the first one ran", async () => {
    const search: Message = {
      role: "assistant",
      parts: [
        {
          type: "reasoning",
          text: "I search.",
          providerMetadata: { anthropic: { signature: "s" }, writ: { server: "anthropic.messages" } },
        },
        {
          type: "tool-call",
          id: "srvtoolu_1",
          name: "web_search",
          arguments: { query: "x" },
          providerExecuted: true,
          providerMetadata: { writ: { server: "anthropic.messages" } },
        },
        {
          type: "provider",
          data: { type: "tool-result", toolCallId: "srvtoolu_1", toolName: "web_search", result: [] },
        },
        { type: "text", text: "Found." },
      ],
    };
    const messages = [userMessage("Search."), search];
    const other = JSON.stringify(await handedOn(messages, groq()));
    expect(other).toContain("Found.");
    expect(other).not.toMatch(/I search|web_search/);
    const own = JSON.stringify(await handedOn(messages, claude(), byClaude("Done.", "end_turn")));
    expect(own).toContain("I search.");
    expect(own).toContain('"server_tool_use"');
  });
});

it("calls that Gemini ran itself keep their names and arguments, under their signature", async () => {
  const part = (parts: readonly object[], more: object = {}): object => ({
    candidates: [{ content: { role: "model", parts }, ...more }],
  });
  const toolCall = { toolType: "GOOGLE_SEARCH_WEB", args: { queries: ["x"] }, id: "g1" };
  const toolResponse = { toolType: "GOOGLE_SEARCH_WEB", response: { search_suggestions: "s" }, id: "g1" };
  const first = sse([
    part([
      { toolCall, thoughtSignature: "c2ln" },
      { toolResponse, thoughtSignature: "c2ln" },
    ]),
    part([{ functionCall: { name: "add", args: { a: 1 }, id: "f1" }, thoughtSignature: "Zm4=" }], {
      finishReason: "STOP",
    }),
  ]);
  const last = sse([part([{ text: "Done." }], { finishReason: "STOP" })]);
  server.play({ sse: first }, { sse: last });
  const model = aiSdk(
    createGoogle({ baseURL: `${server.url}/v1beta`, apiKey: "played" })("gemini-3-pro-preview"),
    { providerTools: { google_search: { id: "google.google_search" } } },
  );
  const dotted = fakeTool("my.add", "8"); // its name changes on the way, those of the provider's tools do not
  const hooks = [
    { beforeModel: ({ messages }: { readonly messages: readonly Message[] }) => ({ messages }) },
  ];
  await agent({ name: "a", model, tools: [fakeTool("add", "8"), dotted], hooks }).run("Search.");
  const parts = at(server.requests.at(-1)?.body, "contents", 1, "parts");
  expect(parts).toMatchObject([
    { toolCall, thoughtSignature: "c2ln" },
    { toolResponse, thoughtSignature: "c2ln" },
    { functionCall: { name: "add", args: { a: 1 } }, thoughtSignature: "Zm4=" },
  ]);
});

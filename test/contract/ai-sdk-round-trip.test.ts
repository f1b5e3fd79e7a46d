import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aiSdk, type AiSdkModel, type AiSdkOptions } from "../../src/adapters/model/ai-sdk.ts";
import {
  callsOf,
  type Message,
  type ReplyMessage,
  type ResultStatus,
  userMessage,
} from "../../src/message/message.ts";
import { assemble } from "../../src/model/assemble.ts";
import type { ModelRequest } from "../../src/model/model.ts";
import {
  answersOf,
  at,
  type Recording,
  recordingsIn,
  saidByAnthropic,
  saidByGemini,
  saidByResponses,
} from "./ai-sdk-recordings.ts";
import { anthropic, openaiCompatible, specVersions } from "./ai-sdk-wire.ts";
import { playedServer, type PlayedServer, type RecordedRequest, sse } from "./played-server.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
afterAll(async () => {
  await server.close();
});

interface Trip {
  readonly reply: ReplyMessage;
  /** The request that carried the reply and the results of its calls. */
  readonly next: RecordedRequest;
}

const tools = ["add", "search", "weather", "calculator", "rollDie"].map((name) => ({
  name,
  description: name,
  inputSchema: { type: "object" },
}));

/** Asks, lets `answer` be played, settles its calls, and asks again with the whole transcript, as JSON had kept it. */
async function roundTrip(model: AiSdkModel, answer: string, options?: AiSdkOptions): Promise<Trip> {
  const asked = aiSdk(model, options);
  server.play({ sse: answer });
  const ask = async (messages: readonly Message[]): Promise<ReplyMessage> => {
    const assembler = assemble(asked.id, ({ id, name }) => ({ id, name }));
    const request: ModelRequest = { messages, tools, toolChoice: "auto", settings: {} };
    for await (const delta of asked.stream(request, { signal: new AbortController().signal }))
      assembler.push(delta);
    return assembler.reply().message;
  };
  const question = userMessage("The question.");
  const reply = await ask([question]);
  const results: Message[] = callsOf(reply).map(({ id, name }) => ({
    role: "tool",
    callId: id,
    name,
    status: "ok",
    text: `result of ${id}`,
  }));
  const kept = JSON.parse(JSON.stringify([question, reply, ...results, userMessage("Go on.")])) as Message[];
  await ask(kept);
  const next = server.requests.at(-1);
  if (next === undefined) throw new TypeError("nothing was asked");
  return { reply, next };
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

const openaiChunk = (delta: object, finish_reason: string | null = null): object => ({
  id: "1",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason }],
});
const call = (index: number, id: string, args: string): object => ({
  index,
  id,
  type: "function",
  function: { name: "add", arguments: args },
});
const openaiTextAndCalls = sse(
  [
    openaiChunk({ content: "I add " }),
    openaiChunk({ content: "both." }),
    openaiChunk({ tool_calls: [call(0, "call_a", '{"a":1}')] }),
    openaiChunk({ tool_calls: [call(1, "call_b", '{"a":2}')] }),
    openaiChunk({}, "tool_calls"),
  ],
  true,
);

const block = (index: number, start: object, ...deltas: readonly object[]): readonly object[] => [
  { type: "content_block_start", index, content_block: start },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
const anthropicTextAndCalls = sse([
  {
    type: "message_start",
    message: {
      id: "m",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  },
  ...block(
    0,
    { type: "text", text: "" },
    { type: "text_delta", text: "I add " },
    { type: "text_delta", text: "both." },
  ),
  ...block(
    1,
    { type: "tool_use", id: "call_a", name: "add", input: {} },
    { type: "input_json_delta", partial_json: '{"a":1}' },
  ),
  ...block(
    2,
    { type: "tool_use", id: "call_b", name: "add", input: {} },
    { type: "input_json_delta", partial_json: '{"a":2}' },
  ),
  { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 2 } },
  { type: "message_stop" },
]);

describe.each(specVersions)(
  "text and calls of one reply go back together, in order, with their results (%s)",
  (version) => {
    it("to an OpenAI-compatible server [A6, H20]", async () => {
      const { next } = await roundTrip(openaiCompatible(version, server.url), openaiTextAndCalls);
      expect(list(next.body["messages"]).slice(1)).toEqual([
        {
          role: "assistant",
          content: "I add both.",
          tool_calls: ["a", "b"].map((letter, index) => ({
            id: `call_${letter}`,
            type: "function",
            function: { name: "add", arguments: `{"a":${index + 1}}` },
          })),
        },
        { role: "tool", tool_call_id: "call_a", content: "result of call_a" },
        { role: "tool", tool_call_id: "call_b", content: "result of call_b" },
        { role: "user", content: "Go on." },
      ]);
    });

    it("to Anthropic [A6, H20]", async () => {
      const { next } = await roundTrip(anthropic(version, server.url), anthropicTextAndCalls);
      const messages = list(next.body["messages"]);
      expect(at(messages, 1)).toEqual({
        role: "assistant",
        content: [
          { type: "text", text: "I add both." },
          { type: "tool_use", id: "call_a", name: "add", input: { a: 1 } },
          { type: "tool_use", id: "call_b", name: "add", input: { a: 2 } },
        ],
      });
      expect(at(messages, 2, "content")).toMatchObject([
        { type: "tool_result", tool_use_id: "call_a", content: "result of call_a" },
        { type: "tool_result", tool_use_id: "call_b", content: "result of call_b" },
        { type: "text", text: "Go on." },
      ]);
    });

    it.each(["ok", "error", "invalid", "denied", "timeout", "cancelled", "skipped", "unknown"] as const)(
      "a result that is %s tells the model its text",
      async (status: ResultStatus) => {
        server.play({ sse: anthropicTextAndCalls }, { sse: openaiTextAndCalls });
        const messages: Message[] = [
          userMessage("The question."),
          { role: "assistant", parts: [{ type: "tool-call", id: "c", name: "add", arguments: {} }] },
          { role: "tool", callId: "c", name: "add", status, text: "the words of the result" },
        ];
        const before = server.requests.length;
        for (const model of [anthropic(version, server.url), openaiCompatible(version, server.url)]) {
          const request: ModelRequest = { messages, tools, toolChoice: "auto", settings: {} };
          for await (const delta of aiSdk(model).stream(request, { signal: new AbortController().signal }))
            if (delta.type === "end") break;
        }
        const [toAnthropic, toOpenai] = server.requests.slice(before);
        const sent = at(toAnthropic?.body, "messages", 2, "content", 0);
        expect(sent).toMatchObject({
          type: "tool_result",
          tool_use_id: "c",
          content: "the words of the result",
        });
        const isError = status !== "ok" && !(status === "denied" && version !== "v2");
        expect(at(sent, "is_error")).toBe(isError ? true : undefined);
        expect(at(toOpenai?.body, "messages", 2)).toEqual({
          role: "tool",
          tool_call_id: "c",
          content: "the words of the result",
        });
      },
    );
  },
);

const anthropicRecordings = [
  ...recordingsIn("vercel-ai/packages/anthropic/src/__fixtures__", /^(?!spliced).*\.chunks\.txt$/),
  ...recordingsIn("prism/tests/Fixtures/anthropic", /\.sse$/),
].flatMap((recording) => answersOf(recording, "message_stop"));
const named = (recordings: readonly Recording[]): (readonly [string, Recording])[] =>
  recordings.map((recording) => [recording.name, recording] as const);

const signed = anthropicRecordings.filter((recording) => saidByAnthropic(recording).signatures.length > 0);

describe.skipIf(signed.length === 0)("signatures of recorded thinking go back byte for byte", () => {
  describe.each(specVersions)("%s", (version) => {
    it.each(named(signed))("%s", async (_name, recording) => {
      const { reasoning, signatures } = saidByAnthropic(recording);
      const { next } = await roundTrip(anthropic(version, server.url), recording.sse);
      const content = list(at(next.body, "messages", 1, "content"));
      const thinking = content.filter((part) => at(part, "type") === "thinking");
      expect(thinking).toEqual([{ type: "thinking", thinking: reasoning, signature: signatures.join("") }]);
      expect(content[0]).toBe(thinking[0]);
      expect(
        Buffer.from(next.text, "utf8").includes(Buffer.from(JSON.stringify(signatures[0]), "utf8")),
      ).toBe(true);
    });
  });
});

const searched = anthropicRecordings.filter(({ sse }) => sse.includes('"web_search_tool_result"'));

describe.skipIf(searched.length === 0)(
  "searches that Anthropic ran go back in place, with what is encrypted",
  () => {
    describe.each(specVersions)("%s", (version) => {
      it.each(named(searched))("%s", async (_name, recording) => {
        const providerTools = { web_search: { id: "anthropic.web_search_20250305", args: { maxUses: 3 } } };
        const { reply, next } = await roundTrip(anthropic(version, server.url), recording.sse, {
          providerTools,
        });
        expect(callsOf(reply)).toEqual([]);
        const types = recording.events
          .filter((event) => at(event, "type") === "content_block_start")
          .map((event) => at(event, "content_block", "type"));
        const content = list(at(next.body, "messages", 1, "content"));
        expect(content.map((part) => at(part, "type"))).toEqual(types);
        const encrypted = [...recording.sse.matchAll(/"encrypted_content":\s*"([^"]+)"/g)].map(
          (match) => match[1],
        );
        expect(encrypted.length).toBeGreaterThan(0);
        for (const secret of encrypted) expect(next.text).toContain(secret);
        expect(at(next.body, "tools", tools.length)).toMatchObject({
          type: "web_search_20250305",
          name: "web_search",
          max_uses: 3,
        });
      });
    });
  },
);

const cited = searched.filter(({ sse }) => sse.includes("citations_delta"));

it.skipIf(cited.length === 0).each(named(cited))(
  "citations of V4 stay with their text: %s",
  async (_name, recording) => {
    const { next } = await roundTrip(anthropic("v4", server.url), recording.sse);
    const texts = list(at(next.body, "messages", 1, "content")).filter((part) => at(part, "type") === "text");
    const sent = texts.map((part) => list(at(part, "citations")).length);
    const starts = recording.events.filter((event) => at(event, "content_block", "type") === "text");
    const recorded = starts.map(
      (start) =>
        recording.events.filter(
          (event) =>
            at(event, "delta", "type") === "citations_delta" && at(event, "index") === at(start, "index"),
        ).length,
    );
    expect(sent).toEqual(recorded);
  },
);

const thoughtful = recordingsIn(
  "vercel-ai/packages/google/src/__fixtures__",
  /^google-(?:tool-call|tool-call-gemini3|reasoning|text)\.chunks\.txt$/,
);

describe.skipIf(thoughtful.length === 0)(
  "thought signatures of recorded Gemini go back with their part",
  () => {
    it.each(named(thoughtful))("%s", async (_name, recording) => {
      const google = createGoogle({ baseURL: `${server.url}/v1beta`, apiKey: "played" });
      const { next } = await roundTrip(google("gemini-3-pro-preview"), recording.sse);
      const said = saidByGemini(recording);
      const parts = list(at(next.body, "contents", 1, "parts"));
      expect(parts.flatMap((part) => at(part, "thoughtSignature") ?? [])).toEqual(said.signatures);
      expect(said.signatures.length).toBeGreaterThan(0);
      expect(parts.flatMap((part) => at(part, "functionCall", "args") ?? [])).toEqual(
        said.calls.map((one) => one.arguments),
      );
      const answered = list(at(next.body, "contents", 2, "parts")).filter(
        (part) => at(part, "functionResponse") !== undefined,
      );
      expect(answered).toHaveLength(said.calls.length);
    });
  },
);

const openaiRecordings = recordingsIn(
  "vercel-ai/packages/openai/src/responses/__fixtures__",
  /\.chunks\.txt$/,
);
const encrypted = openaiRecordings
  .filter(({ name }) => name.startsWith("openai-reasoning-encrypted"))
  .flatMap((recording) => answersOf(recording, "response.completed"))
  .filter((recording) => saidByResponses(recording).signatures.length > 0);

describe.skipIf(encrypted.length === 0)("what OpenAI's responses want back", () => {
  it.each(named(encrypted))(
    "encrypted reasoning, before the calls it led to: %s",
    async (_name, recording) => {
      const model = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: "played" }).responses("gpt-5");
      const { next } = await roundTrip(model, recording.sse, {
        settings: { providerOptions: { openai: { store: false } } },
      });
      const { signatures, calls } = saidByResponses(recording);
      const input = list(next.body["input"]);
      expect(input.flatMap((item) => at(item, "encrypted_content") ?? [])).toEqual(signatures);
      const sent = input.filter((item) => at(item, "type") === "function_call");
      expect(sent.map((item) => JSON.parse(String(at(item, "arguments"))) as unknown)).toEqual(
        calls.map((one) => one.arguments),
      );
      expect(at(input, 1, "type")).toBe("reasoning");
    },
  );

  it.each(named(openaiRecordings.filter(({ name }) => name.startsWith("openai-mcp-tool-approval.1"))))(
    "a no to the tool it asks leave for: %s",
    async (_name, recording) => {
      const { next } = await roundTrip(
        createOpenAI({ baseURL: `${server.url}/v1`, apiKey: "played" }).responses("gpt-5"),
        recording.sse,
      );
      const answers = list(next.body["input"]).filter((item) => at(item, "type") === "mcp_approval_response");
      expect(answers).toMatchObject([{ approve: false }]);
      expect(recording.sse).toContain(String(at(answers, 0, "approval_request_id")));
    },
  );
});

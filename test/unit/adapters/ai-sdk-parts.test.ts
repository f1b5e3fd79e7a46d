import { describe, expect, it } from "vitest";
import { promptFor } from "../../../src/adapters/model/ai-sdk-prompt.ts";
import { type StreamPart, toDeltas } from "../../../src/adapters/model/ai-sdk-stream.ts";
import {
  type Message,
  type ReplyMessage,
  type ReplyPart,
  type ResultStatus,
  userMessage,
} from "../../../src/message/message.ts";
import { assemble } from "../../../src/model/assemble.ts";
import type { Delta } from "../../../src/model/model.ts";

const versions = ["v2", "v3", "v4"] as const;

async function readAll(parts: readonly object[]): Promise<Delta[]> {
  const deltas: Delta[] = [];
  for await (const delta of toDeltas(parts as readonly StreamPart[])) deltas.push(delta);
  return deltas;
}

/** The deltas of these parts and a finish. */
const read = (...parts: readonly object[]): Promise<Delta[]> =>
  readAll([...parts, { type: "finish", finishReason: "other" }]);

async function partsOf(...parts: readonly object[]): Promise<readonly ReplyPart[]> {
  const assembler = assemble("test", ({ id, name }) => ({ id, name }));
  for (const delta of await read(...parts)) assembler.push(delta);
  return assembler.reply().message.parts;
}

const text = (delta: string, id = "0", more = {}): object => ({ type: "text-delta", id, delta, ...more });
const metadata = (value: string): object => ({ providerMetadata: { vendor: { value } } });
const piece = (delta: string): object => ({ type: "tool-input-delta", id: "c", delta });
const source = (id: string): object => ({
  type: "source",
  sourceType: "url",
  id,
  url: "https://example.com",
});
const end: Delta = { type: "end", finishReason: "other" };

describe("the parts of a stream become deltas", () => {
  it("text and reasoning in blocks, with the metadata of their start, pieces and end", async () => {
    const parts = await partsOf(
      { type: "stream-start", warnings: [] },
      { type: "response-metadata", id: "r" },
      { type: "reasoning-start", id: "0" },
      { type: "reasoning-delta", id: "0", delta: "Hm" },
      { type: "reasoning-delta", id: "0", delta: "", ...metadata("signature") },
      { type: "reasoning-end", id: "0" },
      { type: "text-start", id: "1", ...metadata("item") },
      text("Hel", "1"),
      { type: "raw", rawValue: {} },
      { type: "ping" },
      text("lo", "1"),
      { type: "text-end", id: "1", providerMetadata: { other: { value: 1 } } },
      { type: "a type to come", id: "1" },
    );
    expect(parts).toEqual([
      { type: "reasoning", text: "Hm", ...metadata("signature") },
      { type: "text", text: "Hello", providerMetadata: { vendor: { value: "item" }, other: { value: 1 } } },
    ]);
  });

  it("the same id after an end is another block, and one without a start begins by itself", async () => {
    const start = { type: "text-start", id: "0" };
    const stop = { type: "text-end", id: "0" };
    const deltas = await read(start, text("a"), stop, start, text("b"), stop, text("c"), start, text("d"));
    expect(deltas.flatMap((delta) => (delta.type === "text-delta" ? [delta.block] : []))).toEqual([
      "0",
      "0#2",
      "0#3",
      "0#4",
    ]);
  });

  it("blocks beside each other keep their names, so that their metadata finds them", async () => {
    const deltas = await read(
      { type: "reasoning-start", id: "a", ...metadata("A") },
      { type: "reasoning-start", id: "b", ...metadata("B") },
      { type: "reasoning-end", id: "a", ...metadata("end of A") },
    );
    const blocks = deltas.map((delta) =>
      delta.type === "reasoning-delta" ? [delta.block, delta.providerMetadata] : [],
    );
    expect(blocks.slice(0, 3)).toEqual([
      ["a", { vendor: { value: "A" } }],
      ["b", { vendor: { value: "B" } }],
      ["a", { vendor: { value: "end of A" } }],
    ]);
  });

  it("metadata is kept as JSON has it, so that a transcript read back from a journal is the same", async () => {
    const kept = { vendor: { signature: "s", none: undefined, deep: { none: undefined } } };
    const parts = await partsOf(text("a", "0", { providerMetadata: kept }));
    expect(parts).toStrictEqual(JSON.parse(JSON.stringify(parts)));
    expect(parts).toStrictEqual([
      { type: "text", text: "a", providerMetadata: { vendor: { signature: "s", deep: {} } } },
    ]);
  });

  it("empty pieces say nothing", async () => {
    expect(await read({ type: "text-start", id: "0" }, text(""), { type: "text-end", id: "0" })).toEqual([
      end,
    ]);
  });

  const started = { type: "tool-input-start", id: "c", toolName: "add" };
  const whole = { type: "tool-call", toolCallId: "c", toolName: "add", input: '{"a":1}' };

  it("a call that came in pieces and then whole is one call", async () => {
    expect(
      await read(
        started,
        piece('{"a":'),
        piece(""),
        piece("1}"),
        { type: "tool-input-end", id: "c" },
        whole,
        piece("\n"),
        piece('{"a":1}'),
      ),
    ).toEqual([
      { type: "call-start", id: "c", name: "add" },
      { type: "call-delta", id: "c", text: '{"a":' },
      { type: "call-delta", id: "c", text: "1}" },
      { type: "call-end", id: "c", arguments: '{"a":1}' },
      end,
    ]);
  });

  it("a call that only came whole, with its metadata and who ran it", async () => {
    const ran = { ...whole, providerExecuted: true, dynamic: true, ...metadata("thought") };
    expect(await read(ran)).toEqual([
      { type: "call-start", id: "c", name: "add" },
      { type: "call-end", id: "c", arguments: '{"a":1}', providerExecuted: true, ...metadata("thought") },
      end,
    ]);
  });

  it("what only the start of a call said holds for it", async () => {
    const deltas = await read({ ...started, providerExecuted: true, ...metadata("start") }, whole);
    expect(deltas[1]).toEqual({
      type: "call-end",
      id: "c",
      arguments: '{"a":1}',
      providerExecuted: true,
      ...metadata("start"),
    });
  });

  it("the same call told twice is one, another with the same id is another", async () => {
    expect(
      (await partsOf(whole, whole, { ...whole, input: '{"a":2}' })).map(
        (part) => part.type === "tool-call" && [part.id, part.arguments],
      ),
    ).toEqual([
      ["c", { a: 1 }],
      ["call_2", { a: 2 }],
    ]);
    expect(await partsOf(started, whole, started, whole)).toHaveLength(2);
  });

  it("a call without an id gets one, and its result keeps to it", async () => {
    const blank = { ...whole, toolCallId: "", providerExecuted: true };
    const result = { type: "tool-result", toolCallId: "", toolName: "add", result: 1 };
    expect(await partsOf(blank, result)).toMatchObject([
      { id: "call_1" },
      { data: { toolCallId: "call_1" } },
    ]);
  });

  it("a call whose whole never came is malformed", async () => {
    const [call] = await partsOf(started, { type: "tool-input-delta", id: "c", delta: '{"a":1}' });
    expect(call).toMatchObject({
      type: "tool-call",
      malformed: expect.stringContaining("ended before") as string,
    });
  });

  it("results of the provider are kept, the last of each; files and parts of its own too", async () => {
    const result = { type: "tool-result", toolCallId: "c", toolName: "web", result: [{ n: 1 }] };
    const parts = await partsOf(
      { ...result, result: [], preliminary: true },
      { ...result, isError: undefined, ...metadata("r") },
      { type: "file", mediaType: "image/png", data: "AQID" },
      { type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array([1, 2, 3]) } },
      {
        type: "reasoning-file",
        mediaType: "image/png",
        data: { type: "url", url: new URL("https://example.com/a.png") },
      },
      { type: "custom", kind: "vendor.thing", ...metadata("c") },
      { type: "custom", kind: "anthropic.message_start", ...metadata("noise") },
    );
    expect(parts.map((part) => (part.type === "provider" ? part.data : part))).toEqual([
      { ...result, ...metadata("r") },
      { type: "file", mediaType: "image/png", data: "AQID" },
      { type: "file", mediaType: "image/png", data: "AQID" },
      { type: "reasoning-file", mediaType: "image/png", data: "https://example.com/a.png" },
      { type: "custom", kind: "vendor.thing", ...metadata("c") },
    ]);
    expect(JSON.stringify(parts)).not.toContain("isError");
  });

  it("sources inside a text come after it: the text and its metadata stay one part", async () => {
    const parts = await partsOf(
      source("before"),
      { type: "text-start", id: "0", ...metadata("item") },
      text("It is "),
      source("within"),
      text("so."),
      { type: "text-end", id: "0", ...metadata("citations") },
      source("after"),
    );
    expect(parts).toMatchObject([
      { data: { id: "before" } },
      { type: "text", text: "It is so.", ...metadata("citations") },
      { data: { id: "within" } },
      { data: { id: "after" } },
    ]);
    expect(await partsOf(text("cut"), source("held"))).toMatchObject([
      { text: "cut" },
      { data: { id: "held" } },
    ]);
  });

  it("parts without a finish are not a reply; after a finish nothing is read", async () => {
    await expect(readAll([text("a")])).rejects.toThrow("ended before the reply did");
    const deltas = await read({ type: "finish", finishReason: "stop" }, text("late"), {
      type: "error",
      error: 1,
    });
    expect(deltas).toEqual([{ type: "end", finishReason: "stop" }]);
  });

  it.each([
    ["stop", "stop"],
    ["unknown", "other"],
    [{ unified: "tool-calls", raw: "tool_use" }, "tool-calls"],
    [{ unified: "length", raw: undefined }, "length"],
    [{ unified: "content-filter", raw: "refusal" }, "content-filter"],
    [{ unified: "other", raw: "content_filter: PROHIBITED_CONTENT" }, "content-filter"],
    [{ unified: "interrupted", raw: "x" }, "other"],
    [{ unified: "error", raw: "x" }, "error"],
    [undefined, "other"],
  ])("the finish reason %j is %s", async (finishReason, expected) => {
    const { raw } = { raw: undefined, ...(typeof finishReason === "object" ? finishReason : {}) };
    expect(await read({ type: "finish", finishReason })).toEqual([
      {
        type: "end",
        finishReason: expected,
        ...(raw === undefined ? {} : { response: { finishReason: raw } }),
      },
    ]);
  });

  const none = undefined;

  it.each([
    [
      { inputTokens: 1, outputTokens: 2, totalTokens: 3, reasoningTokens: 4, cachedInputTokens: 5 },
      { inputTokens: 1, outputTokens: 2, reasoningTokens: 4, cachedInputTokens: 5 },
    ],
    [{ inputTokens: none, outputTokens: 2, totalTokens: none }, { outputTokens: 2 }],
    [
      {
        inputTokens: { total: 1, noCache: 9, cacheRead: 5, cacheWrite: 9 },
        outputTokens: { total: 2, text: 9, reasoning: 4 },
      },
      { inputTokens: 1, outputTokens: 2, reasoningTokens: 4, cachedInputTokens: 5, cacheWriteTokens: 9 },
    ],
    [{ inputTokens: { total: none }, outputTokens: { total: Number.NaN } }, none],
    [none, none],
  ])("the usage %j", async (usage, expected) => {
    expect((await read({ type: "finish", usage, finishReason: "stop" }))[0]).toEqual({
      type: "end",
      finishReason: "stop",
      ...(expected === none ? {} : { usage: expected }),
    });
  });
});

const reply = (...parts: readonly ReplyPart[]): ReplyMessage => ({ role: "assistant", parts });
const result = (status: ResultStatus, callId = "c"): Message => ({
  role: "tool",
  callId,
  name: "add",
  status,
  text: `told ${callId}`,
});

const sentFile = (data: unknown): object[] => [
  { type: "file", mediaType: "image/png", data, providerOptions: { vendor: { value: "kept" } } },
];
const executed = (id: string): ReplyPart => ({
  type: "tool-call",
  id,
  name: "web",
  arguments: {},
  providerExecuted: true,
});
const answerTo = (toolCallId: string): ReplyPart => ({
  type: "provider",
  data: { type: "tool-result", toolCallId, toolName: "web", result: 1 },
});

const prompts = { v2: promptFor("v2"), v3: promptFor("v3"), v4: promptFor("v4") };
const toPrompt = (messages: readonly Message[], version: (typeof versions)[number]) =>
  prompts[version](messages);

/** The parts that a part of a reply becomes. */
function sent(part: ReplyPart, version: (typeof versions)[number]): unknown {
  return toPrompt([reply(part)], version)[0]?.content;
}

describe.each(versions)("messages become a prompt (%s)", (version) => {
  const options = { providerOptions: { vendor: { value: "kept" } } };
  const kept = metadata("kept");

  it("every role, the parts of a reply in order, each with its metadata", () => {
    const prompt = toPrompt(
      [
        { role: "system", text: "Be brief." },
        { role: "user", parts: [{ type: "text", text: "Add.", ...kept }] },
        reply(
          { type: "reasoning", text: "Hm", ...kept },
          { type: "text", text: "I add.", ...kept },
          { type: "tool-call", id: "c", name: "add", arguments: { a: 1 }, ...kept },
        ),
        result("ok"),
      ],
      version,
    );
    expect(prompt).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Add.", ...options }] },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm", ...options },
          { type: "text", text: "I add.", ...options },
          { type: "tool-call", toolCallId: "c", toolName: "add", input: { a: 1 }, ...options },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "c",
            toolName: "add",
            output: { type: "text", value: "told c" },
          },
        ],
      },
    ]);
  });

  it("results that follow each other are one message, others are not", () => {
    const prompt = toPrompt(
      [result("ok", "1"), result("ok", "2"), userMessage("x"), result("ok", "3")],
      version,
    );
    expect(prompt.map(({ role, content }) => [role, content.length])).toEqual([
      ["tool", 2],
      ["user", 1],
      ["tool", 1],
    ]);
    expect(toPrompt([result("ok", "1")], version)[0]?.content).toHaveLength(1);
  });

  it.each(["error", "invalid", "timeout", "cancelled", "skipped", "unknown"] as const)(
    "a result that is %s is an error",
    (status) => {
      expect(toPrompt([result(status)], version)[0]?.content[0]).toMatchObject({
        output: { type: "error-text", value: "told c" },
      });
    },
  );

  it("a denied result is a denial where the version has one", () => {
    const output =
      version === "v2"
        ? { type: "error-text", value: "told c" }
        : { type: "execution-denied", reason: "told c" };
    expect(toPrompt([result("denied")], version)[0]?.content[0]).toMatchObject({ output });
  });

  it("a malformed call goes back with empty arguments, one of a custom tool with its text", () => {
    const call = { type: "tool-call", id: "c", name: "add", arguments: '{"a":' } as const;
    expect(sent({ ...call, malformed: "not JSON" }, version)).toEqual([
      { type: "tool-call", toolCallId: "c", toolName: "add", input: {} },
    ]);
    expect(sent({ ...call, arguments: "SELECT 1" }, version)).toMatchObject([{ input: "SELECT 1" }]);
  });

  it.each(["anthropic.messages", "google.generative-ai", "mistral.chat", "openai.chat", "amazon-bedrock"])(
    "%s wants an object of each call, and gets no text; a custom tool of OpenAI's Responses has its own",
    (server) => {
      const call = { type: "tool-call", id: "c", name: "add", arguments: "SELECT 1" } as const;
      const to = (provider: string, part: ReplyPart) =>
        promptFor(version, provider)([userMessage("x"), reply(part)])[1]?.content;
      expect(to(server, call)).toMatchObject([{ input: {} }]);
      expect(to(server, { ...call, arguments: '{"a":1}' })).toMatchObject([{ input: { a: 1 } }]);
      expect(to("openai.responses", call)).toMatchObject([{ input: "SELECT 1" }]);
    },
  );

  it("a message that says nothing is left out", () => {
    const source = { type: "provider", data: { type: "source", id: "1" } } as const;
    expect(
      toPrompt([{ role: "system", text: "" }, userMessage(""), reply(source), reply()], version),
    ).toEqual([]);
    expect(sent({ type: "text", text: "", ...kept }, version)).toEqual([
      { type: "text", text: "", ...options },
    ]);
  });

  it("files: data, an address, and an address that is data", () => {
    const file = (data: string): unknown =>
      sent({ type: "file", mediaType: "image/png", data, ...kept }, version);
    const url = new URL("https://example.com/a.png");
    const v4 = version === "v4";
    expect(file("AQID")).toEqual(sentFile(v4 ? { type: "data", data: "AQID" } : "AQID"));
    expect(file(url.href)).toEqual(sentFile(v4 ? { type: "url", url } : url));
    expect(file("data:image/png;base64,AQID")).toEqual(
      sentFile(v4 ? { type: "data", data: "AQID" } : "AQID"),
    );
    expect(
      sent({ type: "provider", data: { type: "file", mediaType: "image/png", data: "AQID" } }, version),
    ).toMatchObject([{ type: "file" }]);
  });

  it.each([
    [{ result: [{ n: 1 }] }, { type: "json", value: [{ n: 1 }] }],
    [{ result: "as text" }, { type: "text", value: "as text" }],
    [
      { result: { code: "x" }, isError: true },
      { type: "error-json", value: { code: "x" } },
    ],
    [{}, { type: "json", value: null }],
  ])("a result of the provider %j", (given, output) => {
    const data = {
      type: "tool-result",
      toolCallId: "c",
      toolName: "web",
      ...given,
      providerMetadata: { vendor: { value: "kept" } },
    };
    expect(sent({ type: "provider", data }, version)).toEqual([
      { type: "tool-result", toolCallId: "c", toolName: "web", output, ...options },
    ]);
  });

  it("parts of its own go back where the version has a place for them, parts of other adapters never", () => {
    const v4 = version === "v4";
    expect(
      sent({ type: "provider", data: { type: "custom", kind: "vendor.thing", ...kept } }, version),
    ).toEqual(v4 ? [{ type: "custom", kind: "vendor.thing", ...options }] : undefined);
    const drawn = { type: "reasoning-file", mediaType: "image/png", data: "AQID" };
    expect(sent({ type: "provider", data: drawn }, version)).toEqual(
      v4 ? [{ ...drawn, data: { type: "data", data: "AQID" } }] : undefined,
    );
    expect(sent({ type: "provider", data: { type: "tool-result", id: 1 } }, version)).toBeUndefined();
    expect(sent({ type: "provider", data: {} }, version)).toBeUndefined();
  });

  it("a result of the provider follows its call when the call got another id", () => {
    const ids = (...parts: readonly ReplyPart[]): unknown => {
      const content = toPrompt([reply(...parts)], version)[0]?.content;
      return typeof content === "object" && content.map((part) => part["toolCallId"]);
    };
    const renamed = ids(
      executed("call_1_0"),
      answerTo("too long"),
      executed("b"),
      answerTo("b"),
      executed("call_1_2"),
      answerTo("other"),
    );
    expect(renamed).toEqual(["call_1_0", "call_1_0", "b", "b", "call_1_2", "call_1_2"]);
    expect(ids(answerTo("of an earlier reply"))).toEqual(["of an earlier reply"]);
    const own: ReplyPart = { type: "tool-call", id: "ours", name: "web", arguments: {} };
    const beside = ids(own, executed("call_1_1"), answerTo("too long"));
    expect(beside).toEqual(["ours", "call_1_1", "call_1_1"]); // never a call that the program carries out
    expect(sent(executed("c"), version)).toMatchObject([{ providerExecuted: true }]);
  });

  it("a provider that asks leave for a tool of its own is told no", () => {
    const ask: ReplyPart = {
      type: "provider",
      data: { type: "tool-approval-request", approvalId: "a1", toolCallId: "c" },
    };
    const prompt = toPrompt([reply({ type: "text", text: "May I?" }, ask)], version);
    const no = { type: "tool-approval-response", approvalId: "a1", approved: false };
    expect(prompt.slice(1)).toMatchObject(version === "v2" ? [] : [{ role: "tool", content: [no] }]);
  });

  it("converts each message once: a longer list of the same messages shares what was made", () => {
    const messages: Message[] = [
      userMessage("Add."),
      reply({ type: "text", text: "I add." }),
      userMessage("More."),
    ];
    const before = toPrompt(messages, version);
    const after = toPrompt([...messages, reply({ type: "text", text: "Again." })], version);
    expect(after.slice(0, 3).every((message, index) => message === before[index])).toBe(true);
    expect(after).toHaveLength(4);
  });
});

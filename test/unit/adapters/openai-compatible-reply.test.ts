import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  openaiCompatible,
  type OpenaiCompatibleOptions,
} from "../../../src/adapters/model/openai-compatible.ts";
import { agent } from "../../../src/index.ts";
import type { Delta, Model } from "../../../src/model/model.ts";
import { fakeTool } from "../../../src/testing.ts";
import { openaiChunk as chunk } from "../../contract/openai-wire.ts";
import { type Answer, playedServer, type PlayedServer, sse } from "../../contract/played-server.ts";
import { callsOf, expectWellFormed, finishOf, textOf } from "../../contract/read-deltas.ts";
import { ask, said } from "./ask-openai.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
afterAll(() => server.close());

const model = (options: OpenaiCompatibleOptions = {}): Model =>
  openaiCompatible("m", { baseUrl: `${server.url}/v1`, ...options });

async function replied(events: readonly object[]): Promise<readonly Delta[]> {
  server.play({ sse: sse(events, true) });
  const deltas = await ask(model());
  expectWellFormed(deltas);
  return deltas;
}

describe("calls as servers stream them", () => {
  const piece = (call: object): object => chunk({ tool_calls: [call] });
  const call = (
    at: { readonly index?: number; readonly id?: string },
    name?: string,
    args?: unknown,
  ): object => ({
    ...at,
    function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
  });

  it.each<[string, readonly object[], readonly [string, unknown][]]>([
    [
      "interleaved",
      [
        call({ index: 0, id: "a" }, "add", '{"a":'),
        call({ index: 1, id: "b" }, "sub", '{"a"'),
        call({ index: 0 }, undefined, "1}"),
        call({ index: 1 }, undefined, ":2}"),
      ],
      [
        ["add", { a: 1 }],
        ["sub", { a: 2 }],
      ],
    ],
    [
      "whole, with one index and ids",
      [call({ index: 0, id: "a" }, "add", '{"a":1}'), call({ index: 0, id: "b" }, "add", '{"a":2}')],
      [
        ["add", { a: 1 }],
        ["add", { a: 2 }],
      ],
    ],
    [
      "whole, with one index and no ids",
      [call({ index: 0 }, "add", '{"a":1}'), call({ index: 0, id: "" }, "add", '{"a":2}')],
      [
        ["add", { a: 1 }],
        ["add", { a: 2 }],
      ],
    ],
    [
      "without an index, by their ids",
      [call({ id: "a" }, "add", '{"a"'), call({ id: "a" }, undefined, ":1}"), call({ id: "b" }, "sub", "{}")],
      [
        ["add", { a: 1 }],
        ["sub", {}],
      ],
    ],
    [
      "without index and id",
      [call({}, "add", '{"a"'), call({}, undefined, ":1}"), call({}, "sub", "{}")],
      [
        ["add", { a: 1 }],
        ["sub", {}],
      ],
    ],
    [
      "with the name in each piece",
      [
        call({ index: 0, id: "a" }, "add", '{"a"'),
        call({ index: 0, id: "a" }, "add", ":1}"),
        call({ index: 0, id: "a" }, "add", ""),
      ],
      [["add", { a: 1 }]],
    ],
    [
      "with the name after the id",
      [call({ index: 0, id: "a" }, "", '{"a":'), call({ index: 0, id: "a" }, "add", "1}")],
      [["add", { a: 1 }]],
    ],
    ["with a value for arguments", [call({ index: 0, id: "a" }, "add", { a: 1 })], [["add", { a: 1 }]]],
    [
      "without arguments",
      [call({ index: 0, id: "a" }, "add"), call({ index: 1, id: "b" }, "sub", null)],
      [
        ["add", {}],
        ["sub", {}],
      ],
    ],
    [
      "with the same id twice",
      [call({ index: 0, id: "a" }, "add", "{}"), call({ index: 1, id: "a" }, "sub", "{}")],
      [
        ["add", {}],
        ["sub", {}],
      ],
    ],
    [
      "with a name in pieces",
      [call({ index: 0, id: "a" }, "ad"), call({ index: 0 }, "d", ""), call({ index: 0 }, "", '{"a":1}')],
      [["add", { a: 1 }]],
    ],
    [
      "told again at the end, with the same id",
      [
        call({ index: 0, id: "a" }, "add", '{"a":'),
        call({ index: 0 }, undefined, "1}"),
        call({ index: 0, id: "a" }, "add", '{"a":1}'),
        call({ index: 1, id: "a" }, "add", '{"a":1}'),
      ],
      [["add", { a: 1 }]],
    ],
    [
      "with brackets and quotes in their texts",
      [call({}, "add", String.raw`{"a":"}\"{`), call({}, "", '["}'), call({}, "sub", "{}")],
      [
        ["add", { a: '}"{[' }],
        ["sub", {}],
      ],
    ],
    [
      "with nonsense between them",
      [call({ index: 0, id: "a" }, "add", '{"a":1}'), { index: 0 }, { index: "x", function: 3 }],
      [["add", { a: 1 }]],
    ],
  ])("%s", async (_how, pieces, expected) => {
    const deltas = await replied([...pieces.map(piece), chunk({}, "stop")]);
    expect(callsOf(deltas).map(({ name, parsed }) => [name, parsed.arguments])).toEqual(expected);
    expect(finishOf(deltas)).toBe("tool-calls");
  });

  it("ends a call whose arguments are whole when the next one begins, so that it can run", async () => {
    const deltas = await replied([
      piece(call({ index: 0, id: "a" }, "add", '{"a":1}')),
      piece(call({ index: 1, id: "b" }, "sub", "{}")),
      chunk({}, "tool_calls"),
    ]);
    expect(deltas.map((delta) => delta.type)).toEqual([
      "call-start",
      "call-delta",
      "call-end",
      "call-start",
      "call-delta",
      "call-end",
      "end",
    ]);
  });

  it("reads the one call of older servers, and passes over it beside newer ones", async () => {
    const older = (name: string | undefined, args: string): object =>
      chunk({ function_call: { ...(name === undefined ? {} : { name }), arguments: args } });
    const only = await replied([older("add", '{"a"'), older(undefined, ":1}"), chunk({}, "function_call")]);
    expect(callsOf(only)).toMatchObject([{ name: "add", parsed: { arguments: { a: 1 } } }]);
    const both = chunk({
      tool_calls: [call({ index: 0, id: "a" }, "add", '{"a":1}')],
      function_call: { name: "add", arguments: '{"a":1}' },
    });
    expect(callsOf(await replied([both, chunk({}, "stop")]))).toHaveLength(1);
  });

  it("parses no arguments while they come, where each piece has the name", async () => {
    const parse = vi.spyOn(JSON, "parse");
    const pieces = Array.from({ length: 200 }, () => piece(call({ index: 0, id: "a" }, "add", "}")));
    await replied([piece(call({ index: 0, id: "a" }, "add", '{"a":"')), ...pieces, chunk({}, "stop")]);
    const texts = parse.mock.calls.filter(([text]) => text.startsWith('{"a":"'));
    parse.mockRestore();
    expect(texts.length).toBeLessThanOrEqual(1); // by this test itself, of the whole
  });

  it("breaks off where a call goes on that was whole, since it may have begun to run", async () => {
    const first = piece(call({ index: 0, id: "a" }, "add", "{}"));
    const second = piece(call({ index: 1, id: "b" }, "sub", "{}"));
    const more = (text: string): object => piece(call({ index: 0 }, undefined, text));
    server.play({ sse: sse([first, second, more('{"a":1}'), chunk({}, "tool_calls")], true) });
    await expect(ask(model())).rejects.toMatchObject({ code: "provider-failed", retryable: true });
    const harmless = await replied([first, second, more("\n"), more("{}"), chunk({}, "tool_calls")]);
    expect(callsOf(harmless)).toMatchObject([{ name: "add" }, { name: "sub" }]);
  });

  it("says that a reply was cut, also in a call", async () => {
    expect(
      finishOf(await replied([piece(call({ index: 0, id: "a" }, "add", '{"a"')), chunk({}, "length")])),
    ).toBe("length");
  });
});

describe("replies with several choices", () => {
  const add = (a: number): object[] => [
    { index: 0, id: `call_${a}`, type: "function", function: { name: "add", arguments: `{"a":${a}}` } },
  ];
  const choice = (index: unknown, delta: object, finish_reason: string | null = null): object => ({
    ...(index === undefined ? {} : { index }),
    delta,
    finish_reason,
  });
  const first = choice(0, { content: "hello", tool_calls: add(3) });
  const second = choice(1, { content: "good day", tool_calls: add(100) });
  const end = choice(0, {}, "tool_calls");
  const message = ({ delta, ...rest }: Record<string, unknown>): object => ({
    ...rest,
    message: delta,
    finish_reason: "tool_calls",
  });
  const whole = (...choices: readonly object[]): Answer => ({
    json: { choices: choices.map((each) => message({ ...each })) },
  });
  const streamed = (...chunks: readonly (readonly object[])[]): Answer => ({
    sse: sse(
      chunks.map((choices) => ({ choices })),
      true,
    ),
  });

  it.each<[string, Answer]>([
    ["in chunks of their own", streamed([first], [second], [choice(1, {}, "stop")], [end])],
    ["the second before the first", streamed([second], [first], [end])],
    ["in the same chunks, in any order", streamed([second, first], [end, choice(1, {}, "stop")])],
    ["whole, in any order", whole(second, first)],
    ["whole, without an index", whole({ ...first, index: undefined }, { ...second, index: undefined })],
  ])("only the first counts: %s", async (_how, answer) => {
    server.play(answer);
    const tool = fakeTool("add", "sum");
    const asked = agent({ name: "a", model: model(), tools: [tool], budget: { turns: 1 } });
    const { transcript } = await asked.run("Add.");
    expect(tool.calls).toEqual([{ a: 3 }]);
    const reply = transcript.messages.find(({ role }) => role === "assistant");
    expect(reply).toMatchObject({ parts: [{ text: "hello" }, { arguments: { a: 3 } }] });
  });

  it("the end of the second is not the end of the reply", async () => {
    server.play({ sse: sse([first, choice(1, {}, "stop")].map((each) => ({ choices: [each] }))) });
    await expect(ask(model())).rejects.toMatchObject({ code: "provider-failed", retryable: true });
  });

  it("a second choice alone is not a reply", async () => {
    server.play(whole(second));
    await expect(ask(model())).rejects.toMatchObject({ code: "provider-failed" });
  });
});

describe("what else servers stream", () => {
  it("reads reasoning under either name, once, refusals as text, and lists of parts", async () => {
    const deltas = await replied([
      chunk({ reasoning: "a", reasoning_content: "a" }),
      chunk({ reasoning: "b", reasoning_content: "" }),
      chunk({
        content: [
          { type: "thinking", thinking: [{ type: "text", text: "c" }] },
          { type: "text", text: "d" },
        ],
      }),
      chunk({ refusal: "no" }),
      chunk({}, "content_filter"),
    ]);
    expect(textOf(deltas, "reasoning-delta")).toBe("abc");
    expect(textOf(deltas, "text-delta")).toBe("dno");
    expect(finishOf(deltas)).toBe("content-filter");
  });

  it("tells a refusal of the model from an answer, in a stream and in one piece", async () => {
    const streamed = await replied([
      chunk({ refusal: "I can" }),
      chunk({ refusal: "not." }),
      chunk({}, "stop"),
    ]);
    expect(textOf(streamed, "text-delta")).toBe("I cannot.");
    expect(finishOf(streamed)).toBe("content-filter");
    const message = { content: null, refusal: "I cannot." };
    server.play({ json: { choices: [{ index: 0, message, finish_reason: "stop" }] } });
    const refused = agent({ name: "a", model: model() }).run("x");
    expect((await refused).outcome).toMatchObject({ type: "refused", code: "run-refused" });
    const cut = await replied([chunk({ refusal: "I can" }), chunk({}, "length")]);
    expect(finishOf(cut)).toBe("length");
    const none = await replied([chunk({ content: "Yes.", refusal: null }), chunk({ refusal: "" }, "stop")]);
    expect(finishOf(none)).toBe("stop");
  });

  it("is told of what Gemini filtered, which names why behind it, and does not ask again", async () => {
    const choices = [{ index: 0, finish_reason: "content_filter: PROHIBITED_CONTENT" }];
    const before = server.requests.length;
    server.play({ sse: sse([{ ...chunk({}), choices }], true) });
    const { outcome } = await agent({ name: "a", model: model() }).run("x");
    expect(outcome).toMatchObject({ type: "refused", code: "run-refused" });
    expect(server.requests).toHaveLength(before + 1);
  });

  it("reads pictures, alone and beside a text", async () => {
    const image = (url: string): object => ({ type: "image_url", image_url: { url } });
    const images = [image("data:image/png;base64,iVBORw0KGgo="), image("https://box/a.jpg"), { type: "x" }];
    const deltas = await replied([chunk({ content: "x" }), chunk({ images }), chunk({}, "stop")]);
    const files = deltas.flatMap((delta) => (delta.type === "file" ? [delta.part] : []));
    expect(files).toEqual([
      { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" },
      { type: "file", mediaType: "image/jpeg", data: "https://box/a.jpg" },
    ]);
  });

  it.each(["insufficient_system_resource", "network_error"])(
    "a reply that ended with %s is none",
    async (end) => {
      server.play({ sse: sse([chunk({ content: "half a" }), chunk({}, end)], true) });
      const host = agent({ name: "a", model: model(), retry: false });
      await expect(host("Hi")).rejects.toMatchObject({ code: "provider-failed" });
    },
  );

  it("keeps sources, and what the provider ran itself, in their place", async () => {
    const annotation = { type: "url_citation", url_citation: { url: "https://box/a", title: "A" } };
    const ran = { index: 0, type: "search", arguments: "{}", output: "found" };
    const deltas = await replied([
      chunk({ executed_tools: [ran] }),
      chunk({ content: "x", annotations: [annotation] }),
      { ...chunk({ content: [{ type: "reference", reference_ids: [1] }] }), citations: ["https://box/b"] },
      { ...chunk({}, "stop"), citations: ["https://box/b"] },
    ]);
    const parts = deltas.flatMap((delta) => (delta.type === "provider-part" ? [delta.part.data] : []));
    expect(parts).toMatchObject([
      { type: "executed_tools", value: ran },
      { type: "annotations", value: annotation },
      { type: "content", value: { type: "reference", reference_ids: [1] } },
      { type: "citations", value: "https://box/b" },
    ]);
  });

  it.each<[string, Answer]>([
    ["JSON as a stream", { sse: JSON.stringify({ choices: [{ message: { content: "a" } }] }) }],
    [
      "a stream as JSON",
      {
        sse: sse([chunk({ content: "a" }), chunk({}, "stop")], true),
        headers: { "content-type": "application/json" },
      },
    ],
  ])("reads %s", async (_what, answer) => {
    server.play(answer);
    expect(textOf(await ask(model()), "text-delta")).toBe("a");
  });

  it.each([
    ["a page", "\n<!doctype html><title>Log in</title>", "HTML page"],
    ["lines", '{"message":{"content":"a"},"done":false}\n{"done":true}\n', "lines of JSON"],
  ])("says which address gave %s where a reply should be", async (_what, text, named) => {
    server.play({ sse: text });
    const error = await ask(model()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "provider-failed", retryable: false });
    expect(String(error)).toContain(`${server.url}/v1`);
    expect(String(error)).toContain(named);
  });

  it("says what came in place of a stream that has no event", async () => {
    server.play({ sse: "upstream connect error" });
    await expect(ask(model())).rejects.toThrow("begins: upstream connect error");
  });

  it("reads each empty line before a reply once, however many keep the connection open", async () => {
    const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
    const reply = sse([chunk({ content: "a" }), chunk({}, "stop")]);
    const pieces = [...Array.from({ length: 500 }, () => bytes("\n")), bytes(reply)];
    const fetch = () => Promise.resolve(new Response(ReadableStream.from(pieces)));
    const spies = (["trim", "trimStart"] as const).map((name) => vi.spyOn(String.prototype, name));
    const deltas = await ask(model({ fetch }));
    const texts = spies.flatMap((spy) => spy.mock.contexts as readonly unknown[]);
    for (const spy of spies) spy.mockRestore();
    expect(textOf(deltas, "text-delta")).toBe("a");
    expect(texts.reduce((sum: number, text) => sum + String(text).length, 0)).toBeLessThan(500 * 10);
  });

  it("says of JSON over several lines that it is no chat, whatever a line of it is alone", async () => {
    server.play({ sse: '[\n{"a":1}\n]' });
    await expect(ask(model())).rejects.toThrow("it has no choices");
  });

  it("passes on the words of an event that is an error", async () => {
    server.play({ sse: 'event: error\ndata: {"message":"the moon is full"}\n\n' });
    await expect(ask(model())).rejects.toThrow("the moon is full");
  });

  it("quotes of a text that is no error its first 300 characters, and marks that more followed", async () => {
    const quoted = async (text: string): Promise<string> => {
      server.play({ status: 500, sse: text });
      return String(await ask(model()).catch((thrown: unknown) => thrown));
    };
    expect(await quoted("x".repeat(300))).toMatch(/[^x]x{300}(?![x…])/);
    expect(await quoted("x".repeat(301))).toMatch(/[^x]x{300}…/);
  });

  it("keeps integers that a double cannot hold", async () => {
    server.play({
      sse: `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"add","arguments":{"a":12345678901234567890}}}]},"finish_reason":"stop"}]}\n\n`,
    });
    expect(callsOf(await ask(model()))[0]?.parsed.arguments).toEqual({ a: "12345678901234567890" });
  });

  it.each([
    [
      "comments, named events and no space",
      `: ping\n\nevent: x\ndata:${JSON.stringify(chunk({ content: "a" }))}\n\ndata:${JSON.stringify(chunk({}, "stop"))}\n\ndata:[DONE]\n\n`,
    ],
    [
      "nothing in them, which keep the connection open",
      `\n\n data:\n\ndata: ${JSON.stringify(chunk({ content: "a" }))}\n\ndata: \n\ndata: ${JSON.stringify(chunk({}, "stop"))}\n\n`,
    ],
    [
      "no end of its last event",
      `data: ${JSON.stringify(chunk({ content: "a" }))}\r\n\r\ndata: ${JSON.stringify(chunk({}, "stop"))}`,
    ],
  ])("reads events with %s", async (_what, text) => {
    server.play({ sse: text });
    const deltas = await ask(model());
    expect(textOf(deltas, "text-delta")).toBe("a");
    expect(finishOf(deltas)).toBe("stop");
  });

  it("takes `[DONE]` for an end without a reason only where its author says so", async () => {
    server.play({ sse: sse([chunk({ content: "a" })], true) });
    expect(finishOf(await ask(model({ doneEnds: true })))).toBe("other");
  });

  it("takes an answer that came whole for one without a reason", async () => {
    server.play({ json: { choices: [{ message: { content: "a" } }] } });
    expect(finishOf(await ask(model()))).toBe("other");
  });

  it.each<[string, Answer, boolean]>([
    ["a stream that ends with `[DONE]` alone", { sse: sse([chunk({ content: "a" })], true) }, true],
    ["a stream without an end", { sse: sse([chunk({ content: "a" })]) }, true],
    [
      "a stream without an end, whose chunks have empty reasons",
      { sse: sse([chunk({ content: "a" }, "")]) },
      true,
    ],
    ["an event that is no JSON", { sse: "data: <html>\n\n" }, true],
    ["an answer that is no chat", { json: { hello: 1 } }, true],
    [
      "an error of llama.cpp's older versions",
      { sse: 'error: {"code":400,"message":"too long"}\n\n' },
      false,
    ],
    [
      "an error in the way of vLLM",
      { sse: sse([{ object: "error", message: "too long", code: 400 }]) },
      false,
    ],
    ["an error that may pass", { sse: sse([{ error: { message: "overloaded", code: 503 } }]) }, true],
  ])("throws provider-failed for %s", async (_what, answer, retryable) => {
    server.play(answer);
    await expect(ask(model())).rejects.toMatchObject({ code: "provider-failed", retryable });
  });

  it("breaks off a reply that is too large", async () => {
    server.play(said("x".repeat(5_000)));
    await expect(ask(model({ maxReplyBytes: 1_000 }))).rejects.toMatchObject({
      code: "provider-failed",
      retryable: false,
    });
  });
});

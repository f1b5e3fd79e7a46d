import { describe, expect, it } from "vitest";
import { z } from "zod";
import { anthropic } from "../contract/ai-sdk-wire.ts";
import type { Message } from "../../src/message/message.ts";
import { agent, type AgentEvent, inMemorySessions, session } from "../../src/index.ts";
import { pipe } from "../../src/compose.ts";
import { fakeAnthropic, fakeOpenai, scripted } from "../../src/testing.ts";
import { file, image } from "../../src/tools.ts";
import { openaiCompatible } from "../../src/adapters/model/openai-compatible.ts";

const png = "iVBORw0KGgo=";
const picture = { type: "file", mediaType: "image/png", data: png } as const;
const text = (words: string) => ({ type: "text", text: words }) as const;
const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));

/** The messages that a model is sent by an agent that is asked this, without the author's. */
async function sentFor(input: unknown): Promise<readonly Message[]> {
  const model = scripted(["Yes."]);
  expect(await agent({ name: "viewer", model })(input as string)).toBe("Yes.");
  return model.requests[0]?.messages.filter(({ role }) => role !== "system") ?? [];
}

describe("what an agent can be asked", () => {
  it.each([
    ["a list of texts and files", ["What is it?", image(png)]],
    ["a file alone, and a text", [text("What is it?"), picture]],
    ["a message", { role: "user", parts: [text("What is it?"), picture] }],
    ["a list of one message", [{ role: "user", parts: [text("What is it?"), picture] }]],
    [
      "a message of the AI SDK",
      { role: "user", content: [text("What is it?"), { type: "image", image: bytes }] },
    ],
    [
      "messages of the AI SDK, with a file",
      [
        {
          role: "user",
          content: [
            text("What is it?"),
            { type: "file", data: `data:image/png;base64,${png}`, mediaType: "image/png" },
          ],
        },
      ],
      `data:image/png;base64,${png}`,
    ],
    [
      "a UIMessage",
      {
        id: "1",
        role: "user",
        parts: [
          text("What is it?"),
          { type: "file", mediaType: "image/png", url: `data:image/png;base64,${png}` },
        ],
      },
      `data:image/png;base64,${png}`,
    ],
    [
      "OpenAI's chat messages",
      [
        {
          role: "user",
          content: [
            text("What is it?"),
            { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
          ],
        },
      ],
      `data:image/png;base64,${png}`,
    ],
    [
      "OpenAI's input of responses",
      [
        {
          role: "user",
          content: [
            { type: "input_text", text: "What is it?" },
            { type: "input_image", image_url: `data:image/png;base64,${png}` },
          ],
        },
      ],
      `data:image/png;base64,${png}`,
    ],
    [
      "Anthropic's blocks",
      [
        {
          role: "user",
          content: [
            text("What is it?"),
            { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
          ],
        },
      ],
    ],
  ])("%s [H13]", async (_, input, data: string = png) => {
    expect(await sentFor(input)).toEqual([
      { role: "user", parts: [text("What is it?"), { ...picture, data }] },
    ]);
  });

  it("a text and an object stay what they were", async () => {
    expect(await sentFor("Hello")).toEqual([{ role: "user", parts: [text("Hello")] }]);
    expect(await sentFor({ city: "Rome" })).toEqual([{ role: "user", parts: [text('{"city":"Rome"}')] }]);
    expect(await sentFor([{ role: "user", content: "Hello" }])).toEqual([
      { role: "user", parts: [text("Hello")] },
    ]);
  });

  it("a conversation: earlier turns stand before the question", async () => {
    const own: Message[] = [
      { role: "user", parts: [text("Add 1 and 2.")] },
      { role: "assistant", parts: [{ type: "tool-call", id: "a", name: "add", arguments: { a: 1, b: 2 } }] },
      { role: "tool", callId: "a", name: "add", status: "ok", text: "3" },
      { role: "assistant", parts: [text("3.")] },
      { role: "user", parts: [text("And 4?")] },
    ];
    expect(await sentFor(own)).toMatchObject(own);
  });

  const calls = [
    {
      role: "assistant",
      parts: [text("I look."), { type: "tool-call", name: "search", arguments: { q: "tea" } }],
    },
    { role: "tool", name: "search", status: "ok", text: "hot" },
    { role: "assistant", parts: [text("Hot.")] },
    { role: "user", parts: [text("Why?")] },
  ];

  it.each([
    [
      "the AI SDK's messages",
      [
        { role: "user", content: "Tea?" },
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: "hm" },
            text("I look."),
            { type: "tool-call", toolCallId: "functions.search:0", toolName: "search", input: { q: "tea" } },
          ],
        },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: "functions.search:0",
              toolName: "search",
              output: { type: "text", value: "hot" },
            },
          ],
        },
        { role: "assistant", content: "Hot." },
        { role: "user", content: "Why?" },
      ],
    ],
    [
      "the AI SDK's UIMessages",
      [
        { id: "1", role: "user", parts: [text("Tea?")] },
        {
          id: "2",
          role: "assistant",
          parts: [
            { type: "step-start" },
            text("I look."),
            {
              type: "tool-search",
              toolCallId: "x",
              state: "output-available",
              input: { q: "tea" },
              output: "hot",
            },
            { type: "step-start" },
            { type: "text", text: "Hot.", state: "done" },
          ],
        },
        { id: "3", role: "user", parts: [text("Why?")] },
      ],
    ],
    [
      "OpenAI's chat messages",
      [
        { role: "user", content: "Tea?" },
        {
          role: "assistant",
          content: "I look.",
          tool_calls: [{ id: "x", type: "function", function: { name: "search", arguments: '{"q":"tea"}' } }],
        },
        { role: "tool", tool_call_id: "x", content: "hot" },
        { role: "assistant", content: "Hot." },
        { role: "user", content: "Why?" },
      ],
    ],
  ])("a conversation with calls: %s", async (_, input) => {
    expect((await sentFor(input)).slice(1)).toMatchObject(calls);
  });

  const openaiCall = (call: object): readonly object[] => [
    { role: "user", content: "Tea?" },
    { role: "assistant", content: null, tool_calls: [{ id: "x", ...call }] },
    { role: "tool", tool_call_id: "x", content: "hot" },
    { role: "user", content: "Why?" },
  ];

  it.each<[string, object, object]>([
    [
      "no arguments at all",
      { type: "function", function: { name: "now", arguments: "" } },
      { name: "now", arguments: {} },
    ],
    [
      "arguments that are no JSON",
      { type: "function", function: { name: "now", arguments: '{"q":' } },
      { name: "now", arguments: '{"q":', malformed: expect.stringContaining("not valid JSON") as unknown },
    ],
    [
      "a text, of a custom tool",
      { type: "custom", custom: { name: "shell", input: "ls" } },
      { name: "shell", arguments: "ls" },
    ],
  ])("a call of OpenAI's chat messages with %s", async (_what, call, part) => {
    const sent = await sentFor(openaiCall(call));
    expect(sent[1]).toEqual({ role: "assistant", parts: [{ type: "tool-call", id: "x", ...part }] });
  });

  it("calls and results as OpenAI had them first, `function_call` and the role `function`, two of one name too", async () => {
    const look = {
      role: "assistant",
      content: null,
      function_call: { name: "now", arguments: '{"at":"x"}' },
    };
    const seen = (content: string) => ({ role: "function", name: "now", content });
    const sent = await sentFor([
      { role: "user", content: "Tea?" },
      look,
      seen("one"),
      look,
      seen("two"),
      { role: "assistant", content: "Two.", function_call: null },
      { role: "user", content: "Why?" },
    ]);
    const call = (id: string) => ({
      role: "assistant",
      parts: [{ type: "tool-call", id, name: "now", arguments: { at: "x" } }],
    });
    const result = (callId: string, told: string) => ({ role: "tool", callId, name: "now", text: told });
    const ids = sent.flatMap((message) => (message.role === "tool" ? [message.callId] : []));
    expect(new Set(ids).size).toBe(2);
    const [one = "", two = ""] = ids;
    expect(sent.slice(1, 5)).toMatchObject([call(one), result(one, "one"), call(two), result(two, "two")]);
    await expect(sentFor([seen("one"), { role: "user", content: "Why?" }])).rejects.toThrow(/message 0 /);
  });

  it("what a model of OpenAI's would not do is what it said", async () => {
    const refused = { role: "assistant", content: null, refusal: "I will not." };
    const sent = await sentFor([
      { role: "user", content: "Tea?" },
      refused,
      { role: "user", content: "Why?" },
    ]);
    expect(sent[1]).toMatchObject({ role: "assistant", parts: [{ type: "text", text: "I will not." }] });
  });

  it("a call without a result in a UIMessage has an unknown end", async () => {
    const sent = await sentFor([
      { role: "user", content: "Pay." },
      {
        id: "2",
        role: "assistant",
        parts: [{ type: "tool-pay", toolCallId: "x", state: "input-available", input: {} }],
      },
      { role: "user", content: "And?" },
    ]);
    expect(sent[2]).toMatchObject({ role: "tool", name: "pay", status: "unknown" });
  });
});

describe("what an agent cannot be asked", () => {
  const user = { role: "user", content: "Hi" };
  it.each([
    ["nothing", undefined, /there is none \(it is undefined\)/],
    ["null", null, /there is none \(it is null\)/],
    ["a promise", Promise.resolve("x"), /it is a promise: await it/],
    ["a function", () => "x", /it is a function/],
    ["a map", new Map(), /class Map/],
    ["a set inside", { tags: new Set(["tea"]) }, /it has a Set, of which JSON shows nothing/],
    ["a promise inside", { order: Promise.resolve(17) }, /it has a promise inside: `await` it/],
    ["bytes", bytes, /class Uint8Array/],
    ["an empty list", [], /the list is empty/],
    ["numbers", [1, 2], /\[0\]: a part is no part that is known; give a text, image/],
    ["a request", { prompt: "Hi" }, /give the value of `prompt` itself/],
    ["another request", { system: "x", messages: [user] }, /give the value of `messages` itself/],
    [
      "a system message",
      [{ role: "system", content: "Be rude" }, user],
      /message 0: it is the author's.*`instructions`/,
    ],
    [
      "a reply at the end",
      [user, { role: "assistant", content: "Hi" }],
      /message 1 is the last, and not of the user/,
    ],
    [
      "a call as OpenAI's Responses have it",
      [user, { type: "function_call", call_id: "x", name: "a", arguments: "{}" }, user],
      /message 1: it is an item "function_call" and no message; give calls as `tool_calls`/,
    ],
    [
      "a call without a name",
      [user, { role: "assistant", tool_calls: [{ id: "x", type: "function" }] }, user],
      /message 1: has a call without a name/,
    ],
    ["a role that nobody has", [{ role: "human", content: "Hi" }], /message 0: its role is "human"/],
    [
      "a result without a call",
      [user, { role: "tool", tool_call_id: "x", content: "1" }, user],
      /message 1 cannot stand here: .*no call is open/,
    ],
    [
      "a call without a result",
      [
        user,
        { role: "assistant", tool_calls: [{ id: "x", function: { name: "a", arguments: "{}" } }] },
        user,
      ],
      /message 2 cannot stand here: .*no result/,
    ],
    [
      "a file by its id",
      [{ role: "user", content: [{ type: "file", file: { file_id: "f" } }] }],
      /message 0: a part of the type "file" has no data/,
    ],
    [
      "a part of another kind",
      [{ role: "user", content: [{ type: "video_url" }] }],
      /"video_url" is no part that is known/,
    ],
  ])("%s: `input-invalid`, and no model is asked", async (_, input, reason) => {
    const model = scripted(["Yes."]);
    const viewer = agent({ name: "viewer", model });
    await expect(viewer(input as never)).rejects.toMatchObject({ code: "input-invalid" });
    await expect(viewer.run(input as never)).rejects.toThrow(reason);
    expect(model.requests).toEqual([]);
  });
});

describe("a question with files", () => {
  const asked = ["Send it to kim@example.com.", image(png)] as const;

  it("is the same in stream and turns, and stays out of events", async () => {
    const viewer = agent({ name: "viewer", model: scripted(["Yes."]) });
    const events: AgentEvent[] = [];
    const reader = viewer.stream(asked);
    for await (const event of reader) events.push(event);
    expect(events[0]).toMatchObject({
      type: "run-start",
      input: "Send it to kim@example.com.\n[image: image/png, 8 bytes]",
    });
    expect(JSON.stringify(events)).not.toContain(png);
    for await (const state of viewer.turns(asked))
      expect(state.transcript.messages[1]).toMatchObject({ role: "user", parts: [{}, picture] });
  });

  it("is for what its words say: the files are in no intent", async () => {
    const { transcript, label } = await agent({ name: "viewer", model: scripted(["Yes."]) }).run(asked);
    expect(label.integrity).toBe("trusted");
    expect(transcript.messages.at(-2)).toMatchObject({ parts: [text(asked[0]), picture] });
    for await (const state of agent({ name: "viewer", model: scripted(["Yes."]) }).turns(asked))
      expect(state.intent.text).toBe(asked[0]);
  });

  it("stays in its session with its files; a session has its own conversation", async () => {
    const store = inMemorySessions();
    const model = scripted(["Nice.", "A cat."]);
    const viewer = agent({ name: "viewer", model });
    await viewer.run(asked, { session: session(store, "s") });
    await viewer.run("What was on it?", { session: session(store, "s") });
    expect(model.requests[1]?.messages.filter(({ role }) => role === "user")).toMatchObject([
      { parts: [text(asked[0]), picture] },
      { parts: [text("What was on it?")] },
    ]);
    const list = [
      { role: "user", content: "A" },
      { role: "assistant", content: "B" },
      { role: "user", content: "C" },
    ];
    await expect(viewer.run(list, { session: session(store, "s") })).rejects.toThrow(
      /the session has the messages before/,
    );
  });

  it("is no conversation beside a session where a hook gives it either", async () => {
    const list = [
      { role: "user", content: "A" },
      { role: "assistant", content: "B" },
      { role: "user", content: "C" },
    ];
    const model = scripted(["D"]);
    const hooks = [{ name: "told", beforeRun: () => ({ input: list }) }];
    const asking = agent({ name: "viewer", model, hooks });
    const running = asking.run("C", { session: session(inMemorySessions(), "s") });
    await expect(running).rejects.toThrow(/the session has the messages before/);
    expect(model.requests).toEqual([]);
  });

  it("is seen whole by a hook, which may give another", async () => {
    const seen: unknown[] = [];
    const model = scripted(["Yes."]);
    const viewer = agent({
      name: "viewer",
      model,
      hooks: [
        {
          name: "masked",
          beforeRun: ({ input }) => {
            seen.push(input);
            return { input: ["Send it.", { ...picture, data: "AAAA" }] };
          },
        },
      ],
    });
    await viewer.run(asked);
    expect(seen).toEqual([{ role: "user", parts: [text(asked[0]), picture] }]);
    expect(model.requests[0]?.messages.at(-1)).toMatchObject({ parts: [text("Send it."), { data: "AAAA" }] });
  });

  it("gives way to the text that a hook puts in its place", async () => {
    const model = scripted(["Yes."]);
    const hooks = [{ name: "masked", beforeRun: () => ({ input: "Is it a cat?" }) }];
    await agent({ name: "viewer", model, hooks }).run(asked);
    expect(model.requests[0]?.messages.at(-1)).toMatchObject({ parts: [text("Is it a cat?")] });
  });

  it("is handed on by compositions, whose transcript has it", async () => {
    const first = scripted(["A cat."]);
    const both = pipe(
      agent({ name: "one", model: first }),
      agent({ name: "two", model: scripted(["Yes."]) }),
    );
    const { transcript, text: answer } = await both.run(["What is it?", image(bytes)]);
    expect(answer).toBe("Yes.");
    expect(first.requests[0]?.messages.at(-1)).toMatchObject({ parts: [text("What is it?"), picture] });
    expect(transcript.messages[0]).toMatchObject({ parts: [text("What is it?"), picture] });
  });

  it("is not read for an agent with a schema: its values are its own", async () => {
    const model = scripted(["Yes."]);
    const input = z.object({ role: z.string(), content: z.string() });
    await agent({ name: "own", model, input })({ role: "user", content: "Hi" });
    expect(model.requests[0]?.messages.at(-1)).toMatchObject({
      parts: [text('{"role":"user","content":"Hi"}')],
    });
  });

  it("arrives on the wire of Anthropic and of chat completions [H13]", async () => {
    await using claude = await fakeAnthropic(["A cat."]);
    await agent({ name: "viewer", model: anthropic("v4", claude.url) })(["What is it?", image(png)]);
    expect(claude.requests[0]?.body["messages"]).toMatchObject([
      {
        content: [
          text("What is it?"),
          { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
        ],
      },
    ]);
    await using openai = await fakeOpenai(["A cat."]);
    const model = openaiCompatible("gpt-5", { baseUrl: `${openai.url}/v1` });
    await agent({ name: "viewer", model })(["What is it?", image(png), file("aGk=", "application/pdf")]);
    expect(openai.requests[0]?.body["messages"]).toMatchObject([
      {
        role: "user",
        content: [
          text("What is it?"),
          { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
          { type: "file", file: { file_data: "data:application/pdf;base64,aGk=" } },
        ],
      },
    ]);
    claude.assertComplete();
    openai.assertComplete();
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openaiCompatible } from "../../../src/adapters/model/openai-compatible.ts";
import { agent, inMemorySessions, session } from "../../../src/index.ts";
import type { Message } from "../../../src/message/message.ts";
import type { Model } from "../../../src/model/model.ts";
import { fakeTool } from "../../../src/testing.ts";
import { openaiChunk as chunk } from "../../contract/openai-wire.ts";
import { type Answer, playedServer, type PlayedServer, sse } from "../../contract/played-server.ts";
import { addTool, ask, said } from "./ask-openai.ts";

let server: PlayedServer;
let other: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
  other = await playedServer();
});
beforeEach(() => {
  server.requests.length = 0;
  other.requests.length = 0;
});
afterAll(async () => {
  await server.close();
  await other.close();
});

const modelAt = ({ url }: PlayedServer): Model => openaiCompatible("m", { baseUrl: `${url}/v1` });
const model = (): Model => modelAt(server);

const call = (id: string, more: object = {}): object => ({
  tool_calls: [{ index: 0, id, type: "function", function: { name: "add", arguments: '{"a":1}' }, ...more }],
});
const streamed = (...deltas: readonly object[]): Answer => ({
  sse: sse([...deltas.map((delta) => chunk(delta)), chunk({}, "stop")], true),
});
const whole = (message: object): Answer => ({ json: { choices: [{ message, finish_reason: "stop" }] } });
const refusing = (status: number, message: string): Answer => ({ status, json: { error: { message } } });

type Sent = Readonly<Record<string, unknown>>;
const messagesOf = ({ requests }: PlayedServer, at = -1): readonly Sent[] =>
  requests.at(at)?.body["messages"] as readonly Sent[];
const replyIn = (messages: readonly Sent[]): Sent | undefined =>
  messages.find(({ role }) => role === "assistant");

/** Plays answers to an agent with a tool, and gives the messages of its last request. */
async function sentBack(...answers: readonly Answer[]): Promise<readonly Sent[]> {
  server.play(...answers, said("done"));
  const host = agent({ name: "a", model: model(), tools: [fakeTool("add", "sum")] });
  expect(await host("Add.")).toBe("done");
  return messagesOf(server);
}

describe("reasoning goes back to the server that wrote it", () => {
  it.each(["reasoning", "reasoning_content"])("as %s, when it came so", async (name) => {
    const messages = await sentBack(streamed({ [name]: "h" }, { [name]: "m" }, call("c1")));
    expect(replyIn(messages)).toMatchObject({ [name]: "hm", content: null });
    const names = Object.keys(replyIn(messages) ?? {});
    expect(names.filter((field) => field.startsWith("reasoning"))).toEqual([name]);
  });

  it("as Mistral's list of thinking and text", async () => {
    const thinking = { type: "thinking", thinking: [{ type: "text", text: "hm" }] };
    const text = { type: "text", text: "I look." };
    const messages = await sentBack(streamed({ content: [thinking] }, { content: [text] }, call("c1")));
    expect(replyIn(messages)?.["content"]).toEqual([thinking, text]);
  });

  it("as its details, put together from their pieces, with their signatures", async () => {
    const detail = { type: "reasoning.text", format: "anthropic-claude-v1", index: 0 };
    const encrypted = { type: "reasoning.encrypted", data: "gAAA", id: "rs_1", index: 1 };
    const messages = await sentBack(
      streamed(
        { reasoning: "h", reasoning_details: [{ ...detail, text: "h" }] },
        { reasoning: "m", reasoning_details: [{ ...detail, text: "m", signature: null }] },
        { reasoning_details: [{ ...detail, signature: "c2ln" }] },
        { reasoning_details: [encrypted] },
        call("c1"),
      ),
    );
    const { content, reasoning, reasoning_details: details } = replyIn(messages) ?? {};
    expect({ content, reasoning }).toEqual({ content: null, reasoning: undefined });
    expect(details).toEqual([{ ...detail, text: "hm", signature: "c2ln" }, encrypted]);
  });

  it("as its details, which go on under their own id and end at another", async () => {
    const detail = (id: string, text: string): object => ({ type: "reasoning.text", index: 0, id, text });
    const pieces = [detail("r1", "h"), detail("r1", "m"), detail("r2", "so")];
    const messages = await sentBack(
      streamed(...pieces.map((piece) => ({ reasoning_details: [piece] })), call("c1")),
    );
    expect(replyIn(messages)?.["reasoning_details"]).toEqual([detail("r1", "hm"), detail("r2", "so")]);
  });

  it("as LiteLLM's blocks of Claude, put together from their pieces, with their signatures", async () => {
    const block = (thinking: string, signature: string | null): object => ({
      type: "thinking",
      thinking,
      signature,
    });
    const hidden = { type: "redacted_thinking", data: "gAAA" };
    const pieces = [
      block("h", ""),
      block("m", null),
      block("", "c2ln"),
      hidden,
      block("so", ""),
      block("", "c2V"),
    ];
    const messages = await sentBack(
      streamed(...pieces.map((piece) => ({ reasoning_content: "h", thinking_blocks: [piece] })), call("c1")),
    );
    expect(replyIn(messages)?.["thinking_blocks"]).toEqual([block("hm", "c2ln"), hidden, block("so", "c2V")]);
  });

  it("as the details of a reply that came whole, each as it was", async () => {
    const details = [
      { type: "reasoning.summary", summary: "a" },
      { type: "reasoning.summary", summary: "b" },
    ];
    const messages = await sentBack(whole({ content: null, reasoning_details: details, ...call("c1") }));
    expect(replyIn(messages)?.["reasoning_details"]).toEqual(details);
  });

  it("and to no other one, nor ids and signatures", async () => {
    const talk = session(inMemorySessions(), "talk", { history: "all" });
    const tools = [fakeTool("add", "sum")];
    const signature = { extra_content: { google: { thought_signature: "c2ln" } } };
    server.play(streamed({ reasoning: "hm" }, call("functions.add:0", signature)), said("first"));
    await agent({ name: "a", model: model(), tools }).run("Add.", { session: talk });
    other.play(said("second"));
    await agent({ name: "a", model: modelAt(other), tools }).run("And now?", { session: talk });
    const sent = JSON.stringify(messagesOf(other));
    expect(sent).not.toMatch(/hm|c2ln|functions\.add|writ/);
    expect(sent).toContain("sum");
  });
});

describe("what else goes back as it came", () => {
  it("the id of a call, with its result", async () => {
    const messages = await sentBack(streamed(call("functions.add:0")));
    expect(replyIn(messages)).toMatchObject({ tool_calls: [{ id: "functions.add:0" }] });
    expect(messages.at(-1)).toMatchObject({ role: "tool", tool_call_id: "functions.add:0" });
  });

  it("but not the id that an earlier call has", async () => {
    const messages = await sentBack(streamed(call("functions.add:0")), streamed(call("functions.add:0")));
    const ids = messages.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]));
    expect(ids[0]).toBe("functions.add:0");
    expect(new Set(ids).size).toBe(2);
  });

  it.each(["extra_content", "provider_specific_fields"])("%s of a call", async (field) => {
    const given = { [field]: { google: { thought_signature: "c2ln" } } };
    const messages = await sentBack(streamed(call("c1", given)));
    expect(replyIn(messages)).toMatchObject({ tool_calls: [{ id: "c1", ...given }] });
  });

  it("arguments that were encoded twice, as they were understood", async () => {
    const twice = { function: { name: "add", arguments: JSON.stringify('{"a":1}') } };
    const messages = await sentBack(streamed(call("c1", twice)));
    expect(replyIn(messages)).toMatchObject({ tool_calls: [{ function: { arguments: '{"a":1}' } }] });
  });
});

describe("a server that refuses what it gave", () => {
  it.each([
    ["Groq", 400, "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning' is unsupported)]"], // oxfmt-ignore
    ["a validator", 422, '[{"type":"extra_forbidden","loc":["body","messages",2,"assistant","reasoning"],"msg":"Extra inputs are not permitted"}]'], // oxfmt-ignore
  ])("%s is asked again without it, once, and never again with it", async (_who, status, message) => {
    server.play(streamed({ reasoning: "hm" }, call("c1")), refusing(status, message), said("done"));
    const host = agent({ name: "a", model: model(), tools: [fakeTool("add", "sum")], retry: false });
    expect(await host("Add.")).toBe("done");
    expect(replyIn(messagesOf(server, 1))).toHaveProperty("reasoning", "hm");
    expect(replyIn(messagesOf(server, 2))).not.toHaveProperty("reasoning");
    server.play(streamed({ reasoning: "hm" }, call("c2")), said("done"));
    expect(await host("Add.")).toBe("done");
    expect(server.requests).toHaveLength(5);
    expect(replyIn(messagesOf(server))).not.toHaveProperty("reasoning");
  });

  it("is not asked again when it was not sent what it names, or when that does not help", async () => {
    const refusal = refusing(400, "reasoning is not supported by this model");
    server.play(refusal);
    await expect(ask(model())).rejects.toMatchObject({ code: "provider-failed" });
    expect(server.requests).toHaveLength(1);
    server.play(streamed({ reasoning: "hm" }, call("c1")), refusal);
    const host = agent({ name: "a", model: model(), tools: [fakeTool("add", "sum")], retry: false });
    await expect(host("Add.")).rejects.toMatchObject({ code: "provider-failed" });
    expect(server.requests).toHaveLength(4);
  });

  const called: readonly Message[] = [
    { role: "user", parts: [{ type: "text", text: "Add." }] },
    {
      role: "assistant",
      parts: [
        { type: "tool-call", id: "call_1", name: "add", arguments: {} },
        { type: "tool-call", id: "a1B2c3D4e", name: "add", arguments: {} },
      ],
    },
    { role: "tool", callId: "call_1", name: "add", status: "ok", text: "1" },
    { role: "tool", callId: "a1B2c3D4e", name: "add", status: "ok", text: "2" },
  ];

  it("gets the ids that it wants: Mistral, of another server's calls", async () => {
    const rule = "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.";
    server.play(refusing(400, rule), said("done"));
    await ask(model(), { messages: called });
    const [, reply, first, second] = messagesOf(server);
    const nine = expect.stringMatching(/^[a-zA-Z0-9]{9}$/) as string;
    expect(reply).toMatchObject({ tool_calls: [{ id: nine }, { id: "a1B2c3D4e" }] });
    expect(second).toMatchObject({ tool_call_id: "a1B2c3D4e" });
    expect(reply).toMatchObject({ tool_calls: [{ id: first?.["tool_call_id"] }, {}] });
  });

  it.each([
    [
      "stream_options",
      422,
      '[{"type":"extra_forbidden","loc":["body","stream_options","include_usage"],"msg":"Extra inputs are not permitted"}]',
    ],
    ["tool_choice", 400, "tool_choice 'required' is incompatible with thinking enabled"],
    ["tool_choice", 400, "Thinking mode does not support this tool_choice"],
    [
      "tool_choice",
      400,
      "The tool_choice parameter does not support being set to required or object in thinking mode",
    ],
  ])("is asked without %s, which not all servers take", async (field, status, rule) => {
    server.play(refusing(status, rule), said("done"));
    await ask(model(), { tools: [addTool], toolChoice: "required" });
    expect(server.requests[0]?.body).toHaveProperty(field);
    expect(server.requests[1]?.body).not.toHaveProperty(field);
  });

  it("tells of no look-ahead in what tools take: OpenAI and others refuse each request with it", async () => {
    const pattern = "^(?!\\.)[a-z.]+$";
    const inputSchema = {
      type: "object",
      properties: { pattern: { type: "string", pattern, description: "A (?=b)" } },
      patternProperties: { "^x": { pattern: "a(?<!b)" } },
      additionalProperties: { type: "string", pattern: "\\(?=[(?!]" },
    } as const;
    server.play(said("done"));
    await ask(model(), { tools: [{ ...addTool, inputSchema }] });
    const body = server.requests[0]?.body;
    expect(body).toMatchObject({
      tools: [
        {
          function: {
            parameters: {
              type: "object",
              properties: { pattern: { type: "string", description: "A (?=b)" } },
              patternProperties: { "^x": {} },
              additionalProperties: { type: "string", pattern: "\\(?=[(?!]" },
            },
          },
        },
      ],
    });
    expect(JSON.stringify(body)).not.toContain("[a-z.]");
  });

  it.each([
    [
      400,
      "Unable to generate parser for this template. Automatic parser generation failed: JSON schema error at #/properties/at/items: schema must be an object",
    ],
    [500, "JSON schema conversion failed:\nPattern must start with '^' and end with '$'"],
    [400, "Failed to initialize samplers: failed to parse grammar"],
    [400, "Invalid JSON schema: regex word boundary is not supported. Found at $.properties.at.pattern."],
  ])("is told less of what tools take, where it refuses their schemas: %s %s", async (status, rule) => {
    server.play(refusing(status, rule), said("done"), said("done"));
    const asked = model();
    const at = { type: "array", prefixItems: [{ type: "string", pattern: "^\\b" }], items: false } as const;
    const inputSchema = { type: "object", properties: { at }, required: ["at"] } as const;
    for (let time = 0; time < 2; time += 1) await ask(asked, { tools: [{ ...addTool, inputSchema }] });
    const sent = server.requests.map(({ body }) => JSON.stringify(body["tools"]));
    expect(sent[0]).toContain('"items":false');
    expect(sent[1]).toContain('"at":{"type":"array","prefixItems":[{"type":"string"}]}');
    expect(sent[2]).toBe(sent[1]);
  });

  it("is given the bound of a reply by the name that it takes, where it passes OpenAI's models on", async () => {
    const rule =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    server.play(refusing(400, rule), said("done"), said("done"));
    const asked = model();
    for (let time = 0; time < 2; time += 1) await ask(asked, { settings: { maxOutputTokens: 7 } });
    const bounds = server.requests.map(({ body }) => [body["max_tokens"], body["max_completion_tokens"]]);
    expect(bounds).toEqual([
      [7, undefined],
      [undefined, 7],
      [undefined, 7],
    ]);
  });

  it("gets a reply between results and what a user says then, where it wants one: Mistral", async () => {
    const rule = "Unexpected role 'user' after role 'tool'";
    server.play(refusing(400, rule), said("done"));
    const later: Message = { role: "user", parts: [{ type: "text", text: "Stop." }] };
    await ask(model(), { messages: [...called, later] });
    const roles = messagesOf(server).map(({ role }) => role);
    expect(roles).toEqual(["user", "assistant", "tool", "tool", "assistant", "user"]);
  });

  it.each([
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
    "The `reasoning_content` in the thinking mode must be passed back to the API.",
  ])("gets an empty reasoning where another server wrote one: %s", async (rule) => {
    server.play(refusing(400, rule), said("done"));
    await ask(model(), { messages: called });
    expect(replyIn(messagesOf(server))).toMatchObject({ reasoning_content: "" });
  });
});

import { describe, expect, it } from "vitest";
import { type FakeOpenaiOptions, fakeOpenai } from "../../../../src/testing.ts";
import { post, type Posted } from "./post.ts";

type Host = NonNullable<FakeOpenaiOptions["host"]>;

const user = { role: "user", content: "Hi" };
const result = { role: "tool", tool_call_id: "a1B2c3D4e", content: "3" };
const called = (more: object = {}, ofCall: object = {}): object => {
  const call = { id: "a1B2c3D4e", type: "function", function: { name: "add", arguments: "{}" }, ...ofCall };
  return { role: "assistant", content: null, tool_calls: [call], ...more };
};
const thought = { reasoning_content: "hm" };
const signed = { extra_content: { google: { thought_signature: "bWFkZSB1cA==" } } };
const picture = { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } };

async function chat(host: Host, body: object): Promise<Posted> {
  await using server = await fakeOpenai(["Hello."], { host });
  return post(server, "/openai/v1/chat/completions", { model: "m", messages: [user], ...body });
}

const asked = (model: string, ...messages: readonly object[]): object => ({ model, messages });
const calledBack = (model: string, more: object = {}, ofCall: object = {}): object =>
  asked(model, user, called(more, ofCall), result);
const streamed = { stream: true, stream_options: { include_usage: true } };
const badDetail = { type: "reasoning.text", signature: "bWFkZSB1cA==" };
const otherId = { tool_call_id: "call_1" };

describe("a fake host of chat completions", () => {
  it.each<[Host, object, readonly [status: number, words: string]]>([
    ["groq", calledBack("m", thought), [400, "'messages.1' : for 'role:assistant' the following must be"]],
    ["groq", { stores: true }, [400, "property 'stores' is unsupported"]],
    ["cerebras", calledBack("m", thought), [400, '{"message":"messages.1.assistant.reasoning_content: prop']],
    ["mistral", calledBack("m", thought), [422, '["body","messages",1,"assistant","reasoning_content"]']],
    ["mistral", streamed, [422, '"loc":["body","stream_options","include_usage"]']],
    [
      "mistral",
      asked("m", user, called({}, { id: "call_1" }), { ...result, ...otherId }),
      [400, "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."],
    ],
    ["mistral", asked("m", user, called(), result, user), [400, "Unexpected role 'user' after role 'tool'"]],
    ["deepseek", calledBack("deepseek-reasoner"), [400, "must be passed back to the API"]],
    ["deepseek", asked("m", { role: "user", content: [picture] }), [400, "unknown variant `image_url`"]],
    ["kimi", calledBack("kimi-k2.5"), [400, "missing in assistant tool call message at index 1"]],
    ["openrouter", calledBack("m", { reasoning_details: [badDetail] }), [400, "Invalid `signature`"]],
    ["gemini", calledBack("gemini-3-pro"), [400, "missing a thought_signature"]],
    ["gemini", calledBack("gemini-3-pro", {}, signed), [400, "missing a thought_signature"]],
  ])("%s refuses what it refuses: %j", async (host, body, [status, words]) => {
    const answer = await chat(host, body);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(words);
  });

  it.each<[Host, object]>([
    ["groq", calledBack("m", { reasoning: "hm" })],
    ["mistral", asked("m", user, called({ prefix: false }), { ...result, name: "add" })],
    ["deepseek", asked("deepseek-chat", user, called(), result, user)],
    ["kimi", calledBack("kimi-k2.5", { reasoning_content: "" })],
    ["gemini", calledBack("gemini-2.5-pro")],
    ["openrouter", asked("m", { ...user, more: 1 })],
  ])("%s takes what it takes: %j", async (host, body) => {
    expect((await chat(host, body)).status).toBe(200);
  });

  it("has the ids of the host, and its reasoning, also in a reply that comes whole", async () => {
    await using kimi = await fakeOpenai([{ calls: [{ name: "add" }, { name: "add" }] }], { host: "kimi" });
    const { body } = await post(kimi, "/v1/chat/completions", { model: "kimi-k2.5", messages: [user] });
    const ids = [{ id: "functions.add:0" }, { id: "functions.add:1" }];
    expect(body).toMatchObject({ choices: [{ message: { reasoning_content: "", tool_calls: ids } }] });
    await using mistral = await fakeOpenai([{ reasoning: "hm", text: "Hi." }], { host: "mistral" });
    const whole = await post(mistral, "/v1/chat/completions", { model: "m", messages: [user] });
    const content = [{ type: "thinking" }, { type: "text", text: "Hi." }];
    expect(whole.body).toMatchObject({ choices: [{ message: { content } }] });
  });
});

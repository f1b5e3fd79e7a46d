import { describe, expect, it } from "vitest";
import { fakeOllama } from "../../../../src/testing.ts";
import { post, type Posted } from "./post.ts";

const user = { role: "user", content: "Hi" };

async function ask(fields: object): Promise<Posted> {
  await using server = await fakeOllama(["Hello."]);
  return post(server, "/api/chat", { model: "qwen3", messages: [user], stream: false, ...fields });
}
const called = (args: unknown): object => ({
  messages: [user, { role: "assistant", tool_calls: [{ function: { name: "add", arguments: args } }] }],
});

describe("the fake Ollama", () => {
  it.each([
    ["a question", {}],
    ["fields that it does not know, as Ollama does", { colour: "red" }],
    ["results without calls, as Ollama does", { messages: [user, { role: "tool", content: "3" }] }],
    ["calls with arguments", called({ a: 1 })],
    ["a schema as the format, and thinking", { format: { type: "object" }, think: "high" }],
  ])("takes %s", async (_what, fields) => {
    expect(await ask(fields)).toMatchObject({
      status: 200,
      body: { message: { content: "Hello." }, done: true },
    });
  });

  it.each([
    ["no model", { model: undefined }, "model is required"],
    [
      "parts in place of text",
      { messages: [{ role: "user", content: [] }] },
      "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string",
    ],
    [
      "arguments as text",
      called("{}"),
      "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments of type map[string]interface {}",
    ],
    [
      "messages that are no list",
      { messages: "Hi" },
      "json: cannot unmarshal string into Go struct field ChatRequest.messages of type []json.RawMessage",
    ],
    [
      "a way to think that there is not",
      { think: "very" },
      'invalid think value: "very" (must be "high", "medium", "low", "max", true, or false)',
    ],
    [
      "a format that there is not",
      { format: "xml" },
      'invalid format: "xml"; expected "json" or a valid JSON Schema object',
    ],
  ])("refuses %s", async (_what, fields, error) => {
    expect(await ask(fields)).toEqual({ status: 400, body: { error } });
  });
});

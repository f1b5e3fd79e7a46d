import { describe, expect, it } from "vitest";
import { fakeOpenai } from "../../../../src/testing.ts";
import { post, type Posted } from "./post.ts";

const user = { role: "user", content: "Hi" };
const call = (id: string, name = "add"): object => ({
  id,
  type: "function",
  function: { name, arguments: "{}" },
});
const said = (...ids: readonly string[]): object => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => call(id)),
});
const result = (id: string): object => ({ role: "tool", tool_call_id: id, content: "3" });
const add = { type: "function", function: { name: "add", parameters: { type: "object" } } };

async function chat(fields: object): Promise<Posted> {
  await using server = await fakeOpenai(["Hello."]);
  return post(server, "/v1/chat/completions", { model: "gpt-4.1", messages: [user], ...fields });
}
const messages = (...list: readonly unknown[]): object => ({ messages: list });

describe("the fake OpenAI takes", () => {
  it.each([
    ["a question", {}],
    [
      "calls with their results",
      messages({ role: "developer", content: "x" }, user, said("a", "b"), result("b"), result("a"), user),
    ],
    [
      "a schema of answers",
      {
        response_format: {
          type: "json_schema",
          json_schema: { name: "a", schema: { type: "object" }, strict: true },
        },
      },
    ],
    [
      "a call of a custom tool",
      messages(
        user,
        { ...said(), tool_calls: [{ id: "a", type: "custom", custom: { name: "sql", input: "select 1" } }] },
        result("a"),
      ),
    ],
    ["parts", messages({ role: "user", content: [{ type: "text", text: "Hi" }] })],
    ["a tool and its choice", { tools: [add], tool_choice: { type: "function", function: { name: "add" } } }],
    ["null where a field may be missing", { temperature: null, tools: [add], stop: null }],
    [
      "reasoning that a compatible server gave",
      messages(user, { role: "assistant", content: "x", reasoning_content: "y" }, user),
    ],
  ])("%s", async (_what, fields) => {
    expect((await chat(fields)).status).toBe(200);
  });
});

describe("the fake OpenAI answers", () => {
  it.each([
    ["one call without words", { calls: [{ name: "add", arguments: {} }] }, null],
    ["words beside a call", { text: "One moment.", calls: [{ name: "add", arguments: {} }] }, "One moment."],
    ["nothing", "", ""],
  ])("with %s as OpenAI does", async (_what, reply, content) => {
    await using server = await fakeOpenai([reply]);
    const { body } = await post(server, "/v1/chat/completions", { model: "gpt-4.1", messages: [user] });
    expect(body).toMatchObject({ choices: [{ message: { content } }] });
  });
});

describe("the fake OpenAI refuses", () => {
  it.each([
    ["a request without a model", { model: undefined }, "you must provide a model parameter", null],
    ["no messages", { messages: undefined }, "Missing required parameter: 'messages'.", "messages"],
    [
      "an empty list of messages",
      messages(),
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      "messages",
    ],
    ["a field that is unknown", { thinking: true }, "Unknown parameter: 'thinking'.", "thinking"],
    [
      "a form of answers that is unknown",
      { response_format: { type: "regex" } },
      "Invalid value: 'regex'. Supported values are: 'json_object', 'json_schema', and 'text'.",
      "response_format.type",
    ],
    [
      "a form of answers without its schema",
      { response_format: { type: "json_schema" } },
      "Missing required parameter: 'response_format.json_schema'.",
      "response_format.json_schema",
    ],
    [
      "a schema of answers without a name",
      { response_format: { type: "json_schema", json_schema: { schema: { type: "object" } } } },
      "Missing required parameter: 'response_format.json_schema.name'.",
      "response_format.json_schema.name",
    ],
    [
      "a field of another kind",
      { temperature: "hot" },
      "Invalid type for 'temperature': expected a decimal, but got a string instead.",
      "temperature",
    ],
    [
      "an unknown field deep inside",
      messages(user, { ...said("a"), tool_calls: [{ ...call("a"), index: 0 }] }, result("a")),
      "Unknown parameter: 'messages[1].tool_calls[0].index'.",
      "messages[1].tool_calls[0].index",
    ],
    [
      "a part without its type",
      messages({ role: "user", content: [{ text: "Hi" }] }),
      "Missing required parameter: 'messages[0].content[0].type'.",
      "messages[0].content[0].type",
    ],
    [
      "a role that there is not",
      messages({ role: "robot", content: "x" }),
      "Invalid value: 'robot'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
      "messages[0].role",
    ],
    [
      "a reply that says nothing",
      messages(user, { role: "assistant", content: null }),
      "Invalid value for 'content': expected a string, got null.",
      "messages.[1].content",
    ],
    [
      "an empty list of calls",
      messages(user, { role: "assistant", content: "x", tool_calls: [] }),
      "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      "messages[1].tool_calls",
    ],
    [
      "a call without a result",
      messages(user, said("a", "b"), result("a"), user),
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: b",
      "messages.[3].role",
    ],
    [
      "a call without a result at the end",
      messages(user, said("a")),
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: a",
      "messages.[1].role",
    ],
    [
      "a result without a call",
      messages(user, result("a")),
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      "messages.[1].role",
    ],
    [
      "a result that comes late",
      messages(user, said("a"), result("a"), user, result("a")),
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      "messages.[4].role",
    ],
    [
      "a result with an id that no call has",
      messages(user, said("a"), result("b")),
      "Invalid parameter: 'tool_call_id' of 'b' not found in 'tool_calls' of previous message.",
      "messages.[2].tool_call_id",
    ],
    [
      "two results of one call",
      messages(user, said("a"), result("a"), result("a")),
      "Invalid parameter: Duplicate value for 'tool_call_id' of 'a' in message[3].",
      "messages.[3].tool_call_id",
    ],
    [
      "an id that is too long",
      messages(user, said("a".repeat(41)), result("a".repeat(41))),
      "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead.",
      "messages[1].tool_calls[0].id",
    ],
    [
      "arguments that are no text",
      messages(user, {
        ...said("a"),
        tool_calls: [{ id: "a", type: "function", function: { name: "add", arguments: {} } }],
      }),
      "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but got an object instead.",
      "messages[1].tool_calls[0].function.arguments",
    ],
    [
      "the name of a tool",
      { tools: [{ type: "function", function: { name: "math/add" } }] },
      "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
      "tools[0].function.name",
    ],
    [
      "a schema that is no object",
      { tools: [{ type: "function", function: { name: "add", parameters: {} } }] },
      `Invalid schema for function 'add': schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`,
      "tools[0].function.parameters",
    ],
    [
      "a choice without tools",
      { tool_choice: "required" },
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      "tool_choice",
    ],
    [
      "the choice of a tool that is not offered",
      { tools: [add], tool_choice: { type: "function", function: { name: "look" } } },
      "Invalid value for 'tool_choice': no function named 'look' was specified in the 'tools' parameter.",
      "tool_choice",
    ],
    [
      "max_tokens for a model that reasons",
      { model: "gpt-5-mini", max_tokens: 10 },
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      "max_tokens",
    ],
    [
      "options of a stream without a stream",
      { stream_options: { include_usage: true } },
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      "stream_options",
    ],
  ])("%s", async (_what, fields, ...[message, param]) => {
    const { status, body } = await chat(fields);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { message, type: "invalid_request_error", param } });
  });

  it.each(["gpt-5-mini", "o3", "gpt-4o", "of-my-own", "omni-1"])(
    "takes max_tokens of models that do not reason alone: %s",
    async (model) => {
      const { status } = await chat({ model, max_tokens: 10 });
      expect(status).toBe(model === "gpt-5-mini" || model === "o3" ? 400 : 200);
    },
  );
});

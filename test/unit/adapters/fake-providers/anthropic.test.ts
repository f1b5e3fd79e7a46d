import { createAnthropic } from "@ai-sdk/anthropic";
import { describe, expect, it } from "vitest";
import { agent } from "../../../../src/index.ts";
import { fakeAnthropic } from "../../../../src/testing.ts";
import { post, type Posted } from "./post.ts";

const user = { role: "user", content: "Hi" };
const use = (id: string): object => ({ type: "tool_use", id, name: "add", input: {} });
const said = (...content: readonly object[]): object => ({ role: "assistant", content });
const results = (...ids: readonly string[]): object => ({
  role: "user",
  content: ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "3" })),
});
const text = (words: string): object => ({ type: "text", text: words });
const messages = (...list: readonly object[]): object => ({ messages: list });
const add = { name: "add", input_schema: { type: "object" } };
const thinking = { type: "enabled", budget_tokens: 1024 };

async function ask(
  fields: object,
  headers: Readonly<Record<string, string>> = { "anthropic-version": "2023-06-01" },
): Promise<Posted> {
  await using server = await fakeAnthropic(["Hello."]);
  return post(
    server,
    { path: "/v1/messages", headers },
    { model: "claude-sonnet-5", max_tokens: 2048, messages: [user], ...fields },
  );
}

describe("the fake Anthropic", () => {
  it("pauses a turn, and takes the request that goes on with it", async () => {
    await using server = await fakeAnthropic([{ text: "I search.", finishReason: "pause" }, "Found."]);
    const model = createAnthropic({ apiKey: "key", baseURL: `${server.url}/v1` })("claude-sonnet-5");
    expect(await agent({ name: "a", model })("?")).toBe("Found.");
    server.assertComplete();
  });
});

describe("the fake Anthropic takes", () => {
  it.each([
    ["a question", {}],
    [
      "calls with their results, and words behind them",
      messages(user, said(text("x"), use("a"), use("b")), {
        role: "user",
        content: [...(Object.values(results("b", "a"))[1] as object[]), text("y")],
      }),
    ],
    [
      "messages of one role in a row, which it combines",
      messages(user, user, said(use("a")), results("a"), user),
    ],
    ["the beginning of its answer", messages(user, { role: "assistant", content: "The answer is" })],
    ["a tool and its choice", { tools: [add], tool_choice: { type: "tool", name: "add" } }],
    ["a tool of its own", { tools: [{ type: "web_search_20250305", name: "web_search" }] }],
  ])("%s", async (_what, fields) => {
    expect(await ask(fields)).toMatchObject({ status: 200 });
  });
});

it("the fake Anthropic begins with thinking where the request enables it, also where the script has none", async () => {
  const begins = async (fields: object): Promise<unknown> => {
    const { body } = await ask(fields);
    return (body as { content: readonly { type: string }[] }).content[0];
  };
  expect(await begins({ thinking })).toMatchObject({ type: "thinking", thinking: "" });
  expect(await begins({})).toEqual({ type: "text", text: "Hello." });
});

describe("the fake Anthropic refuses", () => {
  it.each([
    ["no max_tokens", { max_tokens: undefined }, "max_tokens: Field required"],
    ["max_tokens of another kind", { max_tokens: "9" }, "max_tokens: Input should be a valid integer"],
    ["a field that is unknown", { response_format: {} }, "response_format: Extra inputs are not permitted"],
    ["no messages", messages(), "messages: at least one message is required"],
    [
      "a role that there is not",
      messages({ role: "tool", content: "x" }),
      "messages.0.role: Input should be 'user' or 'assistant'",
    ],
    [
      "a first message that is not the user's",
      messages(said(text("x")), user),
      'messages: first message must use the "user" role',
    ],
    [
      "an empty message",
      messages({ role: "user", content: "" }),
      "messages.0: all messages must have non-empty content except for the optional final assistant message",
    ],
    [
      "an empty text",
      messages({ role: "user", content: [text("")] }),
      "messages: text content blocks must be non-empty",
    ],
    [
      "a text of spaces",
      messages({ role: "user", content: " \n" }),
      "messages: text content blocks must contain non-whitespace text",
    ],
    [
      "a beginning of its answer that ends in space",
      messages(user, said(text("x "))),
      "messages: final assistant content cannot end with trailing whitespace",
    ],
    [
      "an unknown field of a block",
      messages(user, said({ ...use("a"), index: 0 }), results("a")),
      "messages.1.content.0.tool_use.index: Extra inputs are not permitted",
    ],
    [
      "a call without a result",
      messages(user, said(use("a"), use("b")), results("a")),
      "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
    ],
    [
      "a call at the end",
      messages(user, said(use("a"))),
      "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
    ],
    [
      "results behind words",
      messages(user, said(use("a")), user, results("a")),
      "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
    ],
    [
      "a result without a call",
      messages(user, said(text("x")), results("a")),
      "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
    ],
    [
      "two results of one call",
      messages(user, said(use("a")), results("a", "a")),
      "messages.2: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a",
    ],
    [
      "one id for two calls",
      messages(user, said(use("a")), results("a"), said(use("a")), results("a")),
      "messages: `tool_use` ids must be unique: a",
    ],
    [
      "an id with other signs",
      messages(user, said(use("a.b")), results("a.b")),
      "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ],
    [
      "a call of the user",
      messages({ role: "user", content: [use("a")] }),
      "messages.0: `tool_use` blocks can only be in `assistant` messages",
    ],
    [
      "the name of a tool",
      { tools: [{ ...add, name: "math/add" }] },
      "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    ],
    ["a tool without a schema", { tools: [{ name: "add" }] }, "tools.0.custom.input_schema: Field required"],
    ["two tools of one name", { tools: [add, add] }, "tools: Tool names must be unique."],
    [
      "the choice of a tool that is not offered",
      { tools: [add], tool_choice: { type: "tool", name: "look" } },
      "Tool 'look' not found in provided tools",
    ],
    [
      "a thinking that has no room",
      { thinking, max_tokens: 1024 },
      "`max_tokens` must be greater than `thinking.budget_tokens`.",
    ],
    [
      "a signature that it did not give",
      messages(user, said({ type: "thinking", thinking: "x", signature: "c2ln" }, text("y")), user),
      "messages.1.content.0: Invalid `signature` in `thinking` block",
    ],
    [
      "thinking without its signature",
      messages(user, said({ type: "thinking", thinking: "x" }, text("y")), user),
      "messages.1.content.0.thinking.signature: Field required",
    ],
    [
      "calls without the thinking that led to them",
      { thinking, ...messages(user, said(use("a")), results("a")) },
      "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
    ],
  ])("%s", async (_what, fields, message) => {
    const { status, body } = await ask(fields);
    expect(body).toEqual({
      type: "error",
      error: { type: "invalid_request_error", message },
      request_id: "req_fake",
    });
    expect(status).toBe(400);
  });

  it("a request that does not say its version [H19]", async () => {
    expect((await ask({}, {})).body).toMatchObject({
      error: { message: "anthropic-version: header is required" },
    });
  });
});

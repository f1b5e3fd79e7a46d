import { describe, expect, it } from "vitest";
import { fakeOpenai } from "../../../../src/testing.ts";
import { post, type Posted } from "./post.ts";

const user = { role: "user", content: "Hi" };
const call = (call_id: string, more: object = {}): object => ({
  type: "function_call",
  call_id,
  name: "add",
  arguments: "{}",
  ...more,
});
const output = (call_id: string): object => ({ type: "function_call_output", call_id, output: "3" });
const input = (...items: readonly object[]): object => ({ input: items });

async function ask(fields: object): Promise<Posted> {
  await using server = await fakeOpenai(["Hello."]);
  return post(server, "/v1/responses", { model: "gpt-5", input: "Hi", ...fields });
}

describe("the fake Responses API", () => {
  it("tells the settings of the request, and its own where there are none", async () => {
    const own = {
      instructions: null,
      metadata: {},
      parallel_tool_calls: true,
      store: true,
      temperature: 1,
      tool_choice: "auto",
      truncation: "disabled",
    };
    const asked = {
      instructions: "Be short.",
      metadata: { a: "b" },
      parallel_tool_calls: false,
      store: false,
      temperature: 0,
      tool_choice: "none",
      truncation: "auto",
    };
    expect((await ask({})).body).toMatchObject(own);
    expect(
      (await ask({ ...asked, tools: [{ type: "function", name: "add", parameters: { type: "object" } }] }))
        .body,
    ).toMatchObject(asked);
  });

  it.each([
    ["a text", {}],
    ["calls with outputs", input(user, call("a"), call("b"), output("b"), output("a"), user)],
    ["items that it does not know", input(user, { type: "computer_call", id: "x" })],
  ])("takes %s", async (_what, fields) => {
    expect((await ask(fields)).status).toBe(200);
  });

  it.each([
    [
      "a form of answers that is unknown",
      { text: { format: { type: "regex" } } },
      "Invalid value: 'regex'. Supported values are: 'json_object', 'json_schema', and 'text'.",
      400,
    ],
    [
      "a schema of answers without a name",
      { text: { format: { type: "json_schema", schema: { type: "object" } } } },
      "Missing required parameter: 'text.format.name'.",
      400,
    ],
    [
      "the messages of chat completions",
      { messages: [user] },
      "Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'.",
      400,
    ],
    [
      "nothing to read",
      { input: undefined },
      "One of 'input' or 'previous_response_id' or 'prompt' or 'conversation' must be provided.",
      400,
    ],
    ["a field that is unknown", { thinking: true }, "Unknown parameter: 'thinking'.", 400],
    [
      "a tool as chat completions have it",
      { tools: [{ type: "function", function: { name: "add" } }] },
      "Missing required parameter: 'tools[0].name'.",
      400,
    ],
    ["a call without its output", input(user, call("a")), "No tool output found for function call a.", 400],
    [
      "an output without its call",
      input(user, output("a")),
      "No tool call found for function call output with call_id a.",
      400,
    ],
    [
      "an id of a call that is no id of an item",
      input(user, call("a", { id: "a" }), output("a")),
      "Invalid 'input[1].id': 'a'. Expected an ID that begins with 'fc'.",
      400,
    ],
    [
      "an output that is no text",
      input(user, call("a"), { ...output("a"), output: 3 }),
      "Invalid type for 'input[2].output': expected one of a string or an array, but got an integer instead.",
      400,
    ],
    [
      "a role that there is not",
      input({ role: "tool", content: "x" }),
      "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
      400,
    ],
    [
      "a response that it did not give",
      { previous_response_id: "resp_9" },
      "Previous response with id 'resp_9' not found.",
      400,
    ],
    [
      "a reference to what it does not keep",
      input(user, { type: "item_reference", id: "msg_9" }),
      "Item with id 'msg_9' not found.",
      404,
    ],
    [
      "reasoning without its content where nothing is kept",
      { store: false, input: [user, { type: "reasoning", id: "rs_9", summary: [] }, user] },
      "Item with id 'rs_9' not found.",
      404,
    ],
  ])("refuses %s", async (_what, fields, ...[message, status]) => {
    const refused = await ask(fields);
    expect(refused.status).toBe(status);
    expect(refused.body).toMatchObject({
      error: { type: "invalid_request_error", message: expect.stringContaining(message) as string },
    });
  });

  it("says whether calls may be made at once: as it was asked, else that they may", async () => {
    const tools = [{ type: "function", name: "add" }];
    const alone = await ask({ tools, parallel_tool_calls: false });
    expect(alone.body).toMatchObject({ parallel_tool_calls: false });
    expect((await ask({ tools })).body).toMatchObject({ parallel_tool_calls: true });
  });

  it("has a message only where there is text, or nothing else", async () => {
    await using server = await fakeOpenai([{ calls: [{ name: "add" }] }, ""]);
    const asked = { model: "gpt-5", input: "Hi" };
    const types = async (): Promise<unknown> =>
      (
        (await post(server, "/v1/responses", asked)).body as { output: readonly { type: string }[] }
      ).output.map(({ type }) => type);
    expect(await types()).toEqual(["function_call"]);
    expect(await types()).toEqual(["message"]);
  });

  it("goes on from a response that it keeps, and wants the output of its calls [H19]", async () => {
    await using server = await fakeOpenai([{ calls: [{ name: "add" }] }, "Three."]);
    const about = { model: "gpt-5", input: "Add." };
    expect((await post(server, "/v1/responses", about)).body).toMatchObject({ id: "resp_1" });
    const refused = await post(server, "/v1/responses", { ...about, previous_response_id: "resp_1" });
    expect(refused.body).toMatchObject({
      error: { message: "No tool output found for function call call_1_1." },
    });
    const next = { model: "gpt-5", input: [output("call_1_1")], previous_response_id: "resp_1" };
    expect((await post(server, "/v1/responses", next)).body).toMatchObject({
      id: "resp_2",
      previous_response_id: "resp_1",
    });
    const unkept = await post(server, "/v1/responses", { ...next, previous_response_id: "resp_3" });
    expect(unkept.body).toMatchObject({ error: { code: "previous_response_not_found" } });
  });

  it("wants the reasoning that led to a call back, and reasoning with what it led to [H19]", async () => {
    await using server = await fakeOpenai([{ reasoning: "Sums.", calls: [{ name: "add" }] }]);
    await post(server, "/v1/responses", { model: "gpt-5", input: "Add." });
    const called = call("call_1_1", { id: "fc_1_1" });
    const reasoning = { type: "item_reference", id: "rs_1" };
    const send = (...items: readonly object[]): Promise<Posted> =>
      post(server, "/v1/responses", { model: "gpt-5", input: [user, ...items] });
    expect((await send(called, output("call_1_1"))).body).toMatchObject({
      error: {
        message:
          "Item 'fc_1_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
      },
    });
    expect((await send(reasoning)).body).toMatchObject({
      error: { message: "Item 'rs_1' of type 'reasoning' was provided without its required following item." },
    });
    expect((await send(reasoning, called, output("call_1_1"))).status).toBe(200);
  });
});

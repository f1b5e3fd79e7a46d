import { describe, expect, it } from "vitest";
import { fakeGemini } from "../../../../src/testing.ts";
import { post, type Posted } from "./post.ts";

const user = { role: "user", parts: [{ text: "Hi" }] };
const model = (...parts: readonly object[]): object => ({ role: "model", parts });
const call = (name: string, more: object = {}): object => ({ functionCall: { name, args: {} }, ...more });
const answer = (...names: readonly string[]): object => ({
  role: "user",
  parts: names.map((name) => ({ functionResponse: { name, response: { output: 3 } } })),
});
const contents = (...list: readonly object[]): object => ({ contents: list });
const declare = (declaration: object): object => ({ tools: [{ functionDeclarations: [declaration] }] });
const signed = { thoughtSignature: Buffer.from("fake signature 1").toString("base64") };

async function ask(fields: object, name = "gemini-2.5-pro"): Promise<Posted> {
  await using server = await fakeGemini(["Hello."]);
  return post(server, `/v1beta/models/${name}:generateContent`, { contents: [user], ...fields });
}

describe("the fake Gemini takes", () => {
  it.each([
    ["a question", {}],
    [
      "calls with as many responses",
      contents(user, model({ text: "x" }, call("add"), call("add")), answer("add", "add"), user),
    ],
    [
      "snake case",
      {
        generation_config: { max_output_tokens: 9 },
        contents: [
          user,
          model({ function_call: { name: "add" } }),
          { role: "user", parts: [{ function_response: { name: "add", response: {} } }] },
        ],
      },
    ],
    [
      "all of JSON Schema in parametersJsonSchema",
      declare({ name: "add", parametersJsonSchema: { type: "object", additionalProperties: false } }),
    ],
  ])("%s", async (_what, fields) => {
    expect(await ask(fields)).toMatchObject({ status: 200 });
  });
});

const pattern =
  "Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.";

describe("the fake Gemini refuses", () => {
  it.each([
    ["no contents", contents(), "* GenerateContentRequest.contents: contents is not specified\n"],
    [
      "a field that is unknown",
      { stream: true },
      'Invalid JSON payload received. Unknown name "stream": Cannot find field.',
    ],
    [
      "an unknown field of a part",
      contents({ role: "user", parts: [{ text: "x", kind: "y" }] }),
      `Invalid JSON payload received. Unknown name "kind" at 'contents[0].parts[0]': Cannot find field.`,
    ],
    [
      "an unknown field of the settings",
      { generationConfig: { maxTokens: 3 } },
      `Invalid JSON payload received. Unknown name "maxTokens" at 'generation_config': Cannot find field.`,
    ],
    [
      "a role that there is not",
      contents({ role: "assistant", parts: [{ text: "x" }] }),
      "Please use a valid role: user, model.",
    ],
    [
      "a content without parts",
      contents({ role: "user", parts: [] }),
      "* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.\n",
    ],
    [
      "an empty part",
      contents({ role: "user", parts: [{}] }),
      "* GenerateContentRequest.contents[0].parts[0].data: required oneof field 'data' must have one initialized field\n",
    ],
    [
      "a response without a call",
      contents(user, model({ text: "x" }), answer("add")),
      "Please ensure that function response turn comes immediately after a function call turn.",
    ],
    [
      "fewer responses than calls",
      contents(user, model(call("add"), call("add")), answer("add")),
      "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    ],
    [
      "a call without a response",
      contents(user, model(call("add")), user),
      "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    ],
    [
      "a call that answers nobody",
      contents(model(call("add")), answer("add")),
      "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
    ],
    [
      "a response without a name",
      contents(user, model(call("add")), answer("")),
      "* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.\n",
    ],
    [
      "the name of a tool",
      declare({ name: "math/add" }),
      `* GenerateContentRequest.tools[0].function_declarations[0].name: ${pattern}\n`,
    ],
    [
      "two tools of one name",
      { tools: [{ functionDeclarations: [{ name: "add" }, { name: "add" }] }] },
      "Duplicate function declaration found: add",
    ],
    [
      "JSON Schema that it does not know",
      declare({
        name: "add",
        parameters: { type: "object", properties: { a: { type: "number" }, b: { const: 1 } } },
      }),
      `Invalid JSON payload received. Unknown name "const" at 'tools[0].function_declarations[0].parameters.properties[1].value': Cannot find field.`,
    ],
  ])("%s", async (_what, fields, message) => {
    const { status, body } = await ask(fields);
    expect(body).toMatchObject({ error: { code: 400, message, status: "INVALID_ARGUMENT" } });
    expect(status).toBe(400);
  });

  it("calls of the turn at hand without their thought signature, from gemini-3 on [H19]", async () => {
    const bare = contents(user, model(call("add"), call("add")), answer("add", "add"));
    expect((await ask(bare, "gemini-3-pro-preview")).body).toMatchObject({
      error: { message: expect.stringContaining("function call `default_api:add` , position 2") as string },
    });
    expect((await ask(bare)).status).toBe(200);
    const first = contents(user, model(call("add", signed), call("add")), answer("add", "add"));
    expect((await ask(first, "gemini-3-pro-preview")).status).toBe(200);
    const past = contents(user, model(call("add")), answer("add"), user);
    expect((await ask(past, "gemini-3-pro-preview")).status).toBe(200);
    const madeUp = contents(user, model(call("add", { thoughtSignature: "c2ln" })), answer("add"));
    expect((await ask(madeUp, "gemini-3-pro-preview")).body).toMatchObject({
      error: { message: "Corrupted thought signature." },
    });
  });

  it("too many requests with the wait in its own words [H19]", async () => {
    await using server = await fakeGemini([{ status: 429, retryAfter: 34 }]);
    const { body } = await post(server, "/v1beta/models/gemini-3-pro:generateContent", contents(user));
    expect(body).toMatchObject({
      error: {
        status: "RESOURCE_EXHAUSTED",
        details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34s" }],
      },
    });
  });

  it("answers as a list where a stream is not asked for as events [H19]", async () => {
    await using server = await fakeGemini(["one two"]);
    const { body } = await post(server, "/v1beta/models/gemini-3-pro:streamGenerateContent", contents(user));
    expect((body as readonly object[]).length).toBe(3);
  });
});

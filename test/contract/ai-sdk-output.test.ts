import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { aiSdk, type AiSdkModel, type AiSdkOptions } from "../../src/adapters/model/ai-sdk.ts";
import { nativeDriver } from "../../src/driver/native.ts";
import { callsOf, type ReplyMessage, textOf } from "../../src/message/message.ts";
import { assemble } from "../../src/model/assemble.ts";
import type { SchemaSource } from "../../src/schema/to-schema.ts";
import { fakeTool } from "../../src/testing.ts";
import { turnOf } from "../unit/driver/turn.ts";
import { at } from "./ai-sdk-recordings.ts";
import { anthropic, specVersions } from "./ai-sdk-wire.ts";
import { playedServer, type PlayedServer, sse } from "./played-server.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
afterAll(async () => {
  await server.close();
});

const search = fakeTool("search", "found");
const trip = z.object({ city: z.string(), stops: z.array(z.object({ name: z.string() })) });
const lima = { city: "Lima", stops: [{ name: "Callao" }] };

interface Asked {
  readonly body: Record<string, unknown>;
  readonly reply?: ReplyMessage;
}

/** Asks as the native driver does for an answer of this form, beside a tool. */
async function ask(
  model: AiSdkModel,
  {
    output = trip,
    tools = [search],
    answer,
    ...options
  }: AiSdkOptions & {
    readonly output?: SchemaSource;
    readonly tools?: Parameters<typeof turnOf>[0] extends infer About
      ? About extends { tools?: infer T }
        ? T
        : never
      : never;
    readonly answer?: string;
  } = {},
): Promise<Asked> {
  const asked = aiSdk(model, options);
  const turn = { ...turnOf({ output, tools }), model: asked };
  server.play(answer === undefined ? { status: 400, json: { error: { message: "stop" } } } : { sse: answer });
  const before = server.requests.length;
  const assembler = assemble(asked.id, ({ id, name }) => ({ id, name }));
  try {
    for await (const delta of asked.stream(nativeDriver.request(turn), {
      signal: new AbortController().signal,
    }))
      assembler.push(delta);
  } catch (error) {
    if (answer !== undefined) throw error;
  }
  const body = server.requests[before]?.body ?? {};
  return answer === undefined ? { body } : { body, reply: assembler.reply().message };
}

const openai = (api: "chat" | "responses"): AiSdkModel =>
  createOpenAI({ baseURL: `${server.url}/v1`, apiKey: "played" })[api]("gpt-4.1");
const google = (id: string): AiSdkModel =>
  createGoogle({ baseURL: `${server.url}/v1beta`, apiKey: "played" })(id);
const compatible = (supportsStructuredOutputs: boolean): AiSdkModel =>
  createOpenAICompatible({ name: "played", baseURL: `${server.url}/v1`, supportsStructuredOutputs })("qwen");

describe("which AI SDK models can be held to an answer beside tools", () => {
  it.each<readonly [string, () => AiSdkModel, object]>([
    ["OpenAI chat", () => openai("chat"), { tools: true, format: "schema", formatWithTools: true }],
    ["OpenAI responses", () => openai("responses"), { tools: true, format: "schema", formatWithTools: true }],
    ["Anthropic v2", () => anthropic("v2", ""), { tools: true, format: "schema", formatWithTools: true }],
    ["Anthropic v4", () => anthropic("v4", ""), { tools: true, format: "schema", formatWithTools: true }],
    [
      "Gemini 3",
      () => google("gemini-3-pro-preview"),
      { tools: true, format: "schema", formatWithTools: true },
    ],
    ["Gemini 2.5", () => google("gemini-2.5-flash"), { tools: true, format: "schema" }],
    ["an OpenAI-compatible server", () => compatible(true), { tools: true, format: "schema" }],
    ["a simple OpenAI-compatible server", () => compatible(false), { tools: true }],
  ])("%s [G4]", (_name, model, features) => {
    expect(aiSdk(model()).features).toEqual({ fixedTools: true, ...features });
  });
});

describe("the form of the answer in the request", () => {
  it("OpenAI: strict, with every object closed, beside the tools [G4]", async () => {
    const closed = {
      type: "object",
      required: ["city", "stops"],
      additionalProperties: false,
      properties: { stops: { items: { required: ["name"], additionalProperties: false } } },
    };
    const { body } = await ask(openai("chat"));
    expect(at(body, "response_format")).toMatchObject({
      type: "json_schema",
      json_schema: { strict: true, schema: closed },
    });
    expect(at(body, "tools", 0, "function", "name")).toBe("search");
    const responses = await ask(openai("responses"));
    expect(at(responses.body, "text", "format")).toMatchObject({
      type: "json_schema",
      strict: true,
      schema: closed,
    });
  });

  it.each<readonly [string, SchemaSource]>([
    ["leaves a property out", z.object({ city: z.string(), note: z.string().optional() })],
    ["leaves one out inside", z.object({ stops: z.array(z.object({ name: z.string().optional() })) })],
    ["is open", { type: "object", properties: {}, additionalProperties: { type: "string" } }],
    ["says more than strict mode takes", z.object({ city: z.string().min(2) })],
    ["has an object of any names", z.object({ place: z.record(z.string(), z.number()) })],
  ])(
    "OpenAI: not strict where the schema %s, since it would refuse the request [G4]",
    async (_how, output) => {
      const { body } = await ask(openai("chat"), { output });
      expect(at(body, "response_format", "json_schema", "strict")).toBe(false);
      const settings = { providerOptions: { openai: { strictJsonSchema: true, user: "u" } } };
      const own = await ask(openai("chat"), { output, settings });
      expect(at(own.body, "response_format", "json_schema", "strict")).toBe(true);
      expect(at(own.body, "user")).toBe("u");
    },
  );

  it("OpenAI: strict without the formats, look-ahead and words beside references that it refuses [G4]", async () => {
    const place = z.object({ city: z.string() }).meta({ id: "Place" });
    const output = z.object({
      link: z.url(),
      mail: z.string().regex(/^(?!\.)\S+@\S+$/),
      day: z.iso.date(),
      from: place.describe("From there"),
      to: place,
    });
    const { body } = await ask(openai("chat"), { output });
    const { strict, schema } = at(body, "response_format", "json_schema") as Record<string, unknown>;
    expect(strict).toBe(true);
    expect(schema).toMatchObject({
      properties: {
        link: { type: "string" },
        mail: { type: "string" },
        day: { type: "string", format: "date" },
        from: { $ref: "#/$defs/Place" },
        to: { $ref: "#/$defs/Place" },
      },
    });
    expect(JSON.stringify(schema)).not.toMatch(/uri|\?!|From there/);
  });

  it("OpenAI and Anthropic: none where the root is no object, since they would refuse the request [G4]", async () => {
    for (const output of [z.array(trip), z.union([trip, z.object({ none: z.boolean() })])]) {
      expect((await ask(openai("chat"), { output })).body).not.toHaveProperty("response_format");
      const { body } = await ask(anthropic("v4", server.url), { output });
      expect(body).not.toHaveProperty("output_config");
      expect(at(body, "tools", 1)).toBeUndefined();
      expect(
        at((await ask(google("gemini-3-pro-preview"), { output })).body, "generationConfig"),
      ).toHaveProperty("responseJsonSchema");
    }
  });

  it("Gemini from 3 on: beside the tools; before that only without [G4]", async () => {
    const { body } = await ask(google("gemini-3-pro-preview"));
    expect(at(body, "generationConfig")).toMatchObject({
      responseMimeType: "application/json",
      responseJsonSchema: { required: ["city", "stops"] },
    });
    expect(at(body, "tools", 0, "functionDeclarations", 0, "name")).toBe("search");
    const older = await ask(google("gemini-2.5-flash"));
    expect(at(older.body, "generationConfig", "responseMimeType")).toBeUndefined();
    const alone = await ask(google("gemini-2.5-flash"), { tools: [] });
    expect(at(alone.body, "generationConfig")).toHaveProperty("responseJsonSchema");
  });

  it("OpenAI-compatible servers: only without tools, and only where they say they can [G4]", async () => {
    expect((await ask(compatible(true))).body).not.toHaveProperty("response_format");
    expect((await ask(compatible(true), { tools: [] })).body).toHaveProperty("response_format.json_schema");
    expect((await ask(compatible(false), { tools: [] })).body).not.toHaveProperty("response_format");
    const vouched = await ask(compatible(true), {
      features: { tools: true, format: "schema", formatWithTools: true },
    });
    expect(vouched.body).toHaveProperty("response_format.json_schema");
  });
});

const block = (index: number, start: object, delta: object): readonly object[] => [
  { type: "content_block_start", index, content_block: start },
  { type: "content_block_delta", index, delta },
  { type: "content_block_stop", index },
];
const message = (stop_reason: string, ...blocks: readonly object[]): string =>
  sse([
    {
      type: "message_start",
      message: {
        id: "m",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    ...blocks,
    { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 2 } },
    { type: "message_stop" },
  ]);
const toolUse = (name: string, input: object): readonly object[] =>
  block(
    0,
    { type: "tool_use", id: `use_${name}`, name, input: {} },
    { type: "input_json_delta", partial_json: JSON.stringify(input) },
  );

describe.each(specVersions)("Anthropic (%s)", (version) => {
  /** Models without structured outputs: there the package makes a tool of the answer. */
  const older = (): AiSdkModel => anthropic(version, server.url, "claude-3-5-haiku-latest");

  it("the answer as a tool of its own is a text here, and other calls stay calls [G4]", async () => {
    const answered = await ask(older(), { answer: message("tool_use", ...toolUse("json", lima)) });
    expect(at(answered.body, "tools")).toMatchObject([{ name: "search" }, { name: "json" }]);
    expect(at(answered.body, "tool_choice", "type")).toBe("any");
    expect(callsOf(answered.reply ?? { role: "assistant", parts: [] })).toEqual([]);
    expect(JSON.parse(textOf(answered.reply ?? { role: "assistant", parts: [] }))).toEqual(lima);

    const called = await ask(older(), { answer: message("tool_use", ...toolUse("search", {})) });
    expect(callsOf(called.reply ?? { role: "assistant", parts: [] })).toMatchObject([{ name: "search" }]);
  });

  it("a call that is forced, or answers without tools, bring no second tool with them [A7, G4]", async () => {
    const model = aiSdk(older());
    for (const toolChoice of ["required", { tool: "search" }] as const) {
      const turn = { ...turnOf({ output: trip, tools: [search], toolChoice }), model };
      expect(nativeDriver.request(turn).format).toBeUndefined();
    }
    const turn = { ...turnOf({ output: trip, tools: [search], toolChoice: "none" }), model };
    server.play({ sse: message("tool_use", ...toolUse("json", lima)) });
    const before = server.requests.length;
    for await (const delta of model.stream(nativeDriver.request(turn), {
      signal: new AbortController().signal,
    }))
      if (delta.type === "end") break;
    expect(at(server.requests[before]?.body, "tools")).toMatchObject([{ name: "json" }]);
  });
});

it("Anthropic's newer models: in the output configuration, beside the tools [G4]", async () => {
  const text = block(0, { type: "text", text: "" }, { type: "text_delta", text: JSON.stringify(lima) });
  const { body, reply } = await ask(anthropic("v4", server.url), { answer: message("end_turn", ...text) });
  expect(at(body, "output_config", "format")).toMatchObject({ type: "json_schema" });
  expect(at(body, "tools")).toMatchObject([{ name: "search" }]);
  expect(JSON.parse(textOf(reply ?? { role: "assistant", parts: [] }))).toEqual(lima);
});

import { anthropic as claudeTools } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aiSdk, type AiSdkModel, type AiSdkOptions } from "../../src/adapters/model/ai-sdk.ts";
import { chat } from "../../src/doors.ts";
import { agent, tool } from "../../src/index.ts";
import type { DataTool } from "../../src/tools.ts";
import { at } from "./ai-sdk-recordings.ts";
import { anthropic, specVersions } from "./ai-sdk-wire.ts";
import { playedServer, type PlayedServer, sse } from "./played-server.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
afterAll(() => server.close());

const usage = { input_tokens: 1, output_tokens: 1 };
const message = { id: "m", type: "message", role: "assistant", model: "m", content: [], usage };
const byClaude = (stop_reason: string, block: object, delta: object): string =>
  sse([
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 2 } },
    { type: "message_stop" },
  ]);
const calling = (name: string, input: object): string =>
  byClaude(
    "tool_use",
    { type: "tool_use", id: "t1", name, input: {} },
    { type: "input_json_delta", partial_json: JSON.stringify(input) },
  );
const done = byClaude("end_turn", { type: "text", text: "" }, { type: "text_delta", text: "Done." });

const commands: unknown[] = [];
const shell = (name: string) =>
  tool({
    name,
    description: "Runs a command.",
    inputSchema: {
      type: "object",
      properties: { command: { type: "string" }, restart: { type: "boolean" } },
      required: ["command"],
    },
    execute: (args) => {
      commands.push(args);
      return "main.ts";
    },
  });
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

describe("a tool that is bound to one of the provider's", () => {
  const bash = claudeTools.tools.bash_20250124({});

  it.each(specVersions)("is told in the provider's form, and called like any other (%s)", async (version) => {
    commands.length = 0;
    server.play({ sse: calling("bash", { command: "ls" }) }, { sse: done });
    const model = aiSdk(anthropic(version, server.url), { boundTools: { bash } });
    const { outcome } = await agent({ name: "a", model, tools: [shell("bash")] }).run("List.");
    expect(outcome).toMatchObject({ type: "answered", content: "Done." });
    expect(commands).toEqual([{ command: "ls" }]);
    const { body } = server.requests.at(-1) ?? {};
    expect(body?.["tools"]).toMatchObject([{ type: "bash_20250124", name: "bash" }, { name: "read_result" }]);
    expect(at(body, "messages", 1, "content", 0)).toMatchObject({ type: "tool_use", name: "bash" });
    expect(at(body, "messages", 2, "content", 0)).toMatchObject({ type: "tool_result", tool_use_id: "t1" });
  });

  it("is told so with every tool of Anthropic's that a program runs", async () => {
    server.play({ sse: done });
    const {
      textEditor_20250728: edit,
      memory_20250818: memory,
      computer_20250124: computer,
    } = claudeTools.tools;
    const boundTools = {
      str_replace_based_edit_tool: edit({}),
      memory: memory({}),
      computer: computer({ displayWidthPx: 800, displayHeightPx: 600 }),
    };
    const tools = Object.keys(boundTools).map(shell);
    await agent({ name: "a", model: aiSdk(anthropic("v4", server.url), { boundTools }), tools }).run("x");
    expect(server.requests.at(-1)?.body["tools"]).toMatchObject([
      { type: "text_editor_20250728", name: "str_replace_based_edit_tool" },
      { type: "memory_20250818", name: "memory" },
      { type: "computer_20250124", name: "computer", display_width_px: 800 },
      { name: "read_result" },
    ]);
  });

  it("runs with arguments that fit its schema alone, and only where it may", async () => {
    commands.length = 0;
    const model = () => aiSdk(anthropic("v4", server.url), { boundTools: { bash } });
    server.play({ sse: calling("bash", { restart: true }) }, { sse: done });
    const wrong = await agent({ name: "a", model: model(), tools: [shell("bash")] }).run("List.");
    expect(wrong.transcript.messages).toContainEqual(expect.objectContaining({ status: "invalid" }));
    server.play({ sse: calling("bash", { command: "ls" }) }, { sse: done });
    const hidden = await agent({ name: "a", model: model(), tools: [shell("other")] }).run("List.");
    expect(hidden.transcript.messages).toContainEqual(expect.objectContaining({ status: "denied" }));
    expect(JSON.stringify(server.requests.at(-1)?.body["tools"])).not.toContain("bash");
    expect(commands).toEqual([]);
  });
});

describe("options of providers", () => {
  const cacheControl = { type: "ephemeral" };
  const marked = () =>
    tool({
      name: "look",
      description: "Looks.",
      inputSchema: { type: "object", properties: {}, additionalProperties: false },
      providerOptions: { anthropic: { cacheControl }, openai: { strict: true } },
      execute: () => "seen",
    });

  /** The body of the one request of an agent. */
  async function bodyOf(model: AiSdkModel, options: AiSdkOptions, answer: object): Promise<unknown> {
    server.play(answer);
    const one = agent({
      name: "a",
      model: aiSdk(model, options),
      instructions: "Be brief.",
      tools: [marked()],
    });
    await one.run("x").catch(() => undefined);
    return server.requests.at(-1)?.body;
  }

  it.each(specVersions)("of a tool and of the system message arrive: Anthropic (%s)", async (version) => {
    const options = { systemOptions: { anthropic: { cacheControl } } };
    const body = await bodyOf(anthropic(version, server.url), options, { sse: done });
    expect(at(body, "tools", 0)).toMatchObject({ name: "look", cache_control: cacheControl });
    expect(list(at(body, "system"))).toMatchObject([{ cache_control: cacheControl }]);
    expect(at(body, "system", 0, "text")).toContain("Be brief.");
  });

  it("of a tool arrive, `strict` too: OpenAI", async () => {
    const failing = { status: 400, json: { error: { message: "only the request counts" } } };
    const model = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: "played" }).responses("gpt-5");
    expect(at(await bodyOf(model, {}, failing), "tools", 0)).toMatchObject({ name: "look", strict: true });
  });

  it("of a tool arrive in one question too", async () => {
    server.play({ sse: done });
    await chat({ model: aiSdk(anthropic("v4", server.url)), messages: "x", tools: [marked()] });
    expect(at(server.requests.at(-1)?.body, "tools", 0)).toMatchObject({ cache_control: cacheControl });
  });

  it("of a tool as data arrive, and are an object of objects", async () => {
    const data: DataTool = {
      name: "look",
      description: "Looks.",
      providerOptions: { anthropic: { cacheControl } },
    };
    const ask = (tools: readonly DataTool[]) =>
      chat({ model: aiSdk(anthropic("v4", server.url)), messages: "x", tools });
    server.play({ sse: done });
    await ask([data]);
    expect(at(server.requests.at(-1)?.body, "tools", 0)).toMatchObject({ cache_control: cacheControl });
    for (const wrong of ["no", { anthropic: "no" }, []])
      await expect(ask([{ ...data, providerOptions: wrong as never }])).rejects.toThrow(
        "`providerOptions` of",
      );
  });

  it("of a tool are an object of objects", () => {
    const wrong = {
      name: "x",
      description: "",
      inputSchema: {},
      execute: () => 1,
      providerOptions: { a: 1 },
    };
    expect(() => tool(wrong as never)).toThrow("providerOptions");
  });
});

import { tool as langChainTool } from "@langchain/core/tools";
import { dynamicTool, jsonSchema, tool as aiTool, zodSchema } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, type Tool } from "../../src/index.ts";
import { callTool } from "../../src/doors.ts";
import { fromAiSdk, fromLangChain, fromOpenAI } from "../../src/tools.ts";

const query = z.object({ query: z.string() });
const parameters = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const weather = {
  type: "function",
  function: { name: "weather", description: "The weather", parameters, strict: true },
};

/** A call of the first tool. */
const call = (tools: readonly Tool[], args: object) => {
  const [first] = tools;
  if (first === undefined) throw new Error("no tool");
  return callTool(first, args as never);
};

const code = (name: string) => expect.objectContaining({ code: name });

describe("tools of other libraries", () => {
  it("are undeclared, and their results a stranger's, unless the author says otherwise", async () => {
    const definitions = {
      ai: aiTool({ description: "Searches", inputSchema: query, execute: () => "found" }),
    };
    const langChain = langChainTool(() => "found", { name: "lang", description: "Searches", schema: query });
    const execute = { weather: () => "found" };
    const plain = [
      ...fromAiSdk(definitions),
      ...fromLangChain([langChain]),
      ...fromOpenAI([weather], { execute }),
    ];
    expect(plain.map(({ name, effect, trusted }) => [name, effect, trusted])).toEqual([
      ["ai", "undeclared", undefined],
      ["lang", "undeclared", undefined],
      ["weather", "undeclared", undefined],
    ]);
    const said = { effect: "read", trusted: true, timeoutMs: 50 } as const;
    const known = [
      ...fromAiSdk(definitions, { tools: { ai: said } }),
      ...fromLangChain([langChain], { tools: { lang: said } }),
      ...fromOpenAI([weather], { execute, tools: { weather: said } }),
    ];
    for (const one of known) expect(one).toMatchObject(said);
    const reader = agent({
      name: "reader",
      tools: plain,
      model: ({ messages }) =>
        messages.some(({ role }) => role === "tool")
          ? "Done."
          : { calls: [{ name: "ai", arguments: { query: "x" } }] },
    });
    expect((await reader.run("Go")).label).toMatchObject({ integrity: "untrusted" });
  });

  it("never run with arguments that do not fit", async () => {
    const ran: unknown[] = [];
    const run = (args: unknown): string => {
      ran.push(args);
      return "ran";
    };
    const tools = [
      fromAiSdk({ one: aiTool({ inputSchema: query, execute: run }) }),
      fromAiSdk({ two: aiTool({ inputSchema: jsonSchema(parameters as never), execute: run }) }),
      fromAiSdk({ three: dynamicTool({ inputSchema: () => zodSchema(query), execute: run }) }),
      fromLangChain([langChainTool(run, { name: "four", description: "", schema: query })]),
      fromLangChain([langChainTool(run, { name: "five", description: "", schema: parameters as never })]),
      fromOpenAI([weather], { execute: { weather: run } }),
    ];
    for (const one of tools) expect(await call(one, { other: 1 })).toMatchObject({ status: "invalid" });
    expect(ran).toEqual([]);
  });

  it("take only those that are named", () => {
    const both = {
      a: aiTool({ inputSchema: query, execute: () => "" }),
      b: aiTool({ inputSchema: query, execute: () => "" }),
    };
    expect(fromAiSdk(both, { only: ["b"] }).map(({ name }) => name)).toEqual(["b"]);
    expect(() => fromAiSdk(both, { only: ["c"] })).toThrow(code("tool-unknown"));
    expect(() => fromAiSdk(both, { tools: { c: { effect: "read" } } })).toThrow(code("tool-unknown"));
    expect(() => fromAiSdk(both, { tools: { a: { execute: () => "" } as never } })).toThrow(
      code("definition-invalid"),
    );
    expect(() => fromAiSdk(both, { tools: { a: { effect: "reads" as never } } })).toThrow(
      code("definition-invalid"),
    );
  });
});

describe("tools of the AI SDK", () => {
  it("are given the call, and their values before the last are progress", async () => {
    const told: unknown[] = [];
    const slow = aiTool({
      inputSchema: query,
      async *execute({ query: asked }, { toolCallId, abortSignal, messages }) {
        yield { at: 1 };
        yield { at: 2 };
        yield { asked, toolCallId, isAborted: abortSignal?.aborted, messages };
      },
    });
    const runner = agent({
      name: "runner",
      tools: fromAiSdk({ slow }),
      model: ({ messages }) =>
        messages.some(({ role }) => role === "tool")
          ? "Done."
          : { calls: [{ id: "c1", name: "slow", arguments: { query: "tea" } }] },
    });
    let value: unknown;
    for await (const event of runner.stream("Go")) {
      if (event.type === "tool-progress") told.push(event.value);
      if (event.type === "tool-end") ({ value } = event.result);
    }
    expect(value).toMatchObject({ asked: "tea", isAborted: false, messages: [] });
    expect(told).toEqual([{ at: 1 }, { at: 2 }]);
  });

  it("say to the model what `toModelOutput` makes of a result, files among it", async () => {
    const photo = aiTool({
      inputSchema: z.object({}),
      outputSchema: z.object({ png: z.string() }),
      execute: () => ({ png: "aGk=" }),
      toModelOutput: ({ output }) => ({
        type: "content",
        value: [
          { type: "text", text: "A photo" },
          { type: "file-data", data: output.png, mediaType: "image/png" },
        ],
      }),
    });
    const result = await call(fromAiSdk({ photo }), {});
    expect(result).toMatchObject({
      status: "ok",
      value: "A photo",
      files: [{ mediaType: "image/png", data: "aGk=" }],
    });
    const failing = aiTool({
      inputSchema: z.object({}),
      execute: () => "x",
      toModelOutput: () => ({ type: "error-text", value: "no camera" }),
    });
    expect(await call(fromAiSdk({ failing }), {})).toMatchObject({
      status: "error",
      text: expect.stringContaining("no camera"),
    });
  });

  it("judge values by what `jsonSchema()` was given, too", async () => {
    const even = jsonSchema<{ n: number }>(
      { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      {
        validate: (value) => {
          const { n } = value as { n: number };
          return n % 2 === 0
            ? { success: true, value: { n: n / 2 } }
            : { success: false, error: new Error("n is odd") };
        },
      },
    );
    const half = fromAiSdk({ half: aiTool({ inputSchema: even, execute: ({ n }) => n }) });
    expect(await call(half, { n: 4 })).toMatchObject({ status: "ok", value: 2 });
    expect(await call(half, { n: 3 })).toMatchObject({
      status: "error",
      text: expect.stringContaining("n is odd"),
    });
    const later = { inputSchema: () => even, execute: ({ n }: { readonly n: number }) => n };
    expect(await call(fromAiSdk({ later }), { n: 4 })).toMatchObject({ status: "ok", value: 2 });
    expect(await call(fromAiSdk({ later }), { n: 3 })).toMatchObject({ status: "error" });
  });

  it("with `needsApproval` are refused, unless the policy asks in its place", async () => {
    const pay = aiTool({ inputSchema: z.object({}), needsApproval: true, execute: () => "paid" });
    expect(() => fromAiSdk({ pay })).toThrow(code("definition-invalid"));
    const ofMastra = { id: "pay", inputSchema: z.object({}), requireApproval: true, execute: () => "paid" };
    expect(() => fromAiSdk({ pay: ofMastra })).toThrow(/`requireApproval`/);
    const asked: string[] = [];
    const payer = agent({
      name: "payer",
      tools: fromAiSdk({ pay }, { approvals: "policy" }),
      policy: () => ({ verdict: "ask", rule: "money", reason: "money leaves" }),
      model: ({ messages }) =>
        messages.some(({ role }) => role === "tool") ? "Done." : { calls: [{ name: "pay", arguments: {} }] },
    });
    await payer.run("Pay", { approve: ({ tool }) => asked.push(tool) > 0 });
    expect(asked).toEqual(["pay"]);
  });

  it.each([
    ["without execute", { inputSchema: query }],
    ["of a provider", { type: "provider", id: "openai.web_search", args: {}, execute: (): string => "" }],
    [
      "whose schema is a promise",
      { inputSchema: jsonSchema(Promise.resolve(parameters) as never), execute: (): string => "" },
    ],
  ])("are refused: %s", (_name, given) => {
    expect(() => fromAiSdk({ given })).toThrow(code("definition-invalid"));
  });
  it.each([undefined, null, "x", [], { a: 1 }])("are no %j", (given) => {
    expect(() => fromAiSdk(given as never)).toThrow(expect.objectContaining({ code: "definition-invalid" }));
  });
});

describe("tools of LangChain", () => {
  it("are called with the signal, and give values, parts and failures", async () => {
    const echo = langChainTool(
      ({ query: asked }, config) => ({ asked, hasSignal: config?.signal instanceof AbortSignal }),
      { name: "echo", description: "Says it again", schema: query },
    );
    expect(await call(fromLangChain([echo]), { query: "tea" })).toMatchObject({
      value: { asked: "tea", hasSignal: true },
    });
    const photo = langChainTool(
      () => [
        { type: "text", text: "A photo" },
        { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
      ],
      { name: "photo", description: "", schema: z.object({}) },
    );
    expect(await call(fromLangChain([photo]), {})).toMatchObject({
      value: "A photo",
      files: [{ mediaType: "image/png" }],
    });
    const artifact = langChainTool(() => ["told", { kept: 1 }] as [string, object], {
      name: "artifact",
      description: "",
      schema: z.object({}),
      responseFormat: "content_and_artifact",
    });
    expect(await call(fromLangChain([artifact]), {})).toMatchObject({ value: "told" });
    const failing = langChainTool(
      () => {
        throw new Error("no network");
      },
      { name: "failing", description: "", schema: z.object({}) },
    );
    expect(await call(fromLangChain([failing]), {})).toMatchObject({ status: "error" });
  });

  it.each([undefined, {}, [1], [{ name: "x" }]])("are no %j", (given) => {
    expect(() => fromLangChain(given as never)).toThrow(
      expect.objectContaining({ code: "definition-invalid" }),
    );
  });
});

describe("function definitions of OpenAI", () => {
  it("run with their functions, in both forms", async () => {
    const flat = { type: "function", name: "now", description: "The time" };
    const tools = fromOpenAI([weather, flat], {
      execute: { weather: ({ city }) => `rain in ${String(city)}`, now: () => "noon" },
    });
    expect(await call(tools, { city: "Bonn" })).toMatchObject({ value: "rain in Bonn" });
    expect(tools[0]?.providerOptions).toEqual({ openai: { strict: true } });
    expect(await call(tools.slice(1), {})).toMatchObject({ value: "noon" });
    expect(await call(tools.slice(1), { zone: "CET" })).toMatchObject({ status: "invalid" });
  });

  it.each([
    ["a definition without a function", [weather], { execute: {} }],
    ["a function without a definition", [weather], { execute: { weather: () => "", other: () => "" } }],
    ["a tool of OpenAI's own", [{ type: "web_search" }], { execute: {} }],
    ["no list", weather, { execute: {} }],
    ["no functions", [weather], {}],
    ["no options", [weather], undefined],
  ])("are refused: %s", (_name, definitions, options) => {
    expect(() => fromOpenAI(definitions as never, options as never)).toThrow(
      expect.objectContaining({ code: "definition-invalid" }),
    );
  });
});

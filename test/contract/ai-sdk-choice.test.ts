import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aiSdk, type AiSdkModel } from "../../src/adapters/model/ai-sdk.ts";
import { userMessage } from "../../src/message/message.ts";
import type { Model, ModelRequest, ToolChoice } from "../../src/model/model.ts";
import { at } from "./ai-sdk-recordings.ts";
import { anthropic, openaiCompatible, specVersions } from "./ai-sdk-wire.ts";
import { playedServer, type PlayedServer } from "./played-server.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
  server.play({ status: 400, json: { error: { message: "only the request counts" } } });
});
afterAll(async () => {
  await server.close();
});

const tools = ["search", "look"].map((name) => ({
  name,
  description: name,
  inputSchema: { type: "object", properties: {}, additionalProperties: false },
}));

/** The body of the one request that the model makes. */
async function bodyOf(model: Model, toolChoice: ToolChoice): Promise<Record<string, unknown>> {
  const request: ModelRequest = { messages: [userMessage("Go.")], tools, toolChoice, settings: {} };
  const before = server.requests.length;
  await expect(
    model.stream(request, { signal: new AbortController().signal })[Symbol.asyncIterator]().next(),
  ).rejects.toThrow();
  return server.requests[before]?.body ?? {};
}

/** What each provider's interface wants: the choice as it stands in the body, and the tools that are offered. */
interface Provider {
  readonly open: () => AiSdkModel;
  readonly choice: (body: object) => unknown;
  readonly offered: (body: object) => unknown;
  readonly required: unknown;
  readonly search: unknown;
}

const names = (list: unknown, ...path: readonly string[]): unknown =>
  Array.isArray(list) ? list.map((tool: unknown) => at(tool, ...path)) : list;

const providers: Readonly<Record<string, Provider>> = Object.fromEntries([
  ...specVersions.flatMap((version): [string, Provider][] => [
    [
      `OpenAI-compatible ${version}`,
      {
        open: () => openaiCompatible(version, server.url),
        choice: (body) => at(body, "tool_choice"),
        offered: (body) => names(at(body, "tools"), "function", "name"),
        required: "required",
        search: { type: "function", function: { name: "search" } },
      },
    ],
    [
      `Anthropic ${version}`,
      {
        open: () => anthropic(version, server.url),
        choice: (body) => at(body, "tool_choice"),
        offered: (body) => names(at(body, "tools"), "name"),
        required: { type: "any" },
        search: { type: "tool", name: "search" },
      },
    ],
  ]),
  [
    "OpenAI chat",
    {
      open: () => createOpenAI({ baseURL: `${server.url}/v1`, apiKey: "played" }).chat("gpt-4.1"),
      choice: (body: object) => at(body, "tool_choice"),
      offered: (body: object) => names(at(body, "tools"), "function", "name"),
      required: "required",
      search: { type: "function", function: { name: "search" } },
    },
  ],
  [
    "OpenAI responses",
    {
      open: () => createOpenAI({ baseURL: `${server.url}/v1`, apiKey: "played" }).responses("gpt-5"),
      choice: (body: object) => at(body, "tool_choice"),
      offered: (body: object) => names(at(body, "tools"), "name"),
      required: "required",
      search: { type: "function", name: "search" },
    },
  ],
  [
    "Google",
    {
      open: () => createGoogle({ baseURL: `${server.url}/v1beta`, apiKey: "played" })("gemini-2.5-flash"),
      choice: (body: object) => at(body, "toolConfig", "functionCallingConfig"),
      offered: (body: object) => names(at(body, "tools", 0, "functionDeclarations"), "name"),
      required: { mode: "ANY" },
      search: { mode: "ANY", allowedFunctionNames: ["search"] },
    },
  ],
] as [string, Provider][]);

describe.each(Object.entries(providers))("the choice of tools as %s sends it", (_name, provider) => {
  it("case 49: required is sent as required, and one tool as that tool [A7, H20]", async () => {
    const model = aiSdk(provider.open());
    const required = await bodyOf(model, "required");
    expect(provider.choice(required)).toEqual(provider.required);
    expect(provider.offered(required)).toEqual(["search", "look"]);
    expect(provider.choice(await bodyOf(model, { tool: "search" }))).toEqual(provider.search);
  });

  it("auto forces nothing, and none offers nothing that could be called [A7]", async () => {
    const model = aiSdk(provider.open());
    const free = await bodyOf(model, "auto");
    expect([undefined, "auto", { type: "auto" }, { mode: "AUTO" }]).toContainEqual(provider.choice(free));
    expect(provider.offered(free)).toEqual(["search", "look"]);
    const none = await bodyOf(model, "none");
    const isOff = /none/i.test(JSON.stringify(provider.choice(none) ?? ""));
    expect(isOff || provider.offered(none) === undefined).toBe(true);
  });
});

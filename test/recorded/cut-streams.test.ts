import { createDeepSeek } from "@ai-sdk/deepseek";
import { createGoogle } from "@ai-sdk/google";
import { createGroq } from "@ai-sdk/groq";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import { createXai } from "@ai-sdk/xai";
import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aiSdk, type AiSdkModel } from "../../src/adapters/model/ai-sdk.ts";
import { ollama } from "../../src/adapters/model/ollama.ts";
import { openaiCompatible } from "../../src/adapters/model/openai-compatible.ts";
import type { Model } from "../../src/model/model.ts";
import { anthropic, openaiCompatible as aiSdkCompatible, specVersions } from "../contract/ai-sdk-wire.ts";
import { playedServer, type PlayedServer } from "../contract/played-server.ts";
import {
  chatsOf,
  countCuts,
  geminis,
  type Kind,
  messages,
  ollamas,
  responses,
  xaiResponses,
} from "./cuts.ts";
import { tellRows } from "./tell-rows.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
const rows: object[] = [];
afterAll(() => {
  tellRows("cuts", rows);
  return server.close();
});

/** Where a provider package asks, and with which key. */
const settings = (): { readonly baseURL: string; readonly apiKey: string } => ({
  baseURL: server.url,
  apiKey: "played",
});
const chats = chatsOf();
const throughAiSdk = (make: () => AiSdkModel) => (): Model => aiSdk(make());
const kinds: readonly (readonly [string, Kind, () => Model])[] = [
  ["openaiCompatible", chats, () => openaiCompatible("m", { baseUrl: server.url })],
  ["ollama", ollamas, () => ollama("m", { host: server.url })],
  ...specVersions.flatMap((version) => [
    [
      `@ai-sdk/openai-compatible ${version}`,
      chats,
      throughAiSdk(() => aiSdkCompatible(version, server.url)),
    ] as const,
    [`@ai-sdk/anthropic ${version}`, messages, throughAiSdk(() => anthropic(version, server.url))] as const,
  ]),
  ["@ai-sdk/openai, chat", chats, throughAiSdk(() => createOpenAI(settings()).chat("gpt-4o"))],
  ["@ai-sdk/openai, responses", responses, throughAiSdk(() => createOpenAI(settings()).responses("gpt-5"))],
  ["@ai-sdk/google", geminis, throughAiSdk(() => createGoogle(settings())("gemini-3"))],
  ["@ai-sdk/groq", chatsOf("groq"), throughAiSdk(() => createGroq(settings())("m"))],
  ["@ai-sdk/mistral", chatsOf("mistral"), throughAiSdk(() => createMistral(settings())("m"))],
  ["@ai-sdk/deepseek", chatsOf("deepseek"), throughAiSdk(() => createDeepSeek(settings())("m"))],
  ["@ai-sdk/xai, responses", xaiResponses, throughAiSdk(() => createXai(settings()).responses("m"))],
  ["@openrouter/ai-sdk-provider", chats, throughAiSdk(() => createOpenRouter(settings()).chat("m"))],
];

describe.each(kinds)("recorded streams that end early: %s", (name, kind, model) => {
  it.skipIf(kind.recordings.length === 0)("are no answers, run nothing, and may be asked again", async () => {
    const { recordings, cuts, ends, ran } = await countCuts(kind, model(), server);
    const broken = ends.get("provider-failed, retryable: true") ?? 0;
    rows.push({ through: name, recordings, cuts, broken, other: cuts - broken, ran });
    expect([...ends.keys()]).toEqual(["provider-failed, retryable: true"]);
    expect(ran).toBe(0);
  });
});

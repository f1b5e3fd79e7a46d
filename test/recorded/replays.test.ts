import { createDeepSeek } from "@ai-sdk/deepseek";
import { createGroq } from "@ai-sdk/groq";
import { createMistral } from "@ai-sdk/mistral";
import { createXai } from "@ai-sdk/xai";
import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aiSdk, type AiSdkModel } from "../../src/adapters/model/ai-sdk.ts";
import { userMessage } from "../../src/message/message.ts";
import { assemble } from "../../src/model/assemble.ts";
import { type Recording, type Said, saidByOpenai, saidByResponses } from "../contract/ai-sdk-recordings.ts";
import { expectSame } from "../contract/expect-same.ts";
import { playedServer, type PlayedServer } from "../contract/played-server.ts";
import { chatsOf, type Kind, xaiResponses } from "./cuts.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
const rows: object[] = [];
afterAll(() => {
  console.table(rows);
  return server.close();
});

const settings = (): { readonly baseURL: string; readonly apiKey: string } => ({
  baseURL: server.url,
  apiKey: "played",
});

/** The package reads the counts of `x_groq` alone, which not all recordings have. */
const uncounted: Read = (recording) => ({ ...saidByOpenai(recording), inputTokens: undefined });

type Read = (recording: Recording) => Partial<Said>;
const kinds: readonly (readonly [string, Kind, () => AiSdkModel, Read])[] = [
  ["@ai-sdk/groq", chatsOf("groq"), () => createGroq(settings())("m"), uncounted],
  ["@ai-sdk/mistral", chatsOf("mistral"), () => createMistral(settings())("m"), saidByOpenai],
  ["@ai-sdk/deepseek", chatsOf("deepseek"), () => createDeepSeek(settings())("m"), saidByOpenai],
  ["@ai-sdk/xai", xaiResponses, () => createXai(settings()).responses("m"), saidByResponses],
  [
    "@openrouter/ai-sdk-provider",
    chatsOf("openrouter"),
    () => createOpenRouter(settings()).chat("m"),
    saidByOpenai,
  ],
];

describe.each(kinds)("recorded replies through %s", (...[name, { recordings }, model, saidBy]) => {
  it.skipIf(recordings.length === 0)("are what was recorded", async () => {
    const wrong: string[] = [];
    for (const recording of recordings) {
      server.play({ sse: recording.sse });
      const assembler = assemble("test", ({ id, name: called }) => ({ id, name: called }));
      const request = { messages: [userMessage("x")], tools: [], toolChoice: "auto", settings: {} } as const;
      try {
        const stream = aiSdk(model()).stream(request, { signal: new AbortController().signal });
        for await (const delta of stream) assembler.push(delta);
        expectSame(assembler.reply(), saidBy(recording));
      } catch (error) {
        wrong.push(`${recording.name}: ${String(error).slice(0, 300)}`);
      }
    }
    rows.push({ through: name, recordings: recordings.length, same: recordings.length - wrong.length });
    expect(wrong).toEqual([]);
  });
});

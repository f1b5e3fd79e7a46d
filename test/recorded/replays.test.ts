import { createAnthropic } from "@ai-sdk/anthropic";
import { createDeepSeek } from "@ai-sdk/deepseek";
import { createGoogle } from "@ai-sdk/google";
import { createGroq } from "@ai-sdk/groq";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import { createXai } from "@ai-sdk/xai";
import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aiSdk, type AiSdkModel } from "../../src/adapters/model/ai-sdk.ts";
import { userMessage } from "../../src/message/message.ts";
import { assemble } from "../../src/model/assemble.ts";
import {
  at,
  type Recording,
  type Said,
  saidByAnthropic,
  saidByGemini,
  saidByOpenai,
  saidByResponses,
} from "../contract/ai-sdk-recordings.ts";
import { expectSame } from "../contract/expect-same.ts";
import { playedServer, type PlayedServer } from "../contract/played-server.ts";
import { chatsOf, geminis, type Kind, messages, responses, xaiResponses } from "./cuts.ts";
import { tellRows } from "./tell-rows.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
const rows: object[] = [];
afterAll(() => {
  tellRows("replays", rows);
  return server.close();
});

const settings = (): { readonly baseURL: string; readonly apiKey: string } => ({
  baseURL: server.url,
  apiKey: "played",
});

/** The package reads the counts of `x_groq` alone, which not all recordings have. */
const uncounted: Read = (recording) => ({ ...saidByOpenai(recording), inputTokens: undefined });

/** What a recording says; undefined for one that is no reply, but an error. */
type Read = (recording: Recording) => Partial<Said> | undefined;

/** Some recordings of Anthropic were put together of two, and the package refuses them. */
const byAnthropic: Read = (recording) => {
  if (recording.name.startsWith("spliced")) return undefined;
  const { cacheTokens, inputTokens, ...said } = saidByAnthropic(recording);
  return { ...said, ...(inputTokens !== undefined && { inputTokens: inputTokens + cacheTokens }) };
};

/** Arguments that Gemini streams in pieces of its own form are not read here. */
const byGemini: Read = (recording) => ({
  ...saidByGemini(recording),
  ...(/"(?:partialArgs|willContinue)"/.test(recording.sse) ? { calls: undefined } : {}),
});

const failed = /"type": ?"(?:error|response\.failed)"/;
/** Calls of tools that OpenAI defines and the program runs: their arguments are the package's own words. */
const ownTools =
  /"type": ?"(?:custom_tool_call|apply_patch_call|local_shell_call|shell_call|tool_search_call)"/;
const byResponses: Read = (recording) => {
  const isResponse = recording.events.every((event) => typeof at(event, "type") === "string");
  if (!isResponse || failed.test(recording.sse)) return undefined;
  return { ...saidByResponses(recording), ...(ownTools.test(recording.sse) ? { calls: undefined } : {}) };
};

const kinds: readonly (readonly [string, Kind, () => AiSdkModel, Read])[] = [
  ["@ai-sdk/anthropic", messages, () => createAnthropic(settings())("claude-sonnet-4-5"), byAnthropic],
  ["@ai-sdk/openai", responses, () => createOpenAI(settings()).responses("gpt-5"), byResponses],
  ["@ai-sdk/google", geminis, () => createGoogle(settings())("gemini-2.5-flash"), byGemini],
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
    let notApplicable = 0;
    for (const recording of recordings) {
      const said = saidBy(recording);
      if (said === undefined) {
        notApplicable += 1;
        continue;
      }
      server.play({ sse: recording.sse });
      const assembler = assemble("test", ({ id, name: called }) => ({ id, name: called }));
      const request = { messages: [userMessage("x")], tools: [], toolChoice: "auto", settings: {} } as const;
      try {
        const stream = aiSdk(model()).stream(request, { signal: new AbortController().signal });
        for await (const delta of stream) assembler.push(delta);
        expectSame(assembler.reply(), said);
      } catch (error) {
        wrong.push(`${recording.name}: ${String(error).slice(0, 300)}`);
      }
    }
    const right = recordings.length - wrong.length - notApplicable;
    rows.push({ through: name, right, wrong: wrong.length, notApplicable });
    expect(wrong).toEqual([]);
  });
});

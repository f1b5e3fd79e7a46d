import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aiSdk, type AiSdkModel } from "../../src/adapters/model/ai-sdk.ts";
import { userMessage } from "../../src/message/message.ts";
import { assemble, type Reply } from "../../src/model/assemble.ts";
import {
  answersOf,
  at,
  type Recording,
  recordingsIn,
  saidByAnthropic,
  saidByGemini,
  saidByOpenai,
  saidByResponses,
  saidByWholeChat,
  saidByWholeMessage,
} from "./ai-sdk-recordings.ts";
import { expectSame } from "./expect-same.ts";
import { recordedChats as chats, recordedWholeChats as wholeChats } from "./recorded-chats.ts";
import { anthropic, openaiCompatible, specVersions } from "./ai-sdk-wire.ts";
import { playedServer, type PlayedServer } from "./played-server.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
afterAll(async () => {
  await server.close();
});

async function replayed(model: AiSdkModel, recording: Recording): Promise<Reply> {
  server.play(
    recording.name.endsWith(".json") && recording.events.length === 1
      ? { json: recording.events[0] }
      : { sse: recording.sse },
  );
  const assembler = assemble("test", ({ id, name }) => ({ id, name }));
  const request = { messages: [userMessage("x")], tools: [], toolChoice: "auto", settings: {} } as const;
  for await (const delta of aiSdk(model).stream(request, { signal: new AbortController().signal }))
    assembler.push(delta);
  return assembler.reply();
}

const packages = "vercel-ai/packages";
const prism = "prism/tests/Fixtures";

describe.skipIf(chats.length === 0)("recorded chat completions through @ai-sdk/openai-compatible", () => {
  describe.each(specVersions)("%s", (version) => {
    it.each(chats)("%s", async (_name, recording) => {
      const hasLists = recording.events.some((event) =>
        Array.isArray(at(event, "choices", 0, "delta", "content")),
      );
      const reply = replayed(openaiCompatible(version, server.url), recording);
      // The package of V2 refuses Mistral's lists of content, so the adapter reports that.
      if (hasLists && version === "v2")
        await expect(reply).rejects.toMatchObject({ code: "provider-failed" });
      else expectSame(await reply, saidByOpenai(recording));
    });
  });
});

const messages = [
  ...recordingsIn(`${packages}/anthropic/src/__fixtures__`, /\.chunks\.txt$/),
  ...recordingsIn(`${prism}/anthropic`, /\.sse$/),
]
  .flatMap((recording) => answersOf(recording, "message_stop"))
  .map((recording) => [recording.name, recording] as const);

/** Blocks that the package of V2 does not know. */
const unknownToV2 = /"(?:mcp_tool_use|tool_search_tool_result|advisor_tool_result)"/;

describe.skipIf(messages.length === 0)("recorded messages through @ai-sdk/anthropic", () => {
  describe.each(specVersions)("%s", (version) => {
    // The package of V2 does not read calls that come whole, as those do that Anthropic's own programs make.
    const readable = messages.filter(
      ([name]) => version !== "v2" || !name.startsWith("anthropic-programmatic"),
    );
    it.each(readable)("%s", async (_name, recording) => {
      const reply = replayed(anthropic(version, server.url), recording);
      const refused =
        (version === "v2" && unknownToV2.test(recording.sse)) || recording.name.startsWith("spliced");
      if (refused) {
        await expect(reply).rejects.toMatchObject({ code: "provider-failed" });
        return;
      }
      const { cacheTokens, ...said } = saidByAnthropic(recording);
      // What the package of V2 reads of the cache at the end of a message is its own affair; ai-sdk-back.test.ts has the sum of what it reads.
      const isCompared = version !== "v2" || cacheTokens === 0;
      const inputTokens =
        said.inputTokens === undefined || !isCompared ? undefined : said.inputTokens + cacheTokens;
      expectSame(await reply, { ...said, inputTokens });
    });
  });
});

const failed =
  /error|rate-limited|falsy-argument-conversation-\d|multiple-output-items|parallel-tool-call-wrapper/;
const failures: ReadonlyMap<string, string> = new Map([
  ["openai-error.1.chunks.txt", "model-quota-exceeded"],
  ["stream-rate-limited-1.json", "model-rate-limited"],
]);
/** Calls of tools that OpenAI defines and the program runs: their arguments are the package's own words. */
const ownTools =
  /"type":"(?:custom_tool_call|apply_patch_call|local_shell_call|shell_call|tool_search_call)"/;
const responses = [
  ...recordingsIn(`${packages}/openai/src/responses/__fixtures__`, /\.chunks\.txt$/),
  ...recordingsIn(`${prism}/openai`, /^stream-.*\.json$/),
]
  .flatMap((recording) => answersOf(recording, "response.completed"))
  .map((recording) => [recording.name, recording] as const);

describe.skipIf(responses.length === 0)("recorded responses through @ai-sdk/openai", () => {
  it.each(responses)("%s", async (_name, recording) => {
    const reply = replayed(
      createOpenAI({ baseURL: `${server.url}/v1`, apiKey: "played" }).responses("gpt-5"),
      recording,
    );
    if (failed.test(recording.name))
      await expect(reply).rejects.toMatchObject({ code: failures.get(recording.name) ?? "provider-failed" });
    else
      expectSame(await reply, {
        ...saidByResponses(recording),
        ...(ownTools.test(recording.sse) ? { calls: undefined } : {}),
      });
  });
});

const wholeMessages = recordingsIn(
  `${packages}/anthropic/src/__fixtures__`,
  /^anthropic-(?:text|tool-no-args|clear-thinking\.1|refusal|json-tool\.1)\.json$/,
);
/** A model whose package can only answer in one piece. */
function withoutStream(model: AiSdkModel): AiSdkModel {
  const { specificationVersion, provider, modelId } = model;
  return {
    specificationVersion,
    provider,
    modelId,
    doGenerate: (options) => model.doGenerate?.(options) ?? Promise.reject(new TypeError()),
  };
}

describe.skipIf(wholeMessages.length === 0)("recorded answers that came whole, through doGenerate", () => {
  describe.each(specVersions)("%s", (version) => {
    it.each(wholeMessages.map((recording) => [recording.name, recording] as const))(
      "%s",
      async (_name, recording) => {
        expectSame(
          await replayed(withoutStream(anthropic(version, server.url)), recording),
          saidByWholeMessage(recording),
        );
      },
    );

    it.each(wholeChats.map((recording) => [recording.name, recording] as const))(
      "%s",
      async (_name, recording) => {
        expectSame(
          await replayed(withoutStream(openaiCompatible(version, server.url)), recording),
          saidByWholeChat(recording),
        );
      },
    );
  });
});

const whole = /^google-(?:text|reasoning|reasoning-gemini3|tool-call|tool-call-gemini3)\.chunks\.txt$/;
const geminis = recordingsIn(`${packages}/google/src/__fixtures__`, whole).map(
  (recording) => [recording.name, recording] as const,
);

describe.skipIf(geminis.length === 0)("recorded Gemini through @ai-sdk/google", () => {
  it.each(geminis)("%s", async (_name, recording) => {
    const google = createGoogle({ baseURL: `${server.url}/v1beta`, apiKey: "played" });
    expectSame(await replayed(google("gemini-2.5-flash"), recording), saidByGemini(recording));
  });
});

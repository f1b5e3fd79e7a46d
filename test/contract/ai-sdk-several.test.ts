import { createDeepSeek } from "@ai-sdk/deepseek";
import { createGroq } from "@ai-sdk/groq";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aiSdk, type AiSdkModel } from "../../src/adapters/model/ai-sdk.ts";
import { agent } from "../../src/index.ts";
import { fakeTool } from "../../src/testing.ts";
import { openaiCompatible, specVersions } from "./ai-sdk-wire.ts";
import { playedServer, type PlayedServer, sse } from "./played-server.ts";

let server: PlayedServer;
beforeAll(async () => {
  server = await playedServer();
});
afterAll(() => server.close());

const key = { apiKey: "played" };
const packages: readonly (readonly [string, (baseURL: string) => AiSdkModel])[] = [
  ...specVersions.map((version) => [version, (url: string) => openaiCompatible(version, url)] as const),
  ["OpenAI", (baseURL) => createOpenAI({ ...key, baseURL }).chat("m")],
  ["Groq", (baseURL) => createGroq({ ...key, baseURL })("m")],
  ["Mistral", (baseURL) => createMistral({ ...key, baseURL })("m")],
  ["DeepSeek", (baseURL) => createDeepSeek({ ...key, baseURL })("m")],
  ["OpenRouter", (baseURL) => createOpenRouter({ ...key, baseURL }).chat("m")],
];

const chunk = (...choices: readonly object[]): object => ({
  id: "1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices,
});
const choice = (index: number, delta: object, finish_reason: string | null = null): object => ({
  index,
  delta: { role: "assistant", ...delta },
  finish_reason,
});
const pay = (a: number): object => ({
  tool_calls: [
    { index: 0, id: `call_${a}`, type: "function", function: { name: "pay", arguments: `{"a":${a}}` } },
  ],
});

/** Packages put the pieces of all choices into one reply, and tell nobody which piece was whose. */
describe.each(packages)(
  "a reply with two choices through a package of chat completions (%s)",
  (_name, make) => {
    it.each([
      [
        "texts",
        [
          chunk(choice(0, { content: "he" })),
          chunk(choice(1, { content: "YY" })),
          chunk(choice(0, {}, "stop")),
        ],
      ],
      ["calls", [chunk(choice(0, pay(3))), chunk(choice(1, pay(100))), chunk(choice(0, {}, "tool_calls"))]],
      [
        "calls in one chunk",
        [chunk(choice(1, pay(100)), choice(0, pay(3))), chunk(choice(0, {}, "tool_calls"))],
      ],
    ])("is refused, and nothing of it runs: %s", async (_what, events) => {
      server.play({ sse: sse(events, true) });
      const tool = fakeTool("pay", "paid");
      const before = server.requests.length;
      const asked = agent({ name: "a", model: aiSdk(make(`${server.url}/v1`)), tools: [tool] });
      await expect(asked.run("Pay 3.")).rejects.toMatchObject({
        code: "provider-failed",
        retryable: false,
        message: expect.stringContaining("several choices") as string,
      });
      expect(tool.calls).toEqual([]);
      expect(server.requests).toHaveLength(before + 1);
    });

    it("runs the call of a reply with one", async () => {
      const done = [chunk(choice(0, { content: "Paid." })), chunk(choice(0, {}, "stop"))];
      server.play(
        { sse: sse([chunk(choice(0, pay(3))), chunk(choice(0, {}, "tool_calls"))], true) },
        { sse: sse(done, true) },
      );
      const tool = fakeTool("pay", "paid");
      expect(
        await agent({ name: "a", model: aiSdk(make(`${server.url}/v1`)), tools: [tool] })("Pay 3."),
      ).toBe("Paid.");
      expect(tool.calls).toEqual([{ a: 3 }]);
    });
  },
);

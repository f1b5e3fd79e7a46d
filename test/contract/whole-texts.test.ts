import { createOpenAI } from "@ai-sdk/openai";
import { expect, it } from "vitest";
import { aiSdk } from "../../src/adapters/model/ai-sdk.ts";
import { ollama } from "../../src/adapters/model/ollama.ts";
import { openaiCompatible } from "../../src/adapters/model/openai-compatible.ts";
import { agent, type ModelSource } from "../../src/index.ts";
import {
  type FakeProvider,
  fakeAnthropic,
  fakeOllama,
  fakeOpenai,
  type FakeStep,
  fakeTool,
} from "../../src/testing.ts";
import { anthropic } from "./ai-sdk-wire.ts";

const half = "\uD83D";
const script: readonly FakeStep[] = [
  { text: `Yes${half}`, calls: [{ name: "begin", arguments: { list: [`a${half}`], [`name${half}`]: 1 } }] },
  "Done.",
];

const providers: readonly [
  name: string,
  start: (script: readonly FakeStep[]) => Promise<FakeProvider>,
  model: (url: string) => ModelSource,
][] = [
  ["openaiCompatible", fakeOpenai, (url) => openaiCompatible("m", { baseUrl: `${url}/v1` })],
  ["ollama", fakeOllama, (host) => ollama("m", { host })],
  ["@ai-sdk/anthropic v2", fakeAnthropic, (url) => aiSdk(anthropic("v2", url))],
  ["@ai-sdk/anthropic v4", fakeAnthropic, (url) => aiSdk(anthropic("v4", url))],
  [
    "@ai-sdk/openai",
    fakeOpenai,
    (url) => aiSdk(createOpenAI({ baseURL: `${url}/v1`, apiKey: "k" }).chat("m")),
  ],
];

it.each(providers)("half a character is no text that goes to a provider: %s", async (_name, start, model) => {
  await using provider = await start(script);
  const begin = {
    ...fakeTool("begin", `The page begins: 😀${half}`),
    description: `Begins${half}.`,
    trusted: true,
  };
  const reader = agent({
    name: "a",
    model: model(provider.url),
    tools: [begin],
    instructions: `Read${half}.`,
  });
  expect(await reader(`What is${half} in it?`)).toBe("Done.");
  const sent = JSON.stringify(provider.requests.at(-1)?.body);
  expect(sent).toContain("😀\uFFFD");
  expect(sent).toContain("What is\uFFFD in it?");
  expect(sent).not.toMatch(/\\ud[89ab]/i);
});

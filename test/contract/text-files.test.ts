import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { describe, expect, it } from "vitest";
import { agent, type ApprovalRequest, ask, type ModelSource, policy, tool } from "../../src/index.ts";
import { aiSdk } from "../../src/adapters/model/ai-sdk.ts";
import { ollama } from "../../src/adapters/model/ollama.ts";
import { openaiCompatible } from "../../src/adapters/model/openai-compatible.ts";
import { plainTurns } from "../../src/adapters/model/llama-cpp-prompt.ts";
import { charactersOf } from "../../src/message/message.ts";
import { type UserMessage, userMessage } from "../../src/message/message.ts";
import {
  type FakeProvider,
  fakeAnthropic,
  fakeGemini,
  fakeOllama,
  fakeOpenai,
  scripted,
} from "../../src/testing.ts";
import { file, image } from "../../src/tools.ts";
import { anthropic } from "./ai-sdk-wire.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const bill = file(bytes("Tea: 3 €"), "text/plain");
const question = ["What is the sum?", bill];

/** The last message that a provider was sent for the question. */
async function sent(provider: FakeProvider, model: ModelSource, asked: unknown = question): Promise<unknown> {
  const reader = agent({ name: "reader", model, driver: "native" });
  expect(await reader(asked as never)).toBe("3 €");
  const body = provider.requests.at(-1)?.body as {
    messages?: unknown[];
    contents?: unknown[];
    input?: unknown[];
  };
  return (body.messages ?? body.contents ?? body.input)?.at(-1);
}

describe("a text file in a question, on the wire", () => {
  it("is text to OpenAI-compatible servers, from a data URL and as JSON too", async () => {
    await using provider = await fakeOpenai(["3 €"]);
    const model = openaiCompatible("m", { baseUrl: `${provider.url}/v1` });
    const url = `data:text/csv;base64,${btoa("tea,3")}`;
    const asked = [...question, file(url, "text/csv"), file(bytes("[3]"), "application/json")];
    expect(await sent(provider, model, asked)).toEqual({
      role: "user",
      content: "What is the sum?\nTea: 3 €\n\ntea,3\n\n[3]\n",
    });
  });

  it("is text beside pictures, in its place", async () => {
    await using provider = await fakeOpenai(["3 €"]);
    const model = openaiCompatible("m", { baseUrl: `${provider.url}/v1` });
    expect(await sent(provider, model, [bill, image("iVBORw0KGgo="), "Sum?"])).toMatchObject({
      content: [
        { type: "text", text: "\nTea: 3 €\n" },
        { type: "image_url" },
        { type: "text", text: "Sum?" },
      ],
    });
  });

  it("is text to Ollama", async () => {
    await using provider = await fakeOllama(["3 €"]);
    const message = await sent(provider, ollama("m", { host: provider.url }));
    expect(message).toMatchObject({ role: "user", content: "What is the sum?\nTea: 3 €\n" });
  });

  it("is text to a model in the process", () => {
    const message: UserMessage = { role: "user", parts: [{ type: "text", text: "Sum?" }, bill] };
    expect(plainTurns([message], "m")).toEqual([{ role: "user", text: "Sum?\nTea: 3 €\n" }]);
  });

  it("is text to AI SDK objects of providers that take no such file", async () => {
    await using provider = await fakeOpenai(["3 €"]);
    const openai = createOpenAI({ baseURL: `${provider.url}/v1`, apiKey: "k" });
    expect(await sent(provider, aiSdk(openai.chat("m")))).toMatchObject({
      content: [{ type: "text" }, { type: "text", text: "\nTea: 3 €\n" }],
    });
  });

  it("is text to Anthropic and to Gemini, and a document where it has options for its provider", async () => {
    await using claude = await fakeAnthropic(["3 €", "3 €"]);
    const model = anthropic("v4", claude.url);
    expect(await sent(claude, model)).toMatchObject({
      content: [{}, { type: "text", text: "\nTea: 3 €\n" }],
    });
    const cited = { ...bill, providerMetadata: { anthropic: { citations: { enabled: true } } } };
    expect(await sent(claude, model, ["Sum?", cited])).toMatchObject({
      content: [{}, { type: "document", source: { type: "text", data: "Tea: 3 €" } }],
    });
    await using gemini = await fakeGemini(["3 €"]);
    const google = createGoogle({ baseURL: `${gemini.url}/v1beta`, apiKey: "k" });
    expect(await sent(gemini, aiSdk(google("gemini-3-pro")))).toMatchObject({
      parts: [{ text: "What is the sum?" }, { text: "\nTea: 3 €\n" }],
    });
  });
});

describe("a text file in a question", () => {
  it("is not what the user said", async () => {
    const pay = tool({
      name: "pay",
      description: "Pay",
      effect: "irreversible",
      inputSchema: { type: "object", properties: { to: { type: "string" } } },
      execute: () => "paid",
    });
    const model = scripted([{ calls: [{ name: "pay", arguments: { to: "DE99" } }] }, "Done."]);
    const careful = policy({ name: "careful", rules: [ask("pay")] });
    const payer = agent({ name: "payer", model, tools: [pay], policy: careful });
    const said: boolean[] = [];
    const approve = ({ values }: ApprovalRequest) => {
      said.push(...values.map(({ bound }) => bound));
      return { approved: false as const };
    };
    await payer.run(["Pay the bill.", file(bytes("Account: DE99"), "text/plain")], { approve });
    expect(said).toEqual([false]);
  });

  it("counts by its length in estimates, other files by what providers count", () => {
    const long = "x".repeat(40_000);
    const parts = [file(bytes(long), "text/plain")];
    expect(charactersOf({ role: "user", parts })).toBe(40_000);
    expect(charactersOf({ role: "user", parts: [image("iVBORw0KGgo=")] })).toBe(4_000);
    expect(charactersOf(userMessage("four"))).toBe(4);
  });
});

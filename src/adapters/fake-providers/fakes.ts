import type { FakeOpenaiOptions, FakeOptions, FakeProvider, FakeStep } from "./fake-provider.ts";

/**
 * Starts a fake OpenAI: `/v1/chat/completions` and `/v1/responses`, streamed and whole. Clients take `${url}/v1`, or its `fetch`. It uses one step for each
 * request of any client, and refuses the requests that OpenAI refuses, with OpenAI's own errors. With `host` it is another host of chat completions: Groq,
 * Mistral, …
 *
 * @example
 * ```ts
 * import { openaiCompatible } from "writ/openai-compatible";
 * import { agent } from "writ";
 * import { fakeOpenai } from "writ/testing";
 *
 * await using openai = await fakeOpenai([{ status: 429, retryAfter: 0 }, "Hello."]);
 * const greeter = agent({ name: "greeter", model: openaiCompatible("gpt-5", { baseUrl: `${openai.url}/v1` }) });
 * const answer = await greeter("Hi"); // "Hello."
 * ```
 */
export async function fakeOpenai(
  steps: readonly FakeStep[],
  options?: FakeOpenaiOptions,
): Promise<FakeProvider> {
  const { startFake } = await import("./start.ts");
  return startFake("openai", steps, options);
}

/**
 * Starts a fake Anthropic: `/v1/messages`, streamed and whole. Anthropic's client takes `url`, the AI SDK `${url}/v1`.
 *
 * @example
 * ```ts
 * import { fakeAnthropic } from "writ/testing";
 *
 * await using anthropic = await fakeAnthropic(["Hello."]);
 * const messages = [{ role: "user", content: "Hi" }];
 * const headers = { "anthropic-version": "2023-06-01" };
 * const body = JSON.stringify({ model: "claude-sonnet-4-5", messages });
 * const { status } = await anthropic.fetch("https://api.anthropic.com/v1/messages", { method: "POST", headers, body });
 * const refused = anthropic.requests[0]?.refusal; // status 400: "max_tokens: Field required"
 * ```
 */
export async function fakeAnthropic(
  steps: readonly FakeStep[],
  options?: FakeOptions,
): Promise<FakeProvider> {
  const { startFake } = await import("./start.ts");
  return startFake("anthropic", steps, options);
}

/**
 * Starts a fake Gemini: `generateContent` and `streamGenerateContent`. Google's client takes `url`, the AI SDK `${url}/v1beta`. Models from
 * `gemini-3` on sign their calls, and want the signatures back.
 *
 * @example
 * ```ts
 * import { fakeGemini } from "writ/testing";
 *
 * await using gemini = await fakeGemini(["Hello."]);
 * const body = JSON.stringify({ contents: [{ role: "user", parts: [{ text: "Hi" }] }] });
 * const reply = await fetch(`${gemini.url}/v1beta/models/gemini-3-pro:generateContent`, { method: "POST", body });
 * ```
 */
export async function fakeGemini(steps: readonly FakeStep[], options?: FakeOptions): Promise<FakeProvider> {
  const { startFake } = await import("./start.ts");
  return startFake("gemini", steps, options);
}

/**
 * Starts a fake Ollama: `/api/chat`, streamed and whole. Clients take `url` as their host.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { ollama } from "writ/ollama";
 * import { fakeOllama } from "writ/testing";
 *
 * await using server = await fakeOllama(["Hello."]);
 * const answer = await agent({ name: "greeter", model: ollama("qwen3", { host: server.url }) })("Hi"); // "Hello."
 * ```
 */
export async function fakeOllama(steps: readonly FakeStep[], options?: FakeOptions): Promise<FakeProvider> {
  const { startFake } = await import("./start.ts");
  return startFake("ollama", steps, options);
}

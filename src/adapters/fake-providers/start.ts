import { anthropicProvider } from "./anthropic.ts";
import type { FakeOpenaiOptions, FakeProvider, FakeStep } from "./fake-provider.ts";
import { geminiProvider } from "./gemini.ts";
import { ollamaProvider } from "./ollama.ts";
import { openaiProvider } from "./openai.ts";
import { playProvider } from "./play.ts";
import type { Provider } from "./wire.ts";

type ProviderName = "anthropic" | "gemini" | "ollama" | "openai";

const providers: Readonly<Record<ProviderName, (host: FakeOpenaiOptions["host"]) => Provider>> = {
  anthropic: anthropicProvider,
  gemini: geminiProvider,
  ollama: ollamaProvider,
  openai: openaiProvider,
};

/** Starts the fake of a provider. All that it needs loads with the first one. */
export function startFake(
  name: ProviderName,
  steps: readonly FakeStep[],
  options: FakeOpenaiOptions = {},
): Promise<FakeProvider> {
  return playProvider(providers[name](options.host), steps, options);
}

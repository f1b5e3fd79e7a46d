import { anthropicProvider } from "./anthropic.ts";
import { checkScript } from "./check-script.ts";
import { type ChatHostName, chatHosts } from "./chat-hosts.ts";
import type { FakeOpenaiOptions, FakeProvider, FakeStep } from "./fake-provider.ts";
import { geminiProvider } from "./gemini.ts";
import { ollamaProvider } from "./ollama.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiError } from "./openai-errors.ts";
import { openaiResponses } from "./openai-responses.ts";
import { playProvider } from "./play.ts";
import { numberedIds, type Provider } from "./wire.ts";

type ProviderName = "anthropic" | "gemini" | "ollama" | "openai";

const providers: Readonly<Record<ProviderName, (host: FakeOpenaiOptions["host"]) => Provider>> = {
  anthropic: anthropicProvider,
  gemini: geminiProvider,
  ollama: ollamaProvider,
  openai: openaiProvider,
};

/** Starts the fake of a provider. Its code is loaded with the first one. */
export function startFake(
  name: ProviderName,
  steps: readonly FakeStep[],
  options: FakeOpenaiOptions = {},
): Promise<FakeProvider> {
  checkScript(steps, options, name === "openai" ? Object.keys(chatHosts) : []);
  return playProvider(providers[name](options.host), steps, options);
}

/** OpenAI: chat completions and responses; or a host of chat completions. */
function openaiProvider(name?: ChatHostName): Provider {
  if (name === undefined)
    return {
      wires: [openaiChat(), openaiResponses()],
      callId: numberedIds("call_"),
      error: openaiError,
    };
  const host = chatHosts[name];
  const { callId = numberedIds("call_"), error = openaiError } = host;
  return { wires: [openaiChat(host)], callId, error };
}

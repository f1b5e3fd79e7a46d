import type { ChatHost } from "./chat-host.ts";
import { chatHosts, type ChatHostName } from "./chat-hosts.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiError } from "./openai-errors.ts";
import { openaiResponses } from "./openai-responses.ts";
import { numberedIds, type Provider } from "./wire.ts";

/** OpenAI: chat completions and responses. Or a host of chat completions. */
export function openaiProvider(name?: ChatHostName): Provider {
  if (name === undefined)
    return {
      wires: [openaiChat(), openaiResponses()],
      callId: numberedIds("call_"),
      error: openaiError,
    };
  const host: ChatHost | undefined = chatHosts[name];
  if (host === undefined)
    throw new Error(`there is no host "${name as string}"; hosts: ${Object.keys(chatHosts).join(", ")}`);
  const { callId = numberedIds("call_"), error = openaiError } = host;
  return { wires: [openaiChat(host)], callId, error };
}

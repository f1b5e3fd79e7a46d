import { openaiChat } from "./openai-chat.ts";
import { openaiError } from "./openai-errors.ts";
import { openaiResponses } from "./openai-responses.ts";
import type { Provider } from "./wire.ts";

/** OpenAI: chat completions and responses. */
export function openaiProvider(): Provider {
  return { wires: [openaiChat, openaiResponses()], callId: "call_", error: openaiError };
}

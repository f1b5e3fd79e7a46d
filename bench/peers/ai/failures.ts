/** AI SDK: a ToolLoopAgent over the provider for OpenAI-compatible servers, streamed. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { tool, ToolLoopAgent } from "ai";
import { z } from "zod";
import type { Ask } from "../../failure-worker.ts";

export const ask: Ask = async ({ address, question, defaults, add }) => {
  const number = defaults ? z.number().default(0) : z.number();
  const provider = createOpenAICompatible({
    name: "mock",
    baseURL: address,
    apiKey: "key",
    includeUsage: true,
  });
  const agent = new ToolLoopAgent({
    model: provider("mock"),
    tools: {
      add: tool({
        description: "Adds two numbers",
        inputSchema: z.object({ a: number, b: number }),
        execute: add,
      }),
    },
  });
  const result = await agent.stream({ prompt: question });
  for await (const _text of result.textStream);
  return { text: await result.text, ended: await result.finishReason, usage: await result.totalUsage };
};

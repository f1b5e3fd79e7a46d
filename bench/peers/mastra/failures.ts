/** Mastra: an Agent whose model is the address of an OpenAI-compatible server, streamed. */
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import type { Ask } from "../../failure-worker.ts";

export const ask: Ask = async ({ address, question, defaults, add }) => {
  const number = defaults ? z.number().default(0) : z.number();
  const agent = new Agent({
    id: "adder",
    name: "adder",
    instructions: "Be brief.",
    model: { id: "mock/mock", url: address, apiKey: "key" },
    tools: {
      add: createTool({
        id: "add",
        description: "Adds two numbers",
        inputSchema: z.object({ a: number, b: number }),
        execute: async (args) => add(args),
      }),
    },
  });
  const result = await agent.stream(question);
  for await (const _text of result.textStream);
  const text = await result.text;
  const error = result.error === undefined ? "" : `, \`error\` is set: ${result.error.name}`;
  return { text, ended: `${await result.finishReason}${error}`, usage: await result.totalUsage };
};

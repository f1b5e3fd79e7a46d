/** OpenAI Agents: an Agent over the model class for chat completions, with the client of the openai package, streamed. */
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";
import type { Ask } from "../../failure-worker.ts";

export const ask: Ask = async ({ address, question, defaults, add }) => {
  const number = defaults ? z.number().default(0) : z.number();
  setTracingDisabled(true);
  const client = new OpenAI({ baseURL: address, apiKey: "key" });
  const agent = new Agent({
    name: "adder",
    model: new OpenAIChatCompletionsModel(client, "mock"),
    tools: [
      tool({
        name: "add",
        description: "Adds two numbers",
        parameters: z.object({ a: number, b: number }),
        execute: add,
      }),
    ],
  });
  const result = await run(agent, question, { stream: true });
  for await (const _text of result.toTextStream());
  await result.completed;
  return { text: result.finalOutput, usage: result.state.usage };
};

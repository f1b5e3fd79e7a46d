/** writ, as it is built in dist: an agent over its own adapter, streamed. */
import { agent, tool } from "writ";
import { openaiCompatible } from "writ/openai-compatible";
import { z } from "zod";
import type { Ask } from "../../failure-worker.ts";

export const ask: Ask = async ({ address, question, defaults, add }) => {
  const number = defaults ? z.number().default(0) : z.number();
  const adder = agent({
    name: "adder",
    model: openaiCompatible("mock", { baseUrl: address, apiKey: "key" }),
    tools: [
      tool({
        name: "add",
        description: "Adds two numbers",
        inputSchema: z.object({ a: number, b: number }),
        execute: add,
      }),
    ],
  });
  const events = adder.stream(question);
  let next = await events.next();
  while (next.done !== true) next = await events.next();
  const { outcome, text, usage } = next.value;
  if (outcome.type === "answered") return { text, usage };
  const why = "code" in outcome ? outcome.code : "field" in outcome ? outcome.field : outcome.reason;
  return { text, failed: `${outcome.type} ${why}`, usage };
};

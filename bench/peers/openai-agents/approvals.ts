/** OpenAI Agents: `needsApproval`; the state is kept as text, read, approved and run. */
import { Agent, OpenAIChatCompletionsModel, run, RunState, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";
import type { Asked } from "../../approvals-worker.ts";

export const asked: Asked = async ({ address, pay }) => {
  setTracingDisabled(true);
  const client = new OpenAI({ baseURL: address, apiKey: "key" });
  const agent = new Agent({
    name: "payer",
    model: new OpenAIChatCompletionsModel(client, "mock"),
    tools: [
      tool({
        name: "pay",
        description: "Pays",
        parameters: z.object({ to: z.string(), amount: z.number() }),
        needsApproval: true,
        execute: async (args) => pay(args),
      }),
    ],
  });
  const first = await run(agent, "Pay Ada 10.");
  if (first.interruptions.length === 0) throw new Error("nothing was asked");
  const kept = first.state.toString();
  return async (change = (state) => state) => {
    const state = await RunState.fromString(agent, change(kept));
    for (const interruption of state.getInterruptions()) state.approve(interruption);
    return run(agent, state);
  };
};

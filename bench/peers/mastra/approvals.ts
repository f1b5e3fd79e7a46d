/** Mastra: `requireApproval`; the snapshot is in its storage, and `approveToolCallGenerate` goes on with it. */
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import type { Asked } from "../../approvals-worker.ts";

export const asked: Asked = async ({ address, pay }) => {
  const payer = new Agent({
    id: "payer",
    name: "payer",
    instructions: "Be brief.",
    model: { id: "mock/mock", url: address, apiKey: "key" },
    tools: {
      pay: createTool({
        id: "pay",
        description: "Pays",
        inputSchema: z.object({ to: z.string(), amount: z.number() }),
        requireApproval: true,
        execute: async (args) => pay(args),
      }),
    },
  });
  const mastra = new Mastra({ agents: { payer }, storage: new InMemoryStore(), logger: false });
  const agent = mastra.getAgent("payer");
  const first = await agent.generate("Pay Ada 10.");
  const toolCallId = (first.suspendPayload as { readonly toolCallId?: string } | undefined)?.toolCallId;
  if (first.finishReason !== "suspended" || first.runId === undefined) throw new Error("nothing was asked");
  const { runId } = first;
  return () => agent.approveToolCallGenerate({ runId, ...(toolCallId === undefined ? {} : { toolCallId }) });
};

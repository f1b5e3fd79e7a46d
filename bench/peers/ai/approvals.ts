/** AI SDK: `generateText` with `toolApproval`; the messages with the response are sent again, as a chat page does. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, type ModelMessage, tool } from "ai";
import { z } from "zod";
import type { Asked } from "../../approvals-worker.ts";

export const asked: Asked = async ({ address, pay }) => {
  const model = createOpenAICompatible({ name: "mock", baseURL: address, apiKey: "key" })("mock");
  const tools = {
    pay: tool({
      description: "Pays",
      inputSchema: z.object({ to: z.string(), amount: z.number() }),
      execute: pay,
    }),
  };
  const options = { model, tools, toolApproval: { pay: "user-approval" as const } };
  const messages: ModelMessage[] = [{ role: "user", content: "Pay Ada 10." }];
  const { content, responseMessages } = await generateText({ ...options, messages });
  const approvals = content.flatMap((part) =>
    part.type === "tool-approval-request"
      ? [{ type: "tool-approval-response" as const, approvalId: part.approvalId, approved: true }]
      : [],
  );
  if (approvals.length === 0) throw new Error("nothing was asked");
  const kept = JSON.stringify([...messages, ...responseMessages, { role: "tool", content: approvals }]);
  return (change = (state) => state) =>
    generateText({ ...options, messages: JSON.parse(change(kept)) as ModelMessage[] });
};

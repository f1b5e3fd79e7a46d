/** LangChain: `humanInTheLoopMiddleware` over a checkpointer; `Command({ resume })` goes on with the thread. */
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createAgent, humanInTheLoopMiddleware, tool } from "langchain";
import { z } from "zod";
import type { Asked } from "../../approvals-worker.ts";

class Paying extends BaseChatModel {
  constructor() {
    super({});
  }

  override _llmType(): string {
    return "bench";
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const isPaid = messages.some((message) => message.getType() === "tool");
    const call = { id: "call_1", name: "pay", args: { to: "Ada", amount: 10 }, type: "tool_call" as const };
    const message = new AIMessage(isPaid ? { content: "done" } : { content: "", tool_calls: [call] });
    return { generations: [{ text: message.text, message }] };
  }
}

export const asked: Asked = async ({ pay }) => {
  const agent = createAgent({
    model: new Paying(),
    tools: [
      tool(async (args) => pay(args), {
        name: "pay",
        description: "Pays",
        schema: z.object({ to: z.string(), amount: z.number() }),
      }),
    ],
    middleware: [humanInTheLoopMiddleware({ interruptOn: { pay: true } })],
    checkpointer: new MemorySaver(),
  });
  const thread = { configurable: { thread_id: "1" } };
  const first = await agent.invoke({ messages: [{ role: "user", content: "Pay Ada 10." }] }, thread);
  if (!("__interrupt__" in first)) throw new Error("nothing was asked");
  return () => agent.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), thread);
};

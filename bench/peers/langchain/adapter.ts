/** LangChain: createAgent, which runs on LangGraph, over a chat model class. */
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { AIMessage, AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import { createAgent, tool } from "langchain";
import { z } from "zod";
import { nextPieces, nextWhole, type Piece, type Prepare } from "../../script.ts";

function promptOf(messages: readonly BaseMessage[]): string | undefined {
  return messages.find((message) => message.getType() === "human")?.text;
}

/** The part of a chunk message for a piece; undefined where LangChain has no such part. */
function chunkOf(
  piece: Piece,
  places: Map<string, number>,
): ConstructorParameters<typeof AIMessageChunk>[0] | undefined {
  if (piece.type === "text") return { content: piece.text };
  if (piece.type === "call") places.set(piece.id, places.size);
  const index = places.get(piece.id);
  if (piece.type === "call") {
    return {
      content: "",
      tool_call_chunks: [{ id: piece.id, name: piece.name, args: "", index, type: "tool_call_chunk" }],
    };
  }
  if (piece.type === "arguments")
    return { content: "", tool_call_chunks: [{ args: piece.text, index, type: "tool_call_chunk" }] };
  return undefined;
}

class BenchModel extends BaseChatModel {
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
    const { text = "", calls = [] } = nextWhole(promptOf(messages));
    const toolCalls = calls.map(({ id, name, arguments: args }) => ({
      id,
      name,
      args: JSON.parse(args),
      type: "tool_call" as const,
    }));
    return { generations: [{ text, message: new AIMessage({ content: text, tool_calls: toolCalls }) }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this["ParsedCallOptions"],
    run?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const places = new Map<string, number>();
    for await (const piece of nextPieces(promptOf(messages))) {
      const fields = chunkOf(piece, places);
      if (fields === undefined) continue;
      const text = piece.type === "text" ? piece.text : "";
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk(fields) });
      yield chunk;
      await run?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

export const prepare: Prepare = ({ tools, maxTurns }) => {
  process.env["LANGCHAIN_CALLBACKS_BACKGROUND"] = "false";
  const made = tools.map(({ name, description, zodSchema, execute }) => {
    return tool((args) => execute(args as never), { name, description, schema: zodSchema(z) as z.ZodObject });
  });
  const agent = createAgent({ model: new BenchModel(), tools: made });
  const limits = { recursionLimit: maxTurns * 4 + 10 };
  const input = (prompt: string) => ({ messages: [{ role: "user", content: prompt }] });
  return {
    run: async (prompt) => (await agent.invoke(input(prompt), limits)).messages.at(-1)?.text ?? "",
    stream: async (prompt) => {
      let text = "";
      for await (const [message] of await agent.stream(input(prompt), {
        ...limits,
        streamMode: "messages",
      })) {
        if (message.getType() === "ai") text += message.text;
      }
      return text;
    },
  };
};

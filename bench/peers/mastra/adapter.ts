/** Mastra: Agent over a model object of the AI SDK's specification V2. */
import { Agent, type AgentConfig } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { nextPieces, nextWhole, type Piece, type Prepare, pullStream } from "../../script.ts";

interface PromptMessage {
  readonly role: string;
  readonly content: string | readonly { readonly text?: string }[];
}

function promptOf(prompt: readonly PromptMessage[]): string | undefined {
  const content = prompt.find(({ role }) => role === "user")?.content;
  return typeof content === "string" ? content : content?.[0]?.text;
}

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const finishReason = (calls: number): string => (calls > 0 ? "tool-calls" : "stop");

function partsOf(pieces: Iterable<Piece> | AsyncIterable<Piece>): ReadableStream<object> {
  let calls = 0;
  let begun = false;
  const each = (piece: Piece): object[] => {
    if (piece.type === "call") return [{ type: "tool-input-start", id: piece.id, toolName: piece.name }];
    if (piece.type === "arguments") return [{ type: "tool-input-delta", id: piece.id, delta: piece.text }];
    if (piece.type === "call-end") {
      calls += 1;
      const { id, name, arguments: input } = piece;
      return [
        { type: "tool-input-end", id },
        { type: "tool-call", toolCallId: id, toolName: name, input },
      ];
    }
    const delta = { type: "text-delta", id: "t", delta: piece.text };
    if (begun) return [delta];
    begun = true;
    return [{ type: "text-start", id: "t" }, delta];
  };
  const last = (): object[] => [
    ...(begun ? [{ type: "text-end", id: "t" }] : []),
    { type: "finish", finishReason: finishReason(calls), usage },
  ];
  return pullStream<object>(pieces, { first: [{ type: "stream-start", warnings: [] }], each, last });
}

const model = {
  specificationVersion: "v2",
  provider: "bench",
  modelId: "bench",
  supportedUrls: {},
  async doGenerate({ prompt }: { readonly prompt: readonly PromptMessage[] }) {
    const { text, calls = [] } = nextWhole(promptOf(prompt));
    const content = [
      ...(text === undefined ? [] : [{ type: "text", text }]),
      ...calls.map(({ id, name, arguments: input }) => ({
        type: "tool-call",
        toolCallId: id,
        toolName: name,
        input,
      })),
    ];
    return { content, finishReason: finishReason(calls.length), usage, warnings: [] };
  },
  async doStream({ prompt }: { readonly prompt: readonly PromptMessage[] }) {
    return { stream: partsOf(nextPieces(promptOf(prompt))) };
  },
};

export const prepare: Prepare = ({ tools, maxTurns: maxSteps }) => {
  const made = tools.map(({ name, description, zodSchema, execute }) => {
    return [
      name,
      createTool({
        id: name,
        description,
        inputSchema: zodSchema(z),
        execute: (args) => execute(args as never),
      }),
    ];
  });
  const config = { id: "bench", name: "bench", instructions: "x", model, tools: Object.fromEntries(made) };
  const agent = new Agent(config as unknown as AgentConfig);
  return {
    run: async (prompt) => (await agent.generate(prompt, { maxSteps })).text,
    stream: async (prompt) => {
      const result = await agent.stream(prompt, { maxSteps });
      for await (const _part of result.fullStream);
      return await result.text;
    },
  };
};

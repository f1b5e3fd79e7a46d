/** Vercel AI SDK: generateText and streamText over a LanguageModelV4 object. */
import { generateText, isStepCount, type LanguageModel, Output, streamText, tool } from "ai";
import { z } from "zod";
import { nextPieces, nextWhole, type Piece, type Prepare, pullStream } from "../../script.ts";

type V4 = Extract<LanguageModel, { specificationVersion: "v4" }>;
type Prompt = Parameters<V4["doGenerate"]>[0]["prompt"];
type StreamPart =
  Awaited<ReturnType<V4["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const finish = (calls: number) => ({
  unified: calls > 0 ? ("tool-calls" as const) : ("stop" as const),
  raw: undefined,
});

function promptOf(prompt: Prompt): string | undefined {
  const first = prompt.find(({ role }) => role === "user");
  const part = first?.role === "user" ? first.content[0] : undefined;
  return part?.type === "text" ? part.text : undefined;
}

function partsOf(pieces: Iterable<Piece> | AsyncIterable<Piece>): ReadableStream<StreamPart> {
  let calls = 0;
  let begun = false;
  const each = (piece: Piece): StreamPart[] => {
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
    const delta: StreamPart = { type: "text-delta", id: "t", delta: piece.text };
    if (begun) return [delta];
    begun = true;
    return [{ type: "text-start", id: "t" }, delta];
  };
  const last = (): StreamPart[] => [
    ...(begun ? [{ type: "text-end", id: "t" } as const] : []),
    { type: "finish", finishReason: finish(calls), usage },
  ];
  return pullStream<StreamPart>(pieces, { first: [{ type: "stream-start", warnings: [] }], each, last });
}

const model: V4 = {
  specificationVersion: "v4",
  provider: "bench",
  modelId: "bench",
  supportedUrls: {},
  async doGenerate({ prompt }) {
    const { text, calls = [] } = nextWhole(promptOf(prompt));
    const content = [
      ...(text === undefined ? [] : [{ type: "text" as const, text }]),
      ...calls.map(({ id, name, arguments: input }) => ({
        type: "tool-call" as const,
        toolCallId: id,
        toolName: name,
        input,
      })),
    ];
    return { content, finishReason: finish(calls.length), usage, warnings: [] };
  },
  async doStream({ prompt }) {
    return { stream: partsOf(nextPieces(promptOf(prompt))) };
  },
};

export const prepare: Prepare = ({ tools: given, maxTurns }) => {
  const made = given.map(({ name, description, zodSchema, execute }) => {
    return [
      name,
      tool({ description, inputSchema: zodSchema(z), execute: (args) => execute(args as never) }),
    ];
  });
  const options = {
    model,
    tools: Object.fromEntries(made),
    stopWhen: isStepCount(maxTurns),
    telemetry: { isEnabled: false },
  };
  return {
    run: async (prompt) => (await generateText({ ...options, prompt })).text,
    stream: async (prompt) => {
      const result = streamText({ ...options, prompt, onError: () => undefined });
      for await (const part of result.stream) if (part.type === "error") throw part.error;
      return await result.text;
    },
    object: async (prompt, onPartial) => {
      const [first] = given;
      if (first === undefined) throw new Error("no tool has the shape of the answer");
      const output = Output.object({ schema: first.zodSchema(z) });
      const result = streamText({
        model,
        output,
        prompt,
        onError: () => undefined,
        telemetry: { isEnabled: false },
      });
      for await (const partial of result.partialOutputStream) onPartial(partial);
      return await result.output;
    },
  };
};

/** OpenAI Agents: Agent and Runner over a Model object. */
import {
  Agent,
  type AgentOutputItem,
  type Model,
  type ModelRequest,
  Runner,
  setTracingDisabled,
  tool,
  Usage,
} from "@openai/agents";
import { z } from "zod";
import { nextPieces, nextWhole, type Prepare, type ScriptedCall } from "../../script.ts";

function promptOf({ input }: ModelRequest): string | undefined {
  if (typeof input === "string") return input;
  const first = input[0] as { readonly content?: string | readonly { readonly text?: string }[] };
  return typeof first.content === "string" ? first.content : first.content?.[0]?.text;
}

function callItem({ id, name, arguments: args }: ScriptedCall): AgentOutputItem {
  return { type: "function_call", id: `f${id}`, callId: id, name, arguments: args, status: "completed" };
}

function textItem(text: string): AgentOutputItem {
  return {
    type: "message",
    id: "m",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text }],
  };
}

/** An event of the provider's own, which streamed runs pass on. */
const raw = (event: Record<string, unknown>) => ({ type: "model", event }) as const;

const model: Model = {
  async getResponse(request) {
    const { text, calls = [] } = nextWhole(promptOf(request));
    const output = [...calls.map(callItem), ...(text === undefined ? [] : [textItem(text)])];
    return {
      usage: new Usage({ requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 }),
      output,
      responseId: "r",
    };
  },
  async *getStreamedResponse(request) {
    yield { type: "response_started" };
    const output: AgentOutputItem[] = [];
    let text = "";
    for await (const piece of nextPieces(promptOf(request))) {
      if (piece.type === "text") {
        text += piece.text;
        yield { type: "output_text_delta", delta: piece.text };
      } else if (piece.type === "arguments") {
        yield raw({
          type: "response.function_call_arguments.delta",
          item_id: `f${piece.id}`,
          delta: piece.text,
        });
      } else if (piece.type === "call") {
        const item = {
          type: "function_call",
          id: `f${piece.id}`,
          call_id: piece.id,
          name: piece.name,
          arguments: "",
        };
        yield raw({ type: "response.output_item.added", item });
      } else {
        output.push(callItem(piece));
        const item = {
          type: "function_call",
          id: `f${piece.id}`,
          call_id: piece.id,
          name: piece.name,
          arguments: piece.arguments,
          status: "completed",
        };
        yield raw({ type: "response.output_item.done", item });
      }
    }
    if (text !== "") output.push(textItem(text));
    yield {
      type: "response_done",
      response: { id: "r", usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, output },
    };
  },
};

export const prepare: Prepare = ({ tools, maxTurns }) => {
  setTracingDisabled(true);
  const runner = new Runner({ tracingDisabled: true });
  const made = tools.map(({ name, description, zodSchema, execute }) => {
    return tool({
      name,
      description,
      parameters: zodSchema(z) as z.ZodObject,
      execute: (args) => execute(args as never),
    });
  });
  const agent = new Agent({ name: "bench", instructions: "x", model, tools: made });
  return {
    run: async (prompt) => String((await runner.run(agent, prompt, { maxTurns })).finalOutput),
    stream: async (prompt) => {
      const result = await runner.run(agent, prompt, { maxTurns, stream: true });
      for await (const _event of result);
      await result.completed;
      return String(result.finalOutput);
    },
  };
};

import {
  Agent,
  type AgentResult,
  type JSONValue,
  ModelRouter,
  type Snapshot,
  tool,
} from "@strands-agents/sdk";
import { OpenAIModel } from "@strands-agents/sdk/models/openai";
import { HumanInTheLoop } from "@strands-agents/sdk/vended-interventions/hitl";
import { z } from "zod";
import type { Asked, End, Question, Setup, Start, Tool } from "../../suite/contract.ts";

const toolOf = ({ name, description, zodSchema, isClient, execute }: Tool) =>
  tool({
    name,
    description,
    inputSchema: zodSchema(z),
    callback: async (args, context) => {
      if (isClient) return context?.interrupt<JSONValue>({ name, reason: "for the caller" });
      return execute(args, { signal: context?.agent.cancelSignal }) as Promise<JSONValue>;
    },
  });

function agentOf({ address, fallback, instructions, tools, output, ...setup }: Setup): Agent {
  const modelAt = (baseURL: string) => {
    const clientConfig = { baseURL, timeout: setup.modelTimeoutMs };
    return new OpenAIModel({ api: "chat", modelId: "mock", apiKey: "key", clientConfig });
  };
  const models = fallback === undefined ? undefined : [modelAt(address), modelAt(fallback)];
  const allowedTools = ["*", ...setup.asking.map((name) => `!${name}`)];
  return new Agent({
    model: models === undefined ? modelAt(address) : new ModelRouter(models),
    systemPrompt: instructions,
    tools: tools.map(toolOf),
    printer: false,
    toolExecutor: setup.orderedWrites ? "sequential" : "concurrent",
    interventions: setup.asking.length > 0 ? [new HumanInTheLoop({ allowedTools })] : [],
    structuredOutputSchema: output?.zodSchema(z),
  });
}

export const start: Start = (setup) => {
  let agent = agentOf(setup);
  const options = ({ signal }: Asked = {}) => {
    const limits = { turns: setup.maxTurns, totalTokens: setup.maxTokens };
    return { cancelSignal: signal, limits: JSON.parse(JSON.stringify(limits)) as typeof limits };
  };

  function endOf(result: AgentResult): End {
    const questions = (result.interrupts ?? []).map(({ id, name, reason, source }): Question => {
      const [, asked] = /^Approve "(.*)"/.exec(String(reason)) ?? [];
      return { id, tool: asked ?? name, arguments: reason, isClient: source === "tool" };
    });
    const ended = result.stopReason === "endTurn" ? "stop" : result.stopReason;
    const text = questions.length > 0 ? "" : result.toString();
    const kept = JSON.stringify({ snapshot: agent.takeSnapshot({ preset: "session" }), questions });
    return { text, ended, output: result.structuredOutput, questions, kept, answer };
  }

  const answer: End["answer"] = async (decisions) => {
    const responses = decisions.map(({ id: interruptId, approved, result: response = approved }) => {
      return { interruptResponse: { interruptId, response } };
    });
    return endOf(await agent.invoke(responses, options()));
  };

  return {
    ask: async (message, asked) => endOf(await agent.invoke(message, options(asked))),
    async stream(message, asked) {
      let end: End = { text: "", ended: "left" };
      async function* pieces() {
        for await (const event of agent.stream(message, options(asked))) {
          if (event.type === "agentResultEvent") end = endOf(event.result);
          if (event.type !== "modelStreamUpdateEvent") continue;
          const { event: update } = event;
          if (update.type !== "modelContentBlockDeltaEvent") continue;
          if (update.delta.type === "textDelta") yield update.delta.text;
        }
      }
      return { pieces: pieces(), end: async () => end };
    },
    async restore(kept) {
      const { snapshot, questions } = JSON.parse(kept) as { snapshot: Snapshot; questions: Question[] };
      agent = agentOf(setup);
      await agent.initialize();
      agent.loadSnapshot(snapshot);
      return { text: "", ended: "waiting", questions, answer };
    },
  };
};

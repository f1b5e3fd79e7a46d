import { join } from "node:path";
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { createDurableAgent } from "@mastra/core/agent/durable";
import { createTool } from "@mastra/core/tools";
import { LibSQLStore } from "@mastra/libsql";
import { Memory } from "@mastra/memory";
import { z } from "zod";
import type { Asked, End, Question, Setup, Start, Tool } from "../../suite/contract.ts";

const toolOf = ({ name: id, description, zodSchema, approval, execute }: Tool) => {
  const run = (args: unknown, context: { abortSignal?: AbortSignal }) =>
    execute(args, { signal: context.abortSignal });
  return [
    id,
    createTool({
      id,
      description,
      inputSchema: zodSchema(z),
      requireApproval: approval,
      execute: run,
    }),
  ];
};

type Durable = ReturnType<typeof createDurableAgent>;

function agentOf({ address, fallback, instructions, tools, folder, durable }: Setup) {
  const model = (url: string) => ({ id: "mock/mock", url, apiKey: "key" }) as const;
  const options = (url: string) => ({ model: model(url), maxRetries: 2 });
  const storage = new LibSQLStore({ id: "case", url: `file:${join(folder, "mastra.db")}` });
  const agent = new Agent({
    id: "case",
    name: "case",
    instructions,
    maxRetries: 2,
    model: fallback === undefined ? model(address) : [options(address), options(fallback)],
    tools: Object.fromEntries(tools.map(toolOf)),
    memory: new Memory({ storage }),
  });
  const made = durable ? createDurableAgent({ agent }) : agent;
  const recovery = { durableAgents: "auto" as const };
  const mastra = new Mastra({ agents: { case: made }, storage, logger: false, recovery });
  return { agent: mastra.getAgent("case"), durable: durable ? (made as Durable) : undefined };
}

export const start: Start = (setup) => {
  const { agent, durable } = agentOf(setup);
  const optionsOf = ({ signal, only }: Asked = {}) => ({
    memory: { thread: "talk", resource: "user" },
    maxSteps: setup.maxTurns,
    abortSignal: signal,
    activeTools: only as string[],
    prepareStep: ({ stepNumber }: { stepNumber: number }) =>
      setup.forcedCall && stepNumber === 0 ? { toolChoice: "required" as const } : {},
    toolCallConcurrency: setup.orderedWrites ? 1 : undefined,
    structuredOutput: setup.output && { schema: setup.output.zodSchema(z) },
    modelSettings: setup.modelTimeoutMs ? { timeout: { stepMs: setup.modelTimeoutMs } } : {},
  });
  type Result = Awaited<ReturnType<typeof agent.generate>>;

  function endOf({ text, finishReason, object: output, runId = "", suspendPayload, error }: Result): End {
    if (error !== undefined) throw error;
    const waiting = [suspendPayload].flat().filter((one) => one?.toolCallId !== undefined);
    const questions = waiting.map((one) => ({
      id: one.toolCallId,
      tool: one.toolName,
      arguments: one.args,
    }));
    return { text, ended: finishReason ?? "stop", output, ...waitingFor(runId, questions) };
  }

  const waitingFor = (runId: string, questions: Question[]) => ({
    questions,
    kept: JSON.stringify({ runId, questions: questions.map(({ id, tool }) => ({ id, tool })) }),
    async answer(decisions: readonly { readonly id: string; readonly approved: boolean }[]): Promise<End> {
      let end: End = { text: "", ended: "waiting" };
      for (const { id: toolCallId, approved } of decisions) {
        const answer = { runId, toolCallId, ...optionsOf() };
        end = endOf(
          (await (approved
            ? agent.approveToolCallGenerate(answer)
            : agent.declineToolCallGenerate(answer))) as Result,
        );
      }
      return end;
    },
  });

  return {
    async ask(message, asked) {
      if (durable === undefined) return endOf(await agent.generate(message, optionsOf(asked)));
      const { output } = await durable.stream(message, optionsOf(asked));
      return { text: await output.text, ended: (await output.finishReason) ?? "stop" };
    },
    async stream(message, asked) {
      const result = await agent.stream(message, optionsOf(asked));
      const end = async () => {
        if (result.error) throw result.error;
        return { text: await result.text, ended: (await result.finishReason) ?? "stop" };
      };
      return { pieces: result.textStream as AsyncIterable<string>, end };
    },
    async restore(kept) {
      const { runId, questions } = JSON.parse(kept) as { runId: string; questions: Question[] };
      return { text: "", ended: "waiting", ...waitingFor(runId, questions) };
    },
    async recover() {
      const [one] = (await durable?.recoverActiveRuns())?.recovered ?? [];
      if (one?.status !== "success") throw new Error(one?.error?.message ?? "nothing was recovered");
      return { text: "Done.", ended: "stop" }; // it reports success, and has no text
    },
  };
};

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  isStepCount,
  type ModelMessage,
  Output,
  type StopCondition,
  tool,
  ToolLoopAgent,
  type ToolSet,
} from "ai";
import { z } from "zod";
import type { Asked, End, Question, Setup, Start, Tool } from "../../suite/contract.ts";

const toolOf = ({ name, description, zodSchema, isClient, execute }: Tool) => {
  const plain = { description, inputSchema: zodSchema(z) };
  const run = (args: unknown, { abortSignal: signal }: { abortSignal?: AbortSignal }) =>
    execute(args, { signal });
  return [name, isClient ? tool(plain) : tool({ ...plain, execute: run })];
};

function agentOf(setup: Setup, { only }: Asked = {}) {
  const { address, tools, instructions, maxTurns = 20, maxTokens = Infinity, output } = setup;
  const spent: StopCondition<ToolSet> = ({ steps }) =>
    steps.reduce((sum, { usage }) => sum + (usage.totalTokens ?? 0), 0) >= maxTokens;
  const limits = Object.fromEntries(tools.map(({ name, timeoutMs }) => [`${name}Ms`, timeoutMs]));
  return new ToolLoopAgent({
    model: createOpenAICompatible({ name: "mock", baseURL: address, apiKey: "key", includeUsage: true })(
      "mock",
    ),
    instructions,
    tools: Object.fromEntries(tools.map(toolOf)) as ToolSet,
    toolApproval: Object.fromEntries(setup.asking.map((name) => [name, "user-approval"])),
    experimental_toolApprovalSecret: "0123456789abcdef0123456789abcdef",
    stopWhen: [isStepCount(maxTurns), spent],
    activeTools: only as string[] | undefined,
    toolCallConcurrency: setup.orderedWrites ? 1 : undefined,
    prepareStep: ({ stepNumber }) => (setup.forcedCall && stepNumber === 0 ? { toolChoice: "required" } : {}),
    output: output && (Output.object({ schema: output.zodSchema(z) }) as never),
    timeout: { tools: limits, stepMs: setup.modelTimeoutMs },
  });
}

/** A person's answers, or the results of the caller's own calls, as the message that the chat examples send. */
const answerTo = (
  go: (messages: ModelMessage[]) => Promise<End>,
  messages: ModelMessage[],
  asked: Question[],
) =>
  ((decisions) => {
    const content = decisions.map(({ id, approved, result: value }) => {
      if (value === undefined) return { type: "tool-approval-response", approvalId: id, approved };
      const toolName = asked.find((one) => one.id === id)?.tool;
      return { type: "tool-result", toolCallId: id, toolName, output: { type: "text", value } };
    });
    return go([...messages, { role: "tool", content } as ModelMessage]);
  }) satisfies End["answer"];

export const start: Start = (setup) => {
  let messages: ModelMessage[] = [];

  async function go(given: ModelMessage[], { signal, only }: Asked = {}): Promise<End> {
    messages = given;
    const result = await agentOf(setup, { only }).generate({ messages: given, abortSignal: signal });
    messages = [...given, ...result.responseMessages];
    const questions = result.content.flatMap((part): Question[] => {
      if (part.type !== "tool-approval-request") return [];
      return [{ id: part.approvalId, tool: part.toolCall.toolName, arguments: part.toolCall.input }];
    });
    for (const { toolCallId: id, toolName: name, input } of result.toolCalls)
      if (setup.tools.some((one) => one.isClient && one.name === name))
        questions.push({ id, tool: name, arguments: input, isClient: true });
    const kept = JSON.stringify({ messages, questions });
    const output = setup.output && result.output;
    const answer = answerTo(go, messages, questions);
    return { text: result.text, ended: result.finishReason, output, questions, kept, answer };
  }

  return {
    ask: (message, asked) => go([...messages, { role: "user", content: message }], asked),
    async stream(message, asked) {
      messages = [...messages, { role: "user", content: message }];
      const result = await agentOf(setup, asked).stream({ messages, abortSignal: asked?.signal });
      const end = async () => ({ text: await result.text, ended: await result.finishReason });
      return { pieces: result.textStream, end };
    },
    async restore(kept) {
      const { messages: given, questions } = JSON.parse(kept) as {
        messages: ModelMessage[];
        questions: Question[];
      };
      return { text: "", ended: "waiting", questions, answer: answerTo(go, given, questions) };
    },
  };
};

import {
  Agent,
  MemorySession,
  OpenAIChatCompletionsModel,
  run,
  type RunOptions,
  RunState,
  tool,
} from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";
import type { Asked, End, Setup, Start, Tool } from "../../suite/contract.ts";

type Context = { readonly only?: readonly string[] };
type Case = Agent<Context>;
type Interruption = ReturnType<RunState<Context, Case>["getInterruptions"]>[number];

const toolOf = ({ name, description, zodSchema, approval, timeoutMs, execute }: Tool) =>
  tool({
    name,
    description,
    parameters: zodSchema(z),
    needsApproval: approval,
    timeoutMs,
    errorFunction: (_context, error) => String(error),
    isEnabled: ({ runContext }) => (runContext.context as Context).only?.includes(name) ?? true,
    execute: (args, _context, details) => execute(args, { signal: details?.signal }),
  });

function agentOf({ address, instructions, tools, output, modelTimeoutMs, handoff, ...setup }: Setup): Case {
  const client = new OpenAI({ baseURL: address, apiKey: "key", timeout: modelTimeoutMs });
  const model = new OpenAIChatCompletionsModel(client, "mock");
  const check = async ({ input }: { readonly input: unknown }) => {
    const tripwireTriggered = (await setup.guardrail?.(JSON.stringify(input))) ?? false;
    return { outputInfo: undefined, tripwireTriggered };
  };
  return new Agent({
    name: "case",
    instructions,
    model,
    tools: tools.map(toolOf),
    outputType: output?.zodSchema(z) as never,
    modelSettings: setup.forcedCall ? { toolChoice: "required" } : {},
    handoffs: handoff === undefined ? [] : [new Agent({ ...handoff, model })],
    inputGuardrails: setup.guardrail === undefined ? [] : [{ name: "check", execute: check }],
  });
}

const idOf = ({ rawItem }: Interruption) => (rawItem as { readonly callId: string }).callId;
const questionOf = (one: Interruption) => {
  return { id: idOf(one), tool: one.name ?? "", arguments: JSON.parse(one.arguments ?? "null") as unknown };
};

export const start: Start = (setup) => {
  const agent = agentOf(setup);
  const session = new MemorySession();
  const options = ({ signal, only }: Asked = {}): RunOptions<Context, Case> => ({
    session,
    signal,
    context: { only },
    maxTurns: setup.maxTurns ?? 10,
    toolNotFoundBehavior: "return_error_to_model",
    toolExecution: setup.orderedWrites ? { maxFunctionToolConcurrency: 1 } : {},
  });

  function endOf({
    state,
    finalOutput: output,
  }: {
    state: RunState<Context, Case>;
    finalOutput?: unknown;
  }): End {
    const questions = state.getInterruptions().map((one) => {
      return {
        id: idOf(one),
        tool: one.name ?? "",
        arguments: JSON.parse(one.arguments ?? "null") as unknown,
      };
    });
    const kept = questions.length === 0 ? "" : state.toString();
    const ended = questions.length === 0 ? "stop" : "waiting";
    const text = typeof output === "string" ? output : "";
    return { text, output, ended, questions, kept, answer: answerTo(kept) };
  }

  const answerTo =
    (kept: string): End["answer"] =>
    async (decisions) => {
      const state = await RunState.fromString<Context, Case>(agent, kept);
      for (const one of state.getInterruptions()) {
        const given = decisions.find(({ id }) => id === idOf(one));
        if (given?.approved === true) state.approve(one);
        if (given?.approved === false) state.reject(one);
      }
      return endOf(await run(agent, state, options()));
    };

  return {
    ask: async (message, asked) => endOf(await run(agent, message, options(asked))),
    async stream(message, asked) {
      const result = await run(agent, message, { ...options(asked), stream: true });
      return { pieces: result.toTextStream(), end: async () => (await result.completed, endOf(result)) };
    },
    restore: async (kept) => endOf({ state: await RunState.fromString<Context, Case>(agent, kept) }),
  };
};

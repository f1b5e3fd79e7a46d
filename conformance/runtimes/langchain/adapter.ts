import { Command, MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { type AgentMiddleware, createAgent, createMiddleware, tool } from "langchain";
import { humanInTheLoopMiddleware } from "langchain";
import { modelCallLimitMiddleware, modelFallbackMiddleware, toolCallLimitMiddleware } from "langchain";
import { z } from "zod";
import type { Asked, Decision, End, Question, Setup, Start, Tool } from "../../suite/contract.ts";

const toolOf = ({ name, description, zodSchema, execute }: Tool) => {
  const run = (args: unknown, { signal }: { signal?: AbortSignal }) => execute(args, { signal });
  return tool(run, { name, description, schema: zodSchema(z) });
};

const modelAt = (baseURL: string, timeout?: number) =>
  new ChatOpenAI({ model: "mock", apiKey: "key", configuration: { baseURL }, timeout, maxRetries: 2 });

interface Run {
  only?: readonly string[];
}

function agentOf({ address, fallback, instructions, tools, ...setup }: Setup, run: Run) {
  const decisions = { allowedDecisions: ["approve", "edit", "reject"] as ("approve" | "edit" | "reject")[] };
  const hiding = createMiddleware({
    name: "hiding",
    wrapModelCall: (request, handler) =>
      handler({
        ...request,
        tools: request.tools.filter(({ name }) => run.only?.includes(String(name)) ?? true),
        toolChoice: setup.forcedCall && request.messages.at(-1)?.type === "human" ? "required" : "auto",
      }),
  });
  const middleware: AgentMiddleware[] = [hiding];
  if (setup.asking.length > 0) {
    const interruptOn = Object.fromEntries(setup.asking.map((name) => [name, decisions]));
    middleware.push(humanInTheLoopMiddleware({ interruptOn }));
  }
  if (setup.maxTurns)
    middleware.push(modelCallLimitMiddleware({ runLimit: setup.maxTurns, exitBehavior: "error" }));
  if (setup.maxCalls) middleware.push(toolCallLimitMiddleware({ runLimit: setup.maxCalls }));
  if (fallback !== undefined) middleware.push(modelFallbackMiddleware(modelAt(fallback)));
  return createAgent({
    model: modelAt(address, setup.modelTimeoutMs),
    tools: tools.map(toolOf),
    systemPrompt: instructions,
    responseFormat: setup.output?.zodSchema(z),
    middleware,
    checkpointer: new MemorySaver(),
  });
}

interface Interrupt {
  readonly value: {
    readonly actionRequests: readonly { readonly name: string; readonly args: unknown }[];
  };
}

export const start: Start = (setup) => {
  const run: Run = {};
  const agent = agentOf(setup, run);
  const optionsOf = ({ signal, only }: Asked = {}) => {
    run.only = only;
    return { configurable: { thread_id: "talk" }, signal };
  };
  type Result = Awaited<ReturnType<typeof agent.invoke>>;

  function endOf(result: Result): End {
    const { messages, structuredResponse: output } = result;
    const [interrupt] = (result as { __interrupt__?: Interrupt[] }).__interrupt__ ?? [];
    const questions = (interrupt?.value.actionRequests ?? []).map(({ name, args }, index): Question => {
      return { id: String(index), tool: name, arguments: args };
    });
    const last = messages.at(-1);
    const reason = String(last?.response_metadata["finish_reason"] ?? "stop");
    const ended = questions.length > 0 ? "waiting" : reason;
    return { text: last?.text ?? "", ended, output, questions, answer: answerTo(questions) };
  }

  const answerTo = (questions: Question[]) => async (given: readonly Decision[]) => {
    const decisions = questions.flatMap(({ id, tool: name }) => {
      const one = given.find((decision) => decision.id === id);
      if (one?.arguments !== undefined)
        return [{ type: "edit", editedAction: { name, args: one.arguments } }];
      return one === undefined ? [] : [{ type: one.approved ? "approve" : "reject" }];
    });
    return endOf((await agent.invoke(new Command({ resume: { decisions } }), optionsOf())) as Result);
  };

  return {
    ask: async (message, asked) =>
      endOf(await agent.invoke({ messages: [{ role: "user", content: message }] }, optionsOf(asked))),
    async stream(message, asked) {
      let end: End = { text: "", ended: "left" };
      async function* pieces() {
        const input = { messages: [{ role: "user", content: message }] };
        for await (const [mode, data] of await agent.stream(input, {
          ...optionsOf(asked),
          streamMode: ["messages", "values"],
        })) {
          if (mode === "values") end = endOf(data as Result);
          else if (data[0].type === "ai") yield data[0].text;
        }
      }
      return { pieces: pieces(), end: async () => end };
    },
  };
};

import { compatOaiModelRef, defineCompatOpenAIModel, openAICompatible } from "@genkit-ai/compat-oai";
import { fallback as other, retry, toolApproval } from "@genkit-ai/middleware";
import {
  type AgentResponse,
  FileSessionStore,
  genkit,
  respondTool,
  restartTool,
  type ToolRequestPart,
} from "genkit/beta";
import type { Asked, Decision, End, Setup, Start, Tool } from "../../suite/contract.ts";

/** A model of a server that speaks OpenAI's chat completions. The middleware `retry` makes requests again. */
function plugin(provider: string, baseURL: string, timeout: number | undefined) {
  const name = `${provider}/mock`;
  const modelRef = compatOaiModelRef({ name });
  const options = { name: provider, apiKey: "key", baseURL, timeout, maxRetries: 0 };
  return openAICompatible({
    ...options,
    initializer: async (client) => [defineCompatOpenAIModel({ name, client, modelRef })],
  });
}

function agentOf({ address, fallback, instructions, tools, folder, maxTurns, output, ...setup }: Setup) {
  const plugins = [plugin("first", address, setup.modelTimeoutMs)];
  if (fallback !== undefined) plugins.push(plugin("other", fallback, setup.modelTimeoutMs));
  const ai = genkit({ plugins });
  const toolOf = ({ name, description, jsonSchema: inputJsonSchema, isClient, execute }: Tool) => {
    const config = { name, description, inputJsonSchema };
    if (isClient) return ai.defineInterrupt(config);
    return ai.defineTool(config, (args, { abortSignal: signal }) => execute(args, { signal }));
  };
  const approved = tools.filter(({ approval }) => !approval).map(({ name }) => name);
  return ai.defineAgent({
    name: "case",
    model: "first/mock",
    system: instructions,
    tools: tools.map(toolOf),
    toolChoice: setup.forcedCall ? "required" : undefined,
    maxTurns: maxTurns && maxTurns - 1, // it counts the turns of tools
    output: output && { format: "json", jsonSchema: output.jsonSchema },
    use: [
      ...(approved.length < tools.length ? [toolApproval({ approved })] : []),
      ...(fallback === undefined ? [] : [other({ models: [{ name: "other/mock" }] })]),
      retry({ initialDelayMs: 20 }),
    ],
    store: new FileSessionStore(folder),
  });
}

export const start: Start = (setup) => {
  const agent = agentOf(setup);
  let chat = agent.chat();

  const endOf = ({ sessionId, text, data: output, finishReason: ended, message }: AgentResponse): End => {
    return { text, output, ended, ...waitingAt(sessionId ?? "", message?.content ?? []) };
  };

  function waitingAt(sessionId: string, parts: readonly object[]) {
    const waiting = (parts as ToolRequestPart[]).filter(({ metadata }) => metadata?.["interrupt"]);
    const questions = waiting.map(({ toolRequest: { name, ref = "", input } }) => {
      const isClient = setup.tools.some((tool) => tool.name === name && tool.isClient);
      return { id: ref, tool: name, arguments: input, isClient };
    });
    const answer = async (decisions: readonly Decision[]): Promise<End> => {
      const [restart, respond] = [[], []] as [ToolRequestPart[], ReturnType<typeof respondTool>[]];
      for (const part of waiting) {
        const given = decisions.find(({ id }) => id === part.toolRequest.ref);
        if (given?.approved && given.result === undefined)
          restart.push(restartTool(part, { toolApproved: true }));
        else if (given !== undefined) respond.push(respondTool(part, given.result ?? "The person said no."));
      }
      chat = agent.chat({ sessionId });
      return endOf(await chat.resume({ restart, respond }));
    };
    return { questions, kept: sessionId, answer };
  }

  return {
    ask: async (message, { signal }: Asked = {}) => endOf(await chat.send(message, { abortSignal: signal })),
    async stream(message, { signal }: Asked = {}) {
      const { stream, response } = chat.sendStream(message, { abortSignal: signal });
      async function* pieces() {
        for await (const { text } of stream) yield text;
      }
      return { pieces: pieces(), end: async () => endOf(await response) };
    },
    async restore(sessionId) {
      const { messages } = await agent.loadChat({ sessionId });
      return { text: "", ended: "interrupted", ...waitingAt(sessionId, messages.at(-1)?.content ?? []) };
    },
  };
};

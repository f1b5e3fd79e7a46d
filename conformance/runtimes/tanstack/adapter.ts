import { chat, chatParamsFromRequest, maxIterations, toServerSentEventsResponse } from "@tanstack/ai";
import { toolDefinition } from "@tanstack/ai";
import { ChatClient, fetchServerSentEvents } from "@tanstack/ai-client";
import { openaiCompatibleText } from "@tanstack/ai-openai/compatible";
import { z } from "zod";
import type { Asked, Decision, End, Question, Setup, Start, Tool } from "../../suite/contract.ts";

function toolOf({ name, description, zodSchema, approval: needsApproval, isClient, execute }: Tool) {
  const defined = toolDefinition({ name, description, inputSchema: zodSchema(z), needsApproval });
  return isClient ? defined : defined.server((args, run) => execute(args, { signal: run?.abortSignal }));
}

/** The route of a server, as the documentation has it. */
const routeOf = (setup: Setup) => async (request: Request) => {
  const { address: baseURL, modelTimeoutMs: timeout, maxTurns } = setup;
  const { forwardedProps: props, ...asked } = await chatParamsFromRequest(request);
  const abortController = new AbortController();
  request.signal.onabort = () => abortController.abort();
  const stream = chat({
    ...(asked as object),
    adapter: openaiCompatibleText("mock", { baseURL, apiKey: "key", timeout, api: "chat-completions" }),
    systemPrompts: [setup.instructions],
    tools: setup.tools.filter(({ name }) => (props as Asked).only?.includes(name) ?? true).map(toolOf),
    agentLoopStrategy: maxTurns === undefined ? undefined : maxIterations(maxTurns),
    ...{ outputSchema: setup.output?.zodSchema(z), stream: true, debug: false },
    abortController,
  });
  return toServerSentEventsResponse(stream as never, { abortController });
};

type Interrupt = Extract<ReturnType<ChatClient["getInterrupts"]>[number], { kind: "tool-approval" }>;

const questionOf = ({ id, toolName: tool, originalArgs }: Interrupt): Question => {
  return { id, tool, arguments: originalArgs };
};

const soon = <Value>(value: Value) => new Promise<Value>((go) => void setTimeout(go, 5, value));

export const start: Start = (setup) => {
  const fetchClient: typeof fetch = (url, init) => routeOf(setup)(new Request(url as string, init));
  let page = open();

  /** Opens a page: a client with the stored state of an earlier one. */
  function open(kept: object = {}) {
    const seen = { ended: "stopped", pending: undefined as unknown, pieces: [] as string[] };
    const client = new ChatClient({
      connection: fetchServerSentEvents("http://localhost/api/chat", { fetchClient }),
      tools: setup.tools.map(toolOf) as never,
      ...kept,
      onChunk(chunk) {
        if (chunk.type === "TEXT_MESSAGE_CONTENT") seen.pieces.push(chunk.delta);
        if (chunk.type !== "RUN_FINISHED") return;
        seen.pending = chunk.outcome?.type === "interrupt" ? chunk.outcome.interrupts : undefined;
        seen.ended = seen.pending === undefined ? (chunk.finishReason ?? "stop") : "waiting";
      },
    });
    return { client, seen };
  }

  async function end(): Promise<End> {
    const { client, seen } = page;
    do await soon(0);
    while (client.getIsLoading() || client.getInterruptState().resuming);
    const [failed] = [client.getError(), ...client.getInterruptState().interruptErrors].filter(Boolean);
    if (failed) throw new Error(failed.message);
    const last = client.getMessages().at(-1);
    const parts = (last?.role === "assistant" ? last.parts : []) as Partial<Record<string, string>>[];
    const asked = client.getInterrupts().filter(({ kind }) => kind === "tool-approval") as Interrupt[];
    const questions = asked.map(questionOf);
    for (const { id = "", name: tool = "", arguments: args, output } of parts)
      if (output === undefined && setup.tools.some((one) => one.isClient && one.name === tool))
        questions.push({ id, tool, arguments: args, isClient: true });
    const initialResumeSnapshot = { resumeState: client.getResumeState(), pendingInterrupts: seen.pending };
    const left = { initialMessages: client.getMessages(), initialResumeSnapshot };
    const kept = JSON.stringify({ text: "", questions, page: left });
    const text = parts.map(({ type, content = "" }) => (type === "text" ? content : "")).join("");
    const output = parts.find(({ type }) => type === "structured-output")?.data;
    return { text, ended: seen.ended, output, questions, kept, answer: answerTo(kept) };
  }

  const answerTo = (kept: string) => async (decisions: readonly Decision[]) => {
    page = open((JSON.parse(kept) as { readonly page: object }).page);
    for (const { id, approved, result: output, arguments: editedArgs } of decisions) {
      const asked = (page.client.getInterrupts() as Interrupt[]).find((one) => one.id === id);
      if (output !== undefined) await page.client.addToolResult({ toolCallId: id, tool: "", output });
      else asked?.resolveInterrupt(approved as never, (editedArgs && { editedArgs }) as never);
    }
    return end();
  };

  async function ask(message: string, { signal, only }: Asked = {}): Promise<End> {
    page.seen.ended = "stopped";
    const sent = page.client.sendMessage(message, { only });
    if (signal?.aborted === true) page.client.stop();
    signal?.addEventListener("abort", () => page.client.stop());
    return sent.then(end);
  }

  return {
    ask,
    async stream(message, asked) {
      const sent = ask(message, asked);
      async function* pieces() {
        try {
          do yield* page.seen.pieces.splice(await soon(0));
          while (page.client.getIsLoading() || page.seen.pieces.length > 0);
        } finally {
          page.client.stop();
        }
      }
      return { pieces: pieces(), end: () => sent };
    },
    restore: async (kept) => ({ ...(JSON.parse(kept) as End), ended: "waiting", answer: answerTo(kept) }),
  };
};

import { join } from "node:path";
import { agent, allow, ask, guarded, inMemorySessions, policy, session, tool } from "writ";
import { durableRuns, type DurableRuns } from "writ/durable";
import { openaiCompatible } from "writ/openai-compatible";
import { sqliteRuns, sqliteSessions } from "writ/sqlite";
import { z } from "zod";
import type { Asked, Decision, End, Setup, Start, Tool } from "../../suite/contract.ts";

const toolOf = ({ name, description, effect, timeoutMs, zodSchema, isClient, execute }: Tool) => {
  const run = (args: unknown, context: { signal: AbortSignal; waitFor(name: string): unknown }) =>
    isClient ? context.waitFor("result") : execute(args, context);
  return tool({ name, description, effect, timeoutMs, inputSchema: zodSchema(z), execute: run as never });
};

function agentOf(setup: Setup) {
  const { address, tools, instructions, output, modelTimeoutMs } = setup;
  const asked = tools
    .filter(({ approval }) => approval)
    .map(({ name }) => ask(name).because("a person decides"));
  const bounds = { turns: setup.maxTurns, toolCalls: setup.maxCalls, tokens: setup.maxTokens };
  return agent({
    name: "case",
    instructions,
    model: openaiCompatible("mock", { baseUrl: address, apiKey: "key" }),
    tools: tools.map(toolOf),
    policy: setup.provenance ? guarded() : policy({ name: "case", rules: [...asked, allow("*")] }),
    budget: JSON.parse(JSON.stringify(bounds)) as object,
    output: output?.zodSchema(z),
    toolChoice: setup.forcedCall ? "required" : "auto",
    timeout: modelTimeoutMs === undefined ? undefined : { firstChunkMs: modelTimeoutMs },
  });
}

type QuestionAnswer = Parameters<DurableRuns["answer"]>[2];
type Ended = Pick<Awaited<ReturnType<DurableRuns["result"]>>, "outcome" | "output">;

const endOf = ({ outcome, output }: Ended): End => {
  const text = outcome.type === "answered" ? String(outcome.content) : "";
  return { text, output, ended: outcome.type === "answered" ? outcome.finishReason : outcome.type };
};

/** Waits until a durable run has ended, or waits. */
async function settled(runs: DurableRuns, id: string): Promise<End> {
  while (/ready|running/.test((await runs.show(id))?.status ?? ""))
    await new Promise((go) => setTimeout(go, 10));
  const waiting = await runs.waiting(id);
  if (waiting.length === 0) return endOf(await runs.result(id));
  const questions = waiting.map(({ key, request }) => {
    return {
      id: key,
      tool: request.tool,
      arguments: request.arguments,
      isClient: request.waitsFor !== undefined,
    };
  });
  async function answer(decisions: readonly Decision[]) {
    for (const { id: key, result: value, ...decision } of decisions) {
      const hash = waiting.find((one) => one.key === key)?.request.hash;
      if (value === undefined) await runs.answer(id, key, { ...decision, hash } as QuestionAnswer);
      else await runs.signal(id, { name: "result", value, id: key });
    }
    return settled(runs, id);
  }
  return { text: "", ended: "waiting", kept: id, questions, answer };
}

export const start: Start = (setup) => {
  const [made, file] = [agentOf(setup), join(setup.folder, "runs.db")];
  const talk = session(inMemorySessions(), "talk");
  const options = ({ signal, only }: Asked = {}) => ({ session: talk, signal, tools: only });
  if (setup.durable || setup.asking.length > 0 || setup.tools.some(({ isClient }) => isClient)) {
    const sessions = sqliteSessions(file);
    const runs = durableRuns({
      store: sqliteRuns(file),
      agents: [made],
      sessions: (id) => session(sessions, id),
    });
    runs.work();
    let asked = 0;
    const begin = async (message: string): Promise<End> => {
      const id = `run-${(asked += 1)}`;
      await runs.start(made, message, { id, session: setup.durable ? undefined : "talk" });
      return settled(runs, id);
    };
    return { ask: begin, recover: begin, restore: (id) => settled(runs, id) };
  }
  return {
    ask: async (message, asked) => endOf(await made.run(message, options(asked))),
    async stream(message, asked) {
      let end: End | undefined;
      async function* pieces() {
        const events = made.stream(message, options(asked));
        for await (const event of events) {
          if (event.type === "text-delta") yield event.text;
          if (event.type === "run-end") end = endOf({ outcome: event.outcome, output: undefined });
        }
      }
      return { pieces: pieces(), end: async () => end ?? { text: "", ended: "left" } };
    },
  };
};
